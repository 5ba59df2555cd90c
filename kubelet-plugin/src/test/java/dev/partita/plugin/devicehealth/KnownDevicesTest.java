package dev.partita.plugin.devicehealth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.diagnosis.CardReason;
import dev.partita.plugin.diagnosis.CardState;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeReason;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class KnownDevicesTest {
  private static final DriverFiles DRIVER =
      new DriverFiles("580", "/usr/lib64", List.of(), List.of(), List.of(), List.of(), new TreeMap<>());

  @Test
  void everyDeviceOfACardHasTheHealthOfTheCard() {
    MigProfile profile =
        new MigProfile("1g.18gb", 1, 1, 1, 2, List.of(new MigProfile.Placement(0, 1), new MigProfile.Placement(1, 1)));
    Gpu sick = gpu(0).withHealth(GpuHealth.unhealthy("XID 79", "it fell off the bus"));
    MigProfile odd = new MigProfile("+", 1, 1, 1, 2, List.of(new MigProfile.Placement(-1, 1)));
    Gpu well = gpu(1).withMigProfiles(List.of(profile, odd));
    assertThat(new KnownDevices().update(cards(sick, well)))
        .extracting(DeviceState::device, DeviceState::state, DeviceState::message)
        .containsExactly(
            tuple("gpu-0", CardState.UNHEALTHY, "it fell off the bus"),
            tuple("gpu-0-shared", CardState.UNHEALTHY, "it fell off the bus"),
            tuple("gpu-1", CardState.HEALTHY, ""),
            tuple("gpu-1-shared", CardState.HEALTHY, ""),
            tuple("gpu-1-mig-1g-18gb-0", CardState.HEALTHY, ""),
            tuple("gpu-1-mig-1g-18gb-1", CardState.HEALTHY, ""));
  }

  @Test
  void aStaticInstanceThatIsGoneIsUnhealthyByItself() {
    MigProfile profile =
        new MigProfile("1g.18gb", 1, 1, 1, 2, List.of(new MigProfile.Placement(0, 1), new MigProfile.Placement(1, 1)));
    Gpu cut = gpu(0).withMigProfiles(List.of(profile)).withStaticMigInstances(
        List.of(new StaticMigInstance("MIG-1", "1g.18gb", new MigProfile.Placement(0, 1)),
            new StaticMigInstance("", "1g.18gb", new MigProfile.Placement(1, 1),
                GpuHealth.unhealthy(CardReason.MigInstanceIsGone.name(), "somebody has ended it"))));
    assertThat(new KnownDevices().update(cards(cut))).filteredOn(device -> device.state() != CardState.HEALTHY)
        .extracting(DeviceState::device, DeviceState::state, DeviceState::message)
        .containsExactly(tuple("gpu-0-mig-1g-18gb-1", CardState.UNHEALTHY, "somebody has ended it"),
            tuple("gpu-0-mig-1g-18gb-1-shared", CardState.UNHEALTHY, "somebody has ended it"));
  }

  @Test
  void theHealthOfACardIsUnknownWhileNvmlDoesNotAnswer() {
    Gpu silent = gpu(0).withHealth(GpuHealth.unhealthy(CardReason.NvmlDoesNotAnswer.name(), "no answer"));
    assertThat(new KnownDevices().update(cards(silent))).extracting(DeviceState::state)
        .containsOnly(CardState.UNKNOWN);
  }

  @Test
  void devicesStayAsUnhealthyWhenTheDriverIsGoneAndComeBackWithIt() {
    KnownDevices known = new KnownDevices();
    Inventory gone = new Inventory.NoCards(NodeReason.NoDriver, "no libcuda");
    assertThat(known.update(gone)).isEmpty();
    known.update(cards(gpu(0)));
    assertThat(known.update(gone)).extracting(DeviceState::device, DeviceState::state, DeviceState::message)
        .containsExactly(
            tuple("gpu-0", CardState.UNHEALTHY, "no libcuda"),
            tuple("gpu-0-shared", CardState.UNHEALTHY, "no libcuda"));
    assertThat(known.update(cards(gpu(0)))).extracting(DeviceState::state).containsOnly(CardState.HEALTHY);
  }

  private static Inventory cards(Gpu... gpus) {
    return new Inventory.Cards(DRIVER, "580", Optional.empty(), List.of(gpus));
  }

  private static Gpu gpu(int index) {
    return new Gpu(
        index, index, "GPU-" + index, GpuProduct.named("NVIDIA H200", "Nvidia", "Hopper", "9.0"), 1L << 37,
        new GpuTopology(null, null, null, null, List.of()), GpuHealth.HEALTHY);
  }
}
