package dev.partita.controller.turns;

import dev.partita.controller.watch.ObjectKey;

/** The pods that are decided about at once. */
public sealed interface Turn {
  ObjectKey key();

  /** A pod by itself. */
  record OfPod(ObjectKey key) implements Turn {
    /** As logs name it. */
    @Override
    public String toString() {
      return "pod " + key;
    }
  }

  /** All pods of a gang. */
  record OfGang(ObjectKey key) implements Turn {
    /** As logs name it. */
    @Override
    public String toString() {
      return "gang " + key;
    }
  }
}
