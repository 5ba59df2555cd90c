package dev.partita.plugin.usage.region;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;

/**
 * A container writes its usage region: whatever the bytes are, what is read of them is within what a region can say.
 */
class UsageRegionFuzzTest {
  private static final int SLOTS = 4;

  @FuzzTest(maxDuration = "10s")
  void anyBytesGiveFiguresThatARegionCanHave(FuzzedDataProvider data) {
    byte[] bytes = data.consumeRemainingAsBytes();
    UsageRegion.Header header = UsageRegion.header(Arrays.copyOf(bytes, UsageRegion.HEADER_BYTES));
    assertThat(header.slots()).isBetween(0, UsageRegion.SLOTS);
    byte[] slots = Arrays.copyOf(Arrays.copyOfRange(bytes, 0, bytes.length), SLOTS * UsageRegion.SLOT_BYTES);
    assertThat(UsageRegion.slots(slots, header.paged()))
        .hasSizeLessThanOrEqualTo(SLOTS)
        .allSatisfy(
            slot -> {
              assertThat(slot.heldBytes()).isBetween(0L, UsageRegion.UNIT << 32);
              assertThat(slot.pagedBytes()).isBetween(0L, slot.heldBytes());
              assertThat(slot.overheadBytes()).isBetween(0L, UsageRegion.UNIT << 32);
            });
  }
}
