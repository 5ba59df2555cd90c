package dev.partita.controller.explain;

/** What is to be explained: a pod, or the pods that use a claim. */
public record Question(Kind kind, String namespace, String name) {
  /** What can be asked about. */
  public enum Kind {
    POD("pod"),
    CLAIM("claim");

    private final String word;

    Kind(String word) {
      this.word = word;
    }

    /** As it stands in a path and on the command line. */
    public String word() {
      return word;
    }
  }

  @Override
  public String toString() {
    return kind.word() + " " + namespace + "/" + name;
  }
}
