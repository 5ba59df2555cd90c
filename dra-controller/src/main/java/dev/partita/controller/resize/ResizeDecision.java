package dev.partita.controller.resize;

import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ResizeAnswer;
import dev.partita.controller.booking.Booking;
import java.util.List;

/** What becomes of a size that a claim's owner asks for. */
public sealed interface ResizeDecision {
  /**
   * The answer for people, without what was asked for: see {@link ResizeAnswer#words}.
   */
  String words();

  /**
   * The shares have it, or are to get it.
   *
   * @param sizes of all shares of the claim that have another size than they were allocated
   * @param bookings what the claim takes until that is seen to be so
   */
  record Granted(GrantedSizes sizes, List<Booking> bookings) implements ResizeDecision {
    public Granted {
      bookings = List.copyOf(bookings);
    }

    @Override
    public String words() {
      return ResizeAnswer.GRANTED;
    }
  }

  /**
   * There is not enough now; once something is given back it is looked at again.
   *
   * @param why for people
   */
  record Waits(String why) implements ResizeDecision {
    @Override
    public String words() {
      return ResizeAnswer.WAITS + why;
    }
  }

  /**
   * It can never be had as it is written.
   *
   * @param why for people
   */
  record Refused(String why) implements ResizeDecision {
    @Override
    public String words() {
      return ResizeAnswer.REFUSED + why;
    }
  }
}
