package dev.partita.controller.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.partita.api.DeviceMode;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.replay.PaperNode;
import dev.partita.controller.stream.StreamMeasure.TimeMean;
import dev.partita.controller.stream.StreamReport.Use;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StreamMeasureTest {
  private static final long GIB = 1L << 30;

  @Test
  void aMeanCountsHowLongAnAmountLasted() {
    TimeMean mean = new TimeMean(10, 5);
    mean.advance(1);
    mean.set(4);
    mean.advance(3);
    mean.set(0);
    mean.advance(12);
    assertThat(mean.use()).isEqualTo(new Use(0.8, 4));
    assertThat(List.of(mean.of(0), mean.of(1), mean.of(2), mean.of(4))).containsExactly(2.0, 2.0, 0.0, 0.0);
    assertThat(mean.middle(1)).isEqualTo(3);
  }

  @Test
  void partsWhoseBoundsAreNoExactNumbersAddUp() {
    TimeMean mean = new TimeMean(0.7, 240);
    mean.set(1);
    for (int i = 1; i <= 1000; i++) {
      mean.advance(i * 0.0007);
    }
    mean.advance(1);
    assertThat(mean.use().mean()).isCloseTo(1, within(1e-9));
    assertThat(mean.of(239)).isCloseTo(1, within(1e-9));
  }

  @Test
  void whereNoTimePassesTheAmountItselfIsTheMean() {
    TimeMean mean = new TimeMean(0, 4);
    mean.set(3);
    mean.advance(1);
    assertThat(mean.use()).isEqualTo(new Use(3, 3));
    assertThat(mean.of(2)).isEqualTo(3);
  }

  /** Cards of 80 GiB, and 30 GiB and 40 % as the largest share. */
  @Test
  void freeMemoryThatTheLargestShareCannotUseIsFragmented() {
    Inventory inventory =
        Inventory.EMPTY.refreshed(
            List.of(PaperNode.of("n", "a", 4, 80 * GIB, 4), PaperNode.of("other", "b", 4, 80 * GIB, 4)));
    StreamMeasure measure =
        new StreamMeasure(inventory, Optional.of(new LargestShare(30 * GIB, 40, List.of("a"))), 1);
    Books books = new Books();
    book(measure, books, "n", 0, DeviceMode.SHARED, 60, 10); // 20 GiB are too little
    book(measure, books, "n", 1, DeviceMode.SHARED, 10, 70); // 70 GiB, and 30 % are too little
    book(measure, books, "n", 2, DeviceMode.SHARED, 50, 60); // just enough
    book(measure, books, "n", 3, DeviceMode.WHOLE, 0, 0);
    book(measure, books, "other", 0, DeviceMode.SHARED, 79, 0); // of another model
    measure.advance(1);
    measure.lastArrived();
    StreamReport report = measure.report(StreamPolicy.AUTO, 0, 0);
    assertThat(report.fragmentation().mean()).isCloseTo(90 / 320.0, within(1e-9));
    assertThat(report.allocated().memory().mean()).isCloseTo((60 + 10 + 50 + 80 + 79) / 640.0, within(1e-9));
    assertThat(report.allocated().cores().mean()).isCloseTo((10 + 70 + 60 + 100) / 800.0, within(1e-9));
    assertThat(report.allocated().cards().mean()).isCloseTo(5 / 8.0, within(1e-9));
  }

  private static void book(
      StreamMeasure measure,
      Books books,
      String node,
      int card,
      DeviceMode mode,
      long gib,
      int cores) {
    List<Booking> booking = List.of(new Booking(new CardKey(node, card), mode, gib * GIB, cores));
    books.put(node + card, booking);
    measure.changed(booking, books);
  }
}
