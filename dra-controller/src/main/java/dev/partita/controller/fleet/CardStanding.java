package dev.partita.controller.fleet;

/** Whether something can be allocated of a card now, and if not why; the words are what is shown. */
public enum CardStanding {
  Available,
  /** New claims are kept off it ({@code spec.cordoned} of the GpuNode). */
  Cordoned,
  /** It is not offered to anybody ({@code spec.withhold} of the GpuNode). */
  Withheld,
  /**
   * Another device plugin of its node hands it out as well, or claims have it by another DRA driver ({@code servedBy}
   * and {@code otherDrivers} of the GpuNode's status).
   */
  ServedElsewhere,
  /** Its node says that it cannot be used. */
  Unhealthy,
  /** Its node is not ready. */
  NodeNotReady
}
