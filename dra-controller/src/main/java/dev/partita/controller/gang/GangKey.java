package dev.partita.controller.gang;

/** Names a gang. */
public sealed interface GangKey {
  String namespace();

  /** What its pods call it. */
  String name();

  /** As what its pods are told names it. */
  String title();

  /** The pods of a namespace whose annotations name it. */
  record Annotated(String namespace, String name) implements GangKey {
    @Override
    public String title() {
      return "gang " + name;
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
