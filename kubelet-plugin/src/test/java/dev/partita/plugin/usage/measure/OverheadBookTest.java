package dev.partita.plugin.usage.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class OverheadBookTest {
  private static final long MIB = 1L << 20;
  private static final OverheadBook.Key PROCESS = new OverheadBook.Key(new ProcessIdentity(7, 100), "GPU-1");

  private final OverheadBook book = new OverheadBook();

  @Test
  void theFirstReadingCountsAtOnceAndALargerOneToo() {
    assertThat(take(400, 100)).hasValue(300 * MIB);
    assertThat(take(450, 100)).hasValue(350 * MIB);
  }

  @Test
  void aSmallerReadingCountsOnlyWhenItLasts() {
    take(400, 100);
    for (int i = 1; i < OverheadBook.WINDOW; i++) {
      assertThat(take(400, 200)).as("an allocation that is charged and not made yet").hasValue(300 * MIB);
    }
    assertThat(take(400, 200)).hasValue(200 * MIB);
  }

  @Test
  void isNeverNegative() {
    assertThat(take(100, 4000)).hasValue(0);
  }

  @Test
  void aProcessThatAllocatesAllTheTimeIsTakenAtItsSmallest() {
    long[] readings = {900, 320, 700, 310, 500};
    for (int i = 0; i < readings.length - 1; i++) {
      assertThat(book.take(PROCESS, "H200", reading(readings[i], 0, 0, true))).isEmpty();
    }
    assertThat(book.take(PROCESS, "H200", reading(readings[4], 0, 0, true))).hasValue(310 * MIB);
    assertThat(take(305, 0)).as("a quiet reading is better").hasValue(305 * MIB);
  }

  @Test
  void learnsWhatAProcessTakesAtLeastOnAModelAndNothingUnusual() {
    lasting(PROCESS, 420);
    lasting(new OverheadBook.Key(new ProcessIdentity(8, 1), "GPU-1"), 300);
    lasting(new OverheadBook.Key(new ProcessIdentity(9, 1), "GPU-1"), 0);
    assertThat(book.expected("H200")).isEqualTo(300 * MIB);
    assertThat(book.expected("T4")).isZero();
    OverheadBook fresh = new OverheadBook();
    for (int i = 0; i < OverheadBook.WINDOW; i++) {
      fresh.take(PROCESS, "H200", reading(2_000, 0, 0, false));
    }
    assertThat(fresh.expected("H200")).isZero();
  }

  @Test
  void aPidThatIsUsedAgainIsAnotherProcess() {
    take(400, 100);
    assertThat(book.take(new OverheadBook.Key(new ProcessIdentity(7, 200), "GPU-1"), "H200", reading(10, 0, 0, false)))
        .hasValue(10 * MIB);
    book.retain(List.of());
    assertThat(take(250, 0)).hasValue(250 * MIB);
  }

  @Test
  void withManagedMemoryTheEstimateIsKeptBetweenWhatTheFiguresAllow() {
    take(400, 100);
    for (int i = 0; i < 2 * OverheadBook.WINDOW; i++) {
      assertThat(take(1300, 2000, 1000)).as("it is elsewhere").hasValue(300 * MIB);
      assertThat(take(2300, 2000, 1000)).as("it is on the card").hasValue(300 * MIB);
    }
    assertThat(take(2350, 2000, 1000)).as("no less than NVML shows beyond all of the ledger").hasValue(350 * MIB);
    for (int i = 1; i < OverheadBook.WINDOW; i++) {
      assertThat(take(1200, 2000, 1000)).hasValue(350 * MIB);
    }
    assertThat(take(1200, 2000, 1000)).as("no more than NVML shows beyond the rest of the ledger").hasValue(200 * MIB);
  }

  @Test
  void withManagedMemoryAReadingInWhichTheAccountChangedSaysNothing() {
    take(400, 100);
    assertThat(book.take(PROCESS, "H200", reading(3000, 1000, 10, true))).hasValue(300 * MIB);
    for (int i = 0; i < 2 * OverheadBook.WINDOW; i++) {
      assertThat(book.take(PROCESS, "H200", reading(1000, 1000, 10, true))).hasValue(300 * MIB);
    }
  }

  @Test
  void whatWasKnownBeforeManagedMemoryStaysUntilASmallerOneLastsWithoutIt() {
    take(400, 100);
    take(1300, 2000, 1000);
    for (int i = 1; i < OverheadBook.WINDOW; i++) {
      assertThat(take(250, 0)).hasValue(300 * MIB);
    }
    assertThat(take(250, 0)).hasValue(250 * MIB);
    assertThat(book.expected("H200")).isEqualTo(250 * MIB);
  }

  @Test
  void aProcessThatHasManagedMemoryFromTheStartTakesWhatItsSlotWasToldOrWhatIsUsual() {
    lasting(new OverheadBook.Key(new ProcessIdentity(8, 1), "GPU-1"), 300);
    assertThat(take(1300, 2000, 1000)).hasValue(300 * MIB);
    OverheadBook.Key known = new OverheadBook.Key(new ProcessIdentity(9, 1), "GPU-1");
    assertThat(book.take(known, "H200",
        new OverheadBook.Reading(1500 * MIB, 2000 * MIB, 1000 * MIB, 450 * MIB, false, OverheadBook.Contexts.NONE)))
        .hasValue(450 * MIB);
    OverheadBook.Key forged = new OverheadBook.Key(new ProcessIdentity(10, 1), "GPU-1");
    assertThat(book.take(forged, "H200",
        new OverheadBook.Reading(1500 * MIB, 2000 * MIB, 1000 * MIB, 1L << 40, false, OverheadBook.Contexts.NONE)))
        .hasValue(OverheadBook.PLAUSIBLE);
  }

  private void lasting(OverheadBook.Key process, long mib) {
    for (int i = 0; i < OverheadBook.WINDOW; i++) {
      book.take(process, "H200", reading(mib, 0, 0, false));
    }
  }

  private OptionalLong take(long nvmlMib, long ledgerMib) {
    return book.take(PROCESS, "H200", reading(nvmlMib, ledgerMib, 0, false));
  }

  private OptionalLong take(long nvmlMib, long ledgerMib, long pagedMib) {
    return book.take(PROCESS, "H200", reading(nvmlMib, ledgerMib, pagedMib, false));
  }

  @Test
  void whatWasMeasuredBeforeTheLastContextWasMadeDoesNotCountAfter() {
    OverheadBook book = new OverheadBook();
    for (int i = 0; i < OverheadBook.WINDOW; i++) {
      assertThat(book.take(PROCESS, "H200", contexts(300, 528, false))).hasValue(300 * MIB);
    }
    assertThat(book.take(PROCESS, "H200", contexts(300, 300, false))).as("given back").hasValue(300 * MIB);
    assertThat(book.take(PROCESS, "H200", contexts(450, 600, true))).as("is being made").isEmpty();
    assertThat(book.take(PROCESS, "H200", contexts(600, 600, false))).hasValue(600 * MIB);
    assertThat(book.take(PROCESS, "H200", contexts(880, 900, false))).as("nobody saw it being made")
        .hasValue(880 * MIB);
  }

  private static OverheadBook.Reading contexts(long nvmlMib, long chargedMib, boolean begun) {
    return new OverheadBook.Reading(nvmlMib * MIB, 0, 0, 0, false, new OverheadBook.Contexts(chargedMib * MIB, begun));
  }

  private static OverheadBook.Reading reading(long nvmlMib, long ledgerMib, long pagedMib, boolean changed) {
    return new OverheadBook.Reading(nvmlMib * MIB, ledgerMib * MIB, pagedMib * MIB, 0, changed,
        OverheadBook.Contexts.NONE);
  }
}
