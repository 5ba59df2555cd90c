package dev.partita.cdi;

/**
 * Who a device comes from and what it is: {@code vendor/class}.
 *
 * @param vendor such as {@code gpu.partita.dev}
 * @param deviceClass such as {@code claim}
 */
public record CdiKind(String vendor, String deviceClass) {
  /** Splits {@code vendor/class}; what has no slash is all class, which validation refuses. */
  public static CdiKind parse(String text) {
    int slash = text.indexOf('/');
    return slash < 0 ? new CdiKind("", text) : new CdiKind(text.substring(0, slash), text.substring(slash + 1));
  }

  /** The fully qualified name of one of this kind's devices: {@code vendor/class=name}. */
  public String idOf(String deviceName) {
    return this + "=" + deviceName;
  }

  @Override
  public String toString() {
    return vendor + "/" + deviceClass;
  }
}
