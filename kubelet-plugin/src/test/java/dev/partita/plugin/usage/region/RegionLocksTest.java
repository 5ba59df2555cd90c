package dev.partita.plugin.usage.region;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RegionLocksTest {
  private final AtomicLong nanos = new AtomicLong();
  private final AtomicLong questions = new AtomicLong();

  @Test
  void everyHolderOfASlotIsFoundHoweverManyThereAre() {
    RegionLocks.Holders found =
        RegionLocks.holders(kernel(10_000, 1), nanos::get, UsageRegion.SLOTS, RegionLocks.MOST_NANOS);
    assertThat(found.complete()).isTrue();
    assertThat(found.bySlot()).hasSize(UsageRegion.SLOTS).containsEntry(4095, 4195L);
  }

  @Test
  void aSearchThatLocksWithoutNumberMakeSlowEndsAndSaysSo() {
    RegionLocks.Holders found =
        RegionLocks.holders(kernel(1_000_000, 2), nanos::get, UsageRegion.SLOTS, RegionLocks.MOST_NANOS);
    assertThat(found.complete()).isFalse();
    assertThat(nanos.get()).isLessThanOrEqualTo(RegionLocks.MOST_NANOS + 1_000_000);
    assertThat(questions.get()).isPositive();
    assertThat(found.bySlot()).as("what was found by then is true all the same").containsEntry(0, 100L)
        .hasSizeLessThan(101);
  }

  @Test
  void aSearchThatHasLessTimeEndsEarlier() {
    RegionLocks.Holders found =
        RegionLocks.holders(kernel(1_000_000, 2), nanos::get, UsageRegion.SLOTS, RegionLocks.MOST_NANOS_AGAIN);
    assertThat(found.complete()).isFalse();
    assertThat(nanos.get()).isLessThanOrEqualTo(RegionLocks.MOST_NANOS_AGAIN + 1_000_000);
  }

  @Test
  void aLockBetweenSlotsIsNobodysSlot() {
    RegionLocks.Holders found =
        RegionLocks.holders(
            (start, length) -> start <= 4096 + 1 && start + length > 4096 + 1
                ? OptionalLong.of(7)
                : OptionalLong.empty(),
            nanos::get, 16, RegionLocks.MOST_NANOS);
    assertThat(found).isEqualTo(new RegionLocks.Holders(Map.of(), true));
  }

  /** One for whom each question takes so long, and in whose file each so many-th slot is locked. */
  private RegionLocks.Kernel kernel(long nanosEach, int step) {
    return (start, length) -> {
      nanos.addAndGet(nanosEach);
      questions.incrementAndGet();
      int first = (int) ((start - UsageRegion.HEADER_BYTES) / UsageRegion.SLOT_BYTES);
      int last = (int) ((start + length - 1 - UsageRegion.HEADER_BYTES) / UsageRegion.SLOT_BYTES);
      return IntStream.rangeClosed(first, last).filter(slot -> slot % step == 0).mapToLong(slot -> 100L + slot)
          .findFirst();
    };
  }
}
