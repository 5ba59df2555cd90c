package dev.partita.plugin.timeslice;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.plugin.grant.CardIdentity;
import java.io.IOException;
import java.util.Collection;
import java.util.Comparator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the time slice of each card as the claims want it that have the card in turn. Claims of one card may ask for
 * different ones. The shortest counts, since whoever asks for a short one does so in order not to wait for the others.
 * With the last claim that asked for one the card goes back to the driver's default. Every call may be repeated.
 *
 * @param control where it is set
 */
public record TimeSlices(TimeSliceControl control) {
  private static final Logger LOG = LoggerFactory.getLogger(TimeSlices.class);

  /** What counts of what claims of one card ask for. */
  static TimeSlice inForce(Collection<TimeSlice> asked) {
    return asked.stream().filter(slice -> slice != TimeSlice.DEFAULT).min(Comparator.comparingInt(TimeSlice::number))
        .orElse(TimeSlice.DEFAULT);
  }

  /**
   * Sets what counts with one claim more. Nothing is asked of the driver where nobody asks for anything.
   *
   * @param asked by that claim and all others of the card
   */
  public void provide(CardIdentity card, Collection<TimeSlice> asked) throws IOException {
    TimeSlice slice = inForce(asked);
    if (slice != TimeSlice.DEFAULT) {
      set(card.uuid(), at(card), slice);
    }
  }

  /**
   * Sets what counts once a claim is gone. A card that is gone has kept nothing.
   *
   * @param card its UUID
   * @param gone what that claim asked for
   * @param left by the other claims of the card
   */
  public void restore(String card, TimeSlice gone, Collection<TimeSlice> left) throws IOException {
    if (gone == TimeSlice.DEFAULT) {
      return;
    }
    String at = "card " + card;
    try {
      set(card, at, inForce(left));
    } catch (TimeSliceControl.CardGoneException e) {
      LOG.warn("{}: cannot restore its time slice, for the card or its driver is gone, and with it what was set: {}",
          at, e.getMessage());
    }
  }

  private void set(String card, String at, TimeSlice slice) throws IOException {
    try {
      control.set(card, slice);
    } catch (TimeSliceControl.CardGoneException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException("the time slice of " + at + " cannot be set to " + slice + ": " + e.getMessage(), e);
    }
    LOG.info("{}: time slice set to {}", at, slice);
  }

  private static String at(CardIdentity card) {
    return "card " + card.uuid() + " (gpu-" + card.index() + ")";
  }
}
