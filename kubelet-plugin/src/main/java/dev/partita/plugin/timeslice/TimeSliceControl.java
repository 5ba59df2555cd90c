package dev.partita.plugin.timeslice;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import java.io.IOException;

/** Changes how long programs have a card in turn. */
public interface TimeSliceControl {
  /**
   * Sets it, whatever it was.
   *
   * @param card the card's UUID
   * @throws CardGoneException if there is no such card now, or no driver: neither keeps a setting
   * @throws IOException if it cannot be set: why, and what to do
   */
  void set(String card, TimeSlice slice) throws IOException;

  /** The card or its driver is gone. */
  final class CardGoneException extends IOException {
    private static final long serialVersionUID = 1;

    CardGoneException(String message) {
      super(message);
    }
  }
}
