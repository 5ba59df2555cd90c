package dev.partita.cli.output;

/**
 * A column of a {@link Sheet}.
 *
 * @param key its name in JSON, in YAML and for sorting
 * @param heading what stands above it
 * @param wideOnly whether only wide tables show it
 */
public record Column(String key, String heading, boolean wideOnly) {
  /** A column that every table shows. */
  public static Column of(String key, String heading) {
    return new Column(key, heading, false);
  }

  /** A column that wide tables show. */
  public static Column wide(String key, String heading) {
    return new Column(key, heading, true);
  }
}
