package dev.partita.plugin.usage;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class OverheadBookTest {
  private static final long MIB = 1L << 20;
  private static final OverheadBook.Key PROCESS = new OverheadBook.Key(7, 100, "GPU-1");

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
      assertThat(book.take(PROCESS, "H200", readings[i] * MIB, 0, true)).isEmpty();
    }
    assertThat(book.take(PROCESS, "H200", readings[4] * MIB, 0, true)).hasValue(310 * MIB);
    assertThat(take(305, 0)).as("a quiet reading is better").hasValue(305 * MIB);
  }

  @Test
  void learnsWhatAProcessTakesAtLeastOnAModelAndNothingImplausible() {
    lasting(PROCESS, 420);
    lasting(new OverheadBook.Key(8, 1, "GPU-1"), 300);
    lasting(new OverheadBook.Key(9, 1, "GPU-1"), 0);
    assertThat(book.expected("H200")).isEqualTo(300 * MIB);
    assertThat(book.expected("T4")).isZero();
    OverheadBook fresh = new OverheadBook();
    for (int i = 0; i < OverheadBook.WINDOW; i++) {
      fresh.take(PROCESS, "H200", 20_000 * MIB, 0, false);
    }
    assertThat(fresh.expected("H200")).isZero();
  }

  @Test
  void aPidThatIsUsedAgainIsAnotherProcess() {
    take(400, 100);
    assertThat(book.take(new OverheadBook.Key(7, 200, "GPU-1"), "H200", 10 * MIB, 0, false)).hasValue(10 * MIB);
    book.retain(List.of());
    assertThat(take(250, 0)).hasValue(250 * MIB);
  }

  private void lasting(OverheadBook.Key process, long mib) {
    for (int i = 0; i < OverheadBook.WINDOW; i++) {
      book.take(process, "H200", mib * MIB, 0, false);
    }
  }

  private OptionalLong take(long nvmlMib, long ledgerMib) {
    return book.take(PROCESS, "H200", nvmlMib * MIB, ledgerMib * MIB, false);
  }
}
