package dev.partita.controller.turns;

import dev.partita.controller.gang.GangKey;
import dev.partita.controller.watch.ObjectKey;

/** What the scheduler decides about in one go: a pod, or all pods of a gang. */
public sealed interface Turn {
  String namespace();

  /** A pod by itself. */
  record OfPod(ObjectKey key) implements Turn {
    @Override
    public String namespace() {
      return key.namespace();
    }

    /** As logs name it. */
    @Override
    public String toString() {
      return "pod " + key;
    }
  }

  /** All pods of a gang. */
  record OfGang(GangKey key) implements Turn {
    @Override
    public String namespace() {
      return key.namespace();
    }

    /** As logs name it. */
    @Override
    public String toString() {
      return "gang " + key;
    }
  }
}
