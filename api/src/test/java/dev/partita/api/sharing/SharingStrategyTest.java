package dev.partita.api.sharing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.sharing.SharingStrategy.AdminAccess;
import dev.partita.api.sharing.SharingStrategy.ExclusiveShare;
import dev.partita.api.sharing.SharingStrategy.HookedShare;
import dev.partita.api.sharing.SharingStrategy.InstanceShare;
import dev.partita.api.sharing.SharingStrategy.MigInstance;
import dev.partita.api.sharing.SharingStrategy.ModeField;
import dev.partita.api.sharing.SharingStrategy.Mps;
import dev.partita.api.sharing.SharingStrategy.TimeSlicing;
import dev.partita.api.sharing.SharingStrategy.WholeCard;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class SharingStrategyTest {
  private static final MigSlot SLOT = new MigSlot("1g-18gb", 3);
  private static final DeviceName WHOLE = new DeviceName.Whole(0);
  private static final DeviceName SHARED = new DeviceName.Shared(0);
  private static final DeviceName MIG = new DeviceName.Mig(0, SLOT);
  private static final DeviceName MIG_SHARED = new DeviceName.MigShared(0, SLOT);
  private static final Placement BESIDE_OTHERS = Placement.DEFAULT;
  private static final Placement ALONE = Placement.DEFAULT.alone();

  @Test
  void theDeviceAndItsConfigSayHowACardIsHad() {
    assertThat(SharingStrategy.of(WHOLE, BESIDE_OTHERS, Sharing.LIMITS, false)).isEqualTo(new WholeCard());
    assertThat(SharingStrategy.of(WHOLE, ALONE, Sharing.LIMITS, false)).as("it is, anyway").isEqualTo(new WholeCard());
    assertThat(SharingStrategy.of(SHARED, BESIDE_OTHERS, Sharing.LIMITS, false)).isEqualTo(new HookedShare());
    assertThat(SharingStrategy.of(SHARED, ALONE, Sharing.LIMITS, false)).isEqualTo(new ExclusiveShare());
    assertThat(SharingStrategy.of(MIG, BESIDE_OTHERS, Sharing.LIMITS, false)).isEqualTo(new MigInstance(SLOT));
    assertThat(SharingStrategy.of(MIG_SHARED, BESIDE_OTHERS, Sharing.LIMITS, false))
        .isEqualTo(new InstanceShare(SLOT));
    assertThat(SharingStrategy.of(MIG, ALONE, Sharing.LIMITS, false)).as("it cannot be")
        .isEqualTo(new MigInstance(SLOT));
  }

  @Test
  void whoHasAdminAccessHasNothingElseWhateverTheDevice() {
    for (DeviceName device : List.of(WHOLE, SHARED, MIG, MIG_SHARED)) {
      assertThat(SharingStrategy.of(device, ALONE, Sharing.LIMITS, true)).isEqualTo(new AdminAccess());
    }
  }

  @Test
  void onlySharesCanOversubscribeAndOnlyInstancesCannotKeepOthersOff() {
    assertThat(DeviceMode.values())
        .filteredOn(mode -> SharingStrategy.unfulfilled(mode, 150, BESIDE_OTHERS, Sharing.LIMITS).isEmpty())
        .containsExactly(DeviceMode.SHARED);
    assertThat(DeviceMode.values())
        .filteredOn(mode -> SharingStrategy.unfulfilled(mode, 100, ALONE, Sharing.LIMITS).isEmpty())
        .containsExactly(DeviceMode.WHOLE, DeviceMode.SHARED);
    assertThat(SharingStrategy.unfulfilled(DeviceMode.WHOLE, 150, ALONE, Sharing.LIMITS))
        .contains(ModeField.OVERSUBSCRIBE);
    assertThat(SharingStrategy.unfulfilled(DeviceMode.MIG, 100, ALONE, Sharing.LIMITS)).contains(ModeField.EXCLUSIVE);
    assertThat(SharingStrategy.unfulfilled(DeviceMode.MIG, 100, BESIDE_OTHERS, Sharing.LIMITS)).isEmpty();

  }

  @Test
  void aShareOfAnOpaqueCardIsInTheBooksAlone() {
    DeviceName opaque = new DeviceName.Opaque(100);
    assertThat(SharingStrategy.of(opaque, ALONE, Sharing.MPS, false)).isEqualTo(new SharingStrategy.BookedShare());
    assertThat(SharingStrategy.of(opaque, ALONE, Sharing.MPS, true)).isEqualTo(new AdminAccess());
    assertThat(SharingStrategy.unfulfilledByOpaque(GpuShareConfig.DEFAULT)).isEmpty();
    assertThat(SharingStrategy.unfulfilledByOpaque(150, BESIDE_OTHERS, Sharing.LIMITS))
        .contains(ModeField.OVERSUBSCRIBE);
    assertThat(SharingStrategy.unfulfilledByOpaque(100, ALONE, Sharing.LIMITS)).contains(ModeField.EXCLUSIVE);
    assertThat(SharingStrategy.unfulfilledByOpaque(100, BESIDE_OTHERS, Sharing.MPS)).contains(ModeField.SHARING);
    assertThat(SharingStrategy.unfulfilledByOpaque(new GpuShareConfig(GpuShareConfig.CoreLimit.SOFT, 1,
        OptionalInt.empty(), 100, BESIDE_OTHERS))).contains(ModeField.CORE_LIMIT);
    assertThat(SharingStrategy.unfulfilledByOpaque(new GpuShareConfig(GpuShareConfig.CoreLimit.HARD, 1,
        OptionalInt.empty(), 100, BESIDE_OTHERS, Sharing.LIMITS, OptionalLong.of(1L << 30))))
        .contains(ModeField.MEMORY_LIMIT);
  }

  @Test
  void onlySharesCanTakeTurns() {
    Sharing turns = new Sharing.TimeSlicing(TimeSlice.LONG);
    assertThat(SharingStrategy.of(SHARED, BESIDE_OTHERS, turns, false)).isEqualTo(new TimeSlicing(TimeSlice.LONG));
    assertThat(SharingStrategy.of(SHARED, BESIDE_OTHERS, turns, true)).isEqualTo(new AdminAccess());
    for (DeviceMode mode : List.of(DeviceMode.WHOLE, DeviceMode.MIG, DeviceMode.MIG_SHARED)) {
      assertThat(SharingStrategy.unfulfilled(mode, 100, BESIDE_OTHERS, turns)).contains(ModeField.SHARING);
    }
    assertThat(SharingStrategy.unfulfilled(DeviceMode.SHARED, 100, BESIDE_OTHERS, turns)).isEmpty();
  }

  @Test
  void onlySharesAreByMps() {
    assertThat(SharingStrategy.of(SHARED, BESIDE_OTHERS, Sharing.MPS, false)).isEqualTo(new Mps());
    assertThat(SharingStrategy.of(SHARED, BESIDE_OTHERS, Sharing.MPS, true)).isEqualTo(new AdminAccess());
    for (DeviceMode mode : List.of(DeviceMode.WHOLE, DeviceMode.MIG, DeviceMode.MIG_SHARED)) {
      assertThat(SharingStrategy.unfulfilled(mode, 100, BESIDE_OTHERS, Sharing.MPS)).contains(ModeField.SHARING);
    }
    assertThat(SharingStrategy.unfulfilled(DeviceMode.SHARED, 100, BESIDE_OTHERS, Sharing.MPS)).isEmpty();
  }

  @Test
  void theNumbersOfTimeSlicesAreThoseOfNvidiaSmi() {
    assertThat(TimeSlice.values()).extracting(TimeSlice::number).containsExactly(0, 1, 2, 3);
    assertThat(TimeSlice.values()).extracting(TimeSlice::name).containsExactly("DEFAULT", "SHORT", "MEDIUM", "LONG");
  }

  @Test
  void kubeSchedulerMayServeAllButAPartOfACardThatNobodyElseIsToHaveAndCardsThatAreTakenInTurnOrByMps() {
    List<SharingStrategy> others =
        List.of(new HookedShare(), new WholeCard(), new MigInstance(SLOT), new InstanceShare(SLOT), new AdminAccess());
    assertThat(others).allSatisfy(
        strategy -> assertThat(strategy.fieldUnknownToScheduler(false)).isEmpty());
    assertThat(new TimeSlicing(TimeSlice.DEFAULT).fieldUnknownToScheduler(true)).contains("sharing.strategy");
    assertThat(new Mps().fieldUnknownToScheduler(true)).contains("sharing.strategy");
    assertThat(new ExclusiveShare().fieldUnknownToScheduler(true)).isEmpty();
    assertThat(new ExclusiveShare().fieldUnknownToScheduler(false)).contains("placement.exclusive");
  }
}
