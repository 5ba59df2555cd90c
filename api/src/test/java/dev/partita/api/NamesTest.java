package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NamesTest {
  @ParameterizedTest
  @CsvSource({
    "NVIDIA H200, h200",
    "NVIDIA A100-SXM4-80GB, a100-sxm4-80gb",
    "NVIDIA GeForce RTX 4090, rtx-4090",
    "Tesla T4, t4",
    "NVIDIA RTX 6000 Ada Generation (beta!), rtx-6000-ada-generation-beta",
    "???, gpu",
    "NVIDIA Whole, gpu-whole",
    "NVIDIA MIG, gpu-mig",
    "Opaque, gpu-opaque",
  })
  void modelIsTheProductNameAsALabel(String productName, String model) {
    assertThat(Driver.modelOf(productName)).isEqualTo(model);
  }

  @Test
  void aPoolIsOfTheNodeThatItsNameBeginsWith() {
    assertThat(Driver.nodeOfPool(Driver.poolOf("node-0"))).hasValue("node-0");
    assertThat(Driver.nodeOfPool("node-0")).isEmpty();
    assertThat(Driver.nodeOfPool("/gpu")).isEmpty();
    assertThat(Driver.nodeOfPool("node-0/gpu/gpu")).hasValue("node-0/gpu");
    assertThat(Driver.nodeOfPool("node-0/nic")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"gpu-0, 0, WHOLE", "gpu-15, 15, WHOLE", "gpu-3-shared, 3, SHARED"})
  void deviceNamesReadBackAsTheyAreWritten(String name, int index, DeviceMode mode) {
    assertThat(DeviceName.parse(name)).hasValue(DeviceName.of(index, mode));
    assertThat(DeviceName.of(index, mode)).hasToString(name);
  }

  @Test
  void anOpaqueCardIsSharedAndHasNamesOfItsOwn() {
    DeviceName opaque = new DeviceName.Opaque(100);
    assertThat(opaque).hasToString("gpu-100-opaque");
    assertThat(DeviceName.parse("gpu-100-opaque")).hasValue(opaque);
    assertThat(opaque.mode()).isEqualTo(DeviceMode.SHARED);
    assertThat(Driver.isOpaqueClass(Driver.classOfOpaqueModel("accelerator-9"))).isTrue();
    assertThat(Driver.isOpaqueClass(Driver.OPAQUE_CLASS)).isTrue();
    assertThat(Driver.isOpaqueClass(Driver.classOfModel("h200"))).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "1g.18gb, 3, gpu-0-mig-1g-18gb-3",
    "1g.18gb+me, 0, gpu-0-mig-1g-18gb-me-0",
    "1g.24gb-me, 1, gpu-0-mig-1g-24gb-no-me-1",
    "1g.24gb+me.all, 12, gpu-0-mig-1g-24gb-me-all-12",
  })
  void aMigInstanceIsNamedByCardProfileAndPlace(String profile, int start, String name) {
    DeviceName.Mig mig = new DeviceName.Mig(0, new MigSlot(MigSlot.labelOf(profile), start));
    assertThat(mig).hasToString(name);
    assertThat(DeviceName.parse(name)).hasValue(mig);
    DeviceName.MigShared shared = new DeviceName.MigShared(0, mig.slot());
    assertThat(shared).hasToString(name + "-shared");
    assertThat(DeviceName.parse(name + "-shared")).hasValue(shared);
    assertThat(List.of(mig, shared)).allSatisfy(device -> assertThat(device.instance()).contains(mig.slot()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"gpu-", "gpu-01", "gpu--1", "gpu-1-mig", "gpu-1-mig-3",
    "gpu-1-mig-1g-18gb-03", "gpu-1-mig-1g--18gb-3", "gpu-1-mig-1g-18gb-shared", "gpu-1-mig-1g-18gb-3-shared-shared",
    "gpu-1-opaque-shared",
    "gpu-1-shared-x", "GPU-1", ""})
  void foreignDeviceNamesAreNotRead(String name) {
    assertThat(DeviceName.parse(name)).isEmpty();
  }

  @Test
  void poolsOfTwoDriversNeverShareAName() {
    assertThat(Driver.poolOf("node-0")).isEqualTo("node-0/gpu").isNotEqualTo("node-0");
  }
}
