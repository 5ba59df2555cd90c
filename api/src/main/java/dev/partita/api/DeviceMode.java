package dev.partita.api;

/** How a card is handed out; the value of the attribute {@code mode}. */
public enum DeviceMode {
  /** One claim has the whole card; nothing is intercepted. */
  WHOLE("whole"),
  /** Claims take shares of its memory and cores, which the hook library holds them to. */
  SHARED("shared"),
  /** Claims have MIG instances of it, which the card itself holds to their part; nothing is intercepted. */
  MIG("mig");

  private final String attributeValue;

  DeviceMode(String attributeValue) {
    this.attributeValue = attributeValue;
  }

  public String attributeValue() {
    return attributeValue;
  }
}
