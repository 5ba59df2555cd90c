package dev.partita.api;

/** How a card is handed out; the value of the attribute {@code mode}. */
public enum DeviceMode {
  /** One claim has the whole card; nothing is intercepted. */
  WHOLE("whole"),
  /** Claims take shares of its memory and cores, which the hook library holds them to; or nobody, of an opaque card. */
  SHARED("shared"),
  /** Claims have MIG instances of it, which the card itself holds to their part; nothing is intercepted. */
  MIG("mig"),
  /**
   * Claims take shares of the memory of its MIG instances, which somebody else has made; the hook library holds them to
   * these.
   */
  MIG_SHARED("mig-shared");

  /** The attribute {@code mode} of an opaque card's device: it is shared, but not as cards of the driver are. */
  public static final String OF_OPAQUE = "opaque";

  private final String attributeValue;

  DeviceMode(String attributeValue) {
    this.attributeValue = attributeValue;
  }

  public String attributeValue() {
    return attributeValue;
  }

  /** Whether a card is offered as one device for each of its MIG instances, and not as a single one. */
  public boolean isOfInstances() {
    return switch (this) {
      case MIG, MIG_SHARED -> true;
      case WHOLE, SHARED -> false;
    };
  }

  /** Whether several claims have parts of one device. */
  public boolean isShared() {
    return switch (this) {
      case SHARED, MIG_SHARED -> true;
      case WHOLE, MIG -> false;
    };
  }
}
