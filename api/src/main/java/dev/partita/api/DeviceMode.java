package dev.partita.api;

/** How a card is handed out; the value of the attribute {@code mode}. */
public enum DeviceMode {
  /** One claim has the whole card; nothing is intercepted. */
  WHOLE("whole"),
  /** Claims take shares of its memory and cores, which the hook library holds them to; or nobody, of an opaque card. */
  SHARED("shared"),
  /** Claims have MIG instances of it, which the card itself holds to their part; nothing is intercepted. */
  MIG("mig");

  /** The attribute {@code mode} of an opaque card's device: it is shared, but not as cards of the driver are. */
  public static final String OF_OPAQUE = "opaque";

  private final String attributeValue;

  DeviceMode(String attributeValue) {
    this.attributeValue = attributeValue;
  }

  public String attributeValue() {
    return attributeValue;
  }
}
