package dev.partita.api.config;

/**
 * One thing that is wrong with a document.
 *
 * @param path where, as {@code placement.gpus}; empty for the document as a whole
 * @param problem what is wrong and what would be right, as a clause without the path
 */
public record FieldError(String path, String problem) {
  /** The same, of a document that stands at that path of another one. */
  public FieldError below(String place) {
    return new FieldError(path.isEmpty() ? place : place + "." + path, problem);
  }

  @Override
  public String toString() {
    return path.isEmpty() ? problem : path + ": " + problem;
  }
}
