package dev.partita.plugin.step;

/**
 * A file or folder below the driver root that containers with a card need besides what every driver has.
 *
 * @param path below the driver root, and the path in the container: absolute
 * @param writable whether containers may write it
 */
public record ExtraDriverMount(String path, boolean writable) {
  public ExtraDriverMount {
    if (!path.startsWith("/") || path.contains("/../") || path.endsWith("/..")) {
      throw new IllegalArgumentException("an extra driver mount is an absolute path without ..: \"" + path + "\"");
    }
  }

  /** Reads {@code path}, {@code path:ro} or {@code path:rw}. */
  public static ExtraDriverMount parse(String text) {
    int colon = text.lastIndexOf(':');
    String mode = colon < 0 ? "ro" : text.substring(colon + 1);
    if (!mode.equals("ro") && !mode.equals("rw")) {
      throw new IllegalArgumentException("an extra driver mount is path, path:ro or path:rw, not \"" + text + "\"");
    }
    return new ExtraDriverMount(colon < 0 ? text : text.substring(0, colon), mode.equals("rw"));
  }
}
