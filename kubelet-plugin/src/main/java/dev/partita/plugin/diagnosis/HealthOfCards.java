package dev.partita.plugin.diagnosis;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.XidEvent;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Says how well each card is: by its XID errors that are not over, or else by what NVML tells of it; a card that
 * becomes unhealthy again and again stays so for a while. Not safe for several threads.
 */
public final class HealthOfCards {
  private final LongSupplier nanos;
  private final CardDiagnosis diagnosis = new CardDiagnosis();
  private final OpenXids xids = new OpenXids();
  private final FlapDamping damping;

  /** Keeps nothing for the next plugin. */
  public HealthOfCards() {
    this(FlapDamping.History.NONE, System::nanoTime);
  }

  /**
   * Keeps in a file what the next plugin is to know.
   *
   * @param flaps keeps which cards became unhealthy, and why
   */
  public HealthOfCards(FlapFile flaps) {
    this(flaps, System::nanoTime);
  }

  private HealthOfCards(FlapDamping.History flaps, LongSupplier nanos) {
    this.nanos = nanos;
    this.damping = new FlapDamping(flaps, nanos.getAsLong());
    damping.seenLast().forEach(
        (card, health) -> XidEvent.ofReason(card, String.valueOf(health.reason())).ifPresent(xids::remember));
  }

  /**
   * Makes a card unhealthy until the error is over.
   *
   * @param gone whether the card does not answer: the event may come after that was seen
   * @return whether it was not already, for the same error
   */
  public boolean blame(XidEvent event, boolean gone) {
    return xids.add(event, gone, nanos.getAsLong());
  }

  /** No card answers: the driver is not there. */
  public void allGone() {
    xids.allGone();
  }

  /**
   * Of a card that answers.
   *
   * @param offersInstances whether claims can have MIG instances of it: where they cannot, a card whose MIG mode is on
   *        is of no use
   */
  public GpuHealth ofPresent(CardReading.Card card, boolean offersInstances) {
    long now = nanos.getAsLong();
    Optional<GpuHealth> signs = diagnosis.of(card.uuid(), card.signs(), now);
    GpuHealth health =
        xids.ofPresent(card.uuid(), card.signs().recovery(), now)
            .map(xid -> CardDiagnosis.ofXid(xid, card.signs().recovery()))
            .orElseGet(
                () -> card.mig().on() && !offersInstances
                    ? CardDiagnosis.MIG_MODE_IS_ON
                    : signs.orElse(GpuHealth.HEALTHY));
    return damping.update(card.uuid(), health, now);
  }

  /**
   * Of a card that does not answer.
   *
   * @param index of its devices
   * @param faults of the cards that do not answer
   */
  public GpuHealth ofAbsent(String card, int index, List<CardReading.Fault> faults) {
    GpuHealth missing = CardDiagnosis.ofAbsent(index, faults);
    GpuHealth health =
        xids.ofAbsent(card)
            .map(
                xid -> GpuHealth.unhealthy(
                    xid.reason(), "the driver reported " + xid.reason() + "; " + missing.message()))
            .orElse(missing);
    return damping.update(card, health, nanos.getAsLong());
  }

  /** Keeps for the next plugin what has changed since the last time, if anything has. */
  public void keep() {
    damping.keep(nanos.getAsLong());
  }
}
