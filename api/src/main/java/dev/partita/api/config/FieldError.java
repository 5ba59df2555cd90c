package dev.partita.api.config;

/**
 * One thing that is wrong with a document.
 *
 * @param path where, as {@code placement.gpus}; empty for the document as a whole
 * @param problem what is wrong and what would be right, as a clause without the path
 */
public record FieldError(String path, String problem) {
  @Override
  public String toString() {
    return path.isEmpty() ? problem : path + ": " + problem;
  }
}
