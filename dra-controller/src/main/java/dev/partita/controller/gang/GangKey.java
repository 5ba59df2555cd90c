package dev.partita.controller.gang;

import dev.partita.api.Excerpt;

/** Names a gang. */
public sealed interface GangKey {
  /** Characters, as many as a Kubernetes label has at most. */
  int SHOWN = 63;

  String namespace();

  /** What its pods call it. */
  String name();

  /** As what its pods are told names it. */
  String title();

  /** What pods say of their gang, as they are told it: an annotation can be far longer. */
  static String shown(String text) {
    return Excerpt.of(text, SHOWN);
  }

  /** The pods of a namespace whose annotations name it. */
  record Annotated(String namespace, String name) implements GangKey {
    @Override
    public String title() {
      return "gang " + shown(name);
    }

    @Override
    public String toString() {
      return namespace + "/" + name;
    }
  }

  /** The pods of a namespace that name the PodGroup as their scheduling group. */
  record OfPodGroup(String namespace, String name) implements GangKey {
    @Override
    public String title() {
      return "gang of PodGroup " + name;
    }

    /** Differs from that of every {@link Annotated}: no namespace has a blank. */
    @Override
    public String toString() {
      return "PodGroup " + namespace + "/" + name;
    }
  }
}
