package dev.partita.plugin.usage.region;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.share.UsageRegions;
import dev.partita.plugin.usage.verdict.CoreState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UsageRegionTest {
  private static final long MAGIC = 0x3141544954524150L;

  private final UsageRegions regions = new UsageRegions();

  @AfterEach
  void close() {
    regions.close();
  }

  @Test
  void aSlotSaysWhatItsOwnerUsesWithoutTheCreditThatItHolds() {
    byte[] page = new byte[UsageRegion.HEADER_BYTES];
    ByteBuffer.wrap(page).order(ByteOrder.nativeOrder()).putLong(0, MAGIC).putInt(128, 2).putLong(136, 5)
        .putLong(216, 3);
    long account = 3L << 54 | 16_384L << 32 | 70;
    byte[] slots = new byte[2 * UsageRegion.SLOT_BYTES];
    ByteBuffer.wrap(slots)
        .order(ByteOrder.nativeOrder())
        .putLong(0, 9 << 2 | 1)
        .putLong(48, 4)
        .putInt(64, 2 | 3 << 8)
        .putLong(72, 11)
        .putLong(96, account)
        .putLong(128, 2 << 2 | 1);

    UsageRegion.Header read = UsageRegion.header(page);
    assertThat(read).isEqualTo(new UsageRegion.Header(true, 2, 5, 0, 3, new UsageRegion.Step(0, 0)));
    assertThat(UsageRegion.slots(slots, read.paged()))
        .containsExactly(
            new UsageRegion.Slot(0, 9, 70 * 512, 0, account, 4 * 512, 2 | 3 << 8, 11, 0, false),
            new UsageRegion.Slot(1, 2, 0, 0, 0, 0, 0, 0, 0, false));
  }

  @Test
  void whatContextsAreChargedIsNotWhatWasAllocated() {
    byte[] slots = new byte[2 * UsageRegion.SLOT_BYTES];
    ByteBuffer.wrap(slots).order(ByteOrder.nativeOrder())
        .putLong(0, 1).putInt(44, 30).putLong(96, 70)
        .putLong(128, 1).putInt(128 + 44, 1 << 31 | 71).putLong(128 + 96, 70);
    assertThat(UsageRegion.slots(slots, UsageRegion.Step.NONE)).as("never more than is used").containsExactly(
        new UsageRegion.Slot(0, 0, 40 * 512, 0, 70, 0, 0, 0, 30 * 512, false),
        new UsageRegion.Slot(1, 0, 0, 0, 70, 0, 0, 0, 70 * 512, true));
  }

  @Test
  void managedMemoryIsWhatTheNewestStepSaysOfItsSlotAndTheOthersSayThemselves() {
    byte[] page = new byte[UsageRegion.HEADER_BYTES];
    ByteBuffer.wrap(page).order(ByteOrder.nativeOrder()).putLong(3840, 30L << 32 | 75).putLong(3848, 12L << 16 | 1);
    byte[] slots = new byte[3 * UsageRegion.SLOT_BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(slots).order(ByteOrder.nativeOrder());
    for (int i = 0; i < 3; i++) {
      bytes.putLong(i * 128, 1).putLong(i * 128 + 80, 20 + i).putLong(i * 128 + 96, 40);
    }
    bytes.putLong(2 * 128 + 80, 41);
    assertThat(UsageRegion.slots(slots, UsageRegion.header(page).paged()))
        .extracting(UsageRegion.Slot::pagedBytes)
        .as("never more than is held")
        .containsExactly(20 * 512L, 30 * 512L, 40 * 512L);
  }

  @Test
  void aRegionSaysWhenLaunchesWerePending(@TempDir Path folder) throws IOException {
    long stretch = 7L * LaunchTimes.STRETCHES + 5;
    ByteBuffer region = ByteBuffer.allocate(528_384).order(ByteOrder.nativeOrder());
    region.putLong(0, MAGIC).putInt(128, 3).putLong(160, 9).putLong(168, 4).putLong(200, 11).putInt(512 + 5 * 4,
        7 << 18 | 1234);
    region.putLong(4096, 1).putLong(4096 + 72, 5).putLong(4096 + 128, 4).putLong(4096 + 128 + 72, 100)
        .putLong(4096 + 256, 1).putLong(4096 + 256 + 72, 8);
    Path file = Files.write(folder.resolve("usage"), region.array());
    LaunchTimes times = region(file).launchTimes(0, 2).orElseThrow();
    assertThat(times.busyNanos()).isEqualTo(11);
    assertThat(times.processNanos()).as("of those that live").isEqualTo(13);
    assertThat(times.begins()).isEqualTo(new LaunchTimes.Begins(9, 4));
    assertThat(times.usedIn(stretch)).isEqualTo(1234);
    assertThat(times.usedIn(stretch + LaunchTimes.STRETCHES)).as("of another round").isZero();
    assertThat(times.usedIn(stretch + 1)).isZero();
    assertThat(region(file).launchTimes(0, 1).orElseThrow().processNanos()).isZero();
    assertThat(region(file).launchTimes(11, 2)).as("nothing is new").isEmpty();
    Files.write(file, new byte[]{1, 2, 3});
    assertThat(region(file).launchTimes(11, 2).orElseThrow().busyNanos()).isZero();
    assertThat(region(folder.resolve("missing")).launchTimes(11, 2)).isEmpty();
  }

  @Test
  void slotsWithoutAnOwnerAreLeftOut() {
    byte[] slots = new byte[3 * UsageRegion.SLOT_BYTES];
    ByteBuffer.wrap(slots).order(ByteOrder.nativeOrder()).putLong(0, 4).putLong(128, 6).putLong(256, 7).putLong(16, 99);
    assertThat(UsageRegion.slots(slots, UsageRegion.Step.NONE)).isEmpty();
  }

  @Test
  void whateverTheBytesAreTheReadingEndsAndTheFiguresAreInBounds() {
    Random random = new Random(4711);
    byte[] header = new byte[UsageRegion.HEADER_BYTES];
    byte[] slots = new byte[64 * UsageRegion.SLOT_BYTES];
    for (int round = 0; round < 2000; round++) {
      random.nextBytes(header);
      random.nextBytes(slots);
      UsageRegion.Header read = UsageRegion.header(header);
      assertThat(read.slots()).isBetween(0, UsageRegion.SLOTS);
      List<UsageRegion.Slot> owned = UsageRegion.slots(slots, read.paged());
      assertThat(owned).allSatisfy(slot -> {
        assertThat(slot.heldBytes()).isBetween(0L, 0xffff_ffffL * UsageRegion.UNIT);
        assertThat(slot.pagedBytes()).isBetween(0L, slot.heldBytes());
        assertThat(slot.overheadBytes()).isBetween(0L, 0xffff_ffffL * UsageRegion.UNIT);
      });
      assertThat(CoreState.of(owned)).isNotNull();
    }
  }

  @Test
  void aFileThatIsNotARegionIsNone(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("usage");
    assertThat(region(file).read(RegionLocks.MOST_NANOS)).isEqualTo(Ledger.NONE);
    Files.write(file, new byte[]{1, 2, 3});
    assertThat(region(file).read(RegionLocks.MOST_NANOS)).isEqualTo(Ledger.NONE);
    Files.write(file, new byte[528_384]);
    assertThat(region(file).read(RegionLocks.MOST_NANOS)).as("nobody has used it").isEqualTo(Ledger.NONE);
    assertThat(region(folder).read(RegionLocks.MOST_NANOS)).isEqualTo(Ledger.NONE);
  }

  @Test
  void whatAContainerAddsBehindTheRegionIsCutOff(@TempDir Path folder) throws IOException {
    ByteBuffer region = ByteBuffer.allocate(528_384 + 1_000_000).order(ByteOrder.nativeOrder());
    region.putLong(0, MAGIC).putLong(136, 7).putLong(216, 8);
    Path file = Files.write(folder.resolve("usage"), region.array());
    assertThat(region(file).read(RegionLocks.MOST_NANOS)).as("it counts as ever")
        .isEqualTo(new Ledger(true, true, true, List.of(), 0, 7, 0, 8));
    await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> assertThat(file).hasSize(528_384));
    assertThat(region(file).read(RegionLocks.MOST_NANOS).grown()).isFalse();
  }

  @Test
  void aSlotThatNobodyLocksIsNobodysWhateverTheRegionSays(@TempDir Path folder) throws IOException {
    ByteBuffer region = ByteBuffer.allocate(528_384).order(ByteOrder.nativeOrder());
    region.putLong(0, MAGIC).putInt(128, -1).putLong(4096, 1).putLong(4096 + 16, 1 << 20).putInt(4096 + 40, 1);
    Path file = Files.write(folder.resolve("usage"), region.array());
    assertThat(region(file).read(RegionLocks.MOST_NANOS))
        .isEqualTo(new Ledger(true, true, false, List.of(), 0, 0, 0, 0));
  }

  @Test
  void overheadIsWrittenOnlyIntoASlotThatStillHasItsOwner(@TempDir Path folder) throws Exception {
    ByteBuffer region = ByteBuffer.allocate(528_384).order(ByteOrder.nativeOrder());
    region.putLong(0, MAGIC).putInt(128, 1).putLong(4096, 8 << 2 | 1);
    Path file = Files.write(folder.resolve("usage"), region.array());
    write(file, SlotWrite.overhead(new UsageRegion.Slot(0, 8, 0, 0, 0, 0, 0, 0, 0, false), 5 * 512 + 3));
    assertThat(overhead(file)).isEqualTo(5);
    write(file, SlotWrite.overhead(new UsageRegion.Slot(0, 7, 0, 0, 0, 0, 0, 0, 0, false), 9 * 512));
    assertThat(overhead(file)).isEqualTo(5);
    Files.write(file, new byte[100]);
    write(file, SlotWrite.overhead(new UsageRegion.Slot(0, 8, 0, 0, 0, 0, 0, 0, 0, false), 512));
    assertThat(file).hasSize(100);
  }

  @ParameterizedTest
  @CsvSource({"21, more is charged", "-2147483628, one is being made"})
  void overheadIsNotWrittenOnceThereAreContextsThatWereNotMeasured(int contexts, String how, @TempDir Path folder)
      throws Exception {
    ByteBuffer region = ByteBuffer.allocate(528_384).order(ByteOrder.nativeOrder());
    region.putLong(0, MAGIC).putInt(128, 1).putLong(4096, 8 << 2 | 1).putInt(4096 + 44, 20).putLong(4096 + 96, 70);
    UsageRegion.Slot measured = UsageRegion
        .slots(Arrays.copyOfRange(region.array(), 4096, 4096 + 128), UsageRegion.Step.NONE).getFirst();
    Path file = Files.write(folder.resolve("usage"), region.array());
    write(file, SlotWrite.overhead(measured, 5 * 512));
    assertThat(overhead(file)).as("as long as they are the same").isEqualTo(5);
    region.putInt(4096 + 44, contexts);
    Files.write(file, region.array());
    write(file, SlotWrite.overhead(measured, 5 * 512));
    assertThat(overhead(file)).as(how).isZero();
    write(file, SlotWrite.sample(measured, new ProcessSample(1, 17, 20, 10, 0, 0)));
    assertThat(number(file, 4096 + 104)).as("a sample has nothing to do with contexts").isEqualTo(17);
  }

  @Test
  void aSampleStandsBehindItsTimeInTheSlotAndIsPercent(@TempDir Path folder) throws Exception {
    ByteBuffer region = ByteBuffer.allocate(528_384).order(ByteOrder.nativeOrder());
    region.putLong(0, MAGIC).putInt(128, 2).putLong(4096 + 128, 8 << 2 | 1);
    Path file = Files.write(folder.resolve("usage"), region.array());
    write(file, SlotWrite.sample(new UsageRegion.Slot(1, 8, 0, 0, 0, 0, 0, 0, 0, false),
        new ProcessSample(1, 1_700_000_000_000_000L, 20, 10, 101, -3)));
    ByteBuffer written = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder());
    assertThat(written.getLong(4096 + 128 + 104)).isEqualTo(1_700_000_000_000_000L);
    assertThat(written.getLong(4096 + 128 + 112)).isEqualTo(20 | 10 << 8 | 100 << 16);
    assertThat(written.getLong(4096 + 128 + 120)).isZero();
  }

  /** In the first slot, in units. */
  private static long overhead(Path file) throws IOException {
    return number(file, 4096 + 48);
  }

  private static long number(Path file, int at) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.nativeOrder()).getLong(at);
  }

  private RegionFile region(Path file) {
    return new RegionFile(regions, file);
  }

  private void write(Path file, SlotWrite write) throws Exception {
    region(file).write(List.of(write)).get(20, TimeUnit.SECONDS);
  }
}
