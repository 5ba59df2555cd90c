package dev.partita.api.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.MigSlot;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GpuTest {
  private static final long GIB = 1L << 30;
  private static final Gpu CARD = new Gpu(
      0, 0, "GPU-1", GpuProduct.named("NVIDIA A", "Nvidia", "Ampere", "8.0"), 80 * GIB, GpuTopology.UNKNOWN,
      GpuHealth.HEALTHY);

  @Test
  void anInstanceIsFoundByItsProfilesLabelAndPlace() {
    MigProfile eighth = new MigProfile("1g.18gb+me", 16 * GIB, 16, 1, 1,
        List.of(new MigProfile.Placement(0, 1), new MigProfile.Placement(5, 1)));
    Gpu card = CARD.withMigProfiles(List.of(eighth));
    assertThat(card.migProfile(new MigSlot("1g-18gb-me", 5))).hasValue(eighth);
    assertThat(card.migProfile(new MigSlot("1g-18gb-me", 4))).isEmpty();
    assertThat(card.migProfile(new MigSlot("1g-18gb", 5))).isEmpty();
  }

  @Test
  void anInstanceThatSomebodyElseMadeIsFoundByItsPlace() {
    StaticMigInstance instance = new StaticMigInstance("MIG-1", "1g.18gb", new MigProfile.Placement(1, 1));
    Gpu card = CARD.withStaticMigInstances(List.of(instance));
    assertThat(card.isCutByHand()).isTrue();
    assertThat(card.staticMigInstance(new MigSlot("1g-18gb", 1))).hasValue(instance);
    assertThat(card.staticMigInstance(new MigSlot("1g-18gb", 2))).isEmpty();
    assertThat(CARD.isCutByHand()).isFalse();
  }

  @Test
  void whatNoDeviceCanBeMadeOfIsNoInstance() {
    assertThat(new StaticMigInstance("", "..", new MigProfile.Placement(0, 1)).slot()).isEmpty();
    assertThat(new StaticMigInstance("", "1g.5gb", new MigProfile.Placement(40, 1)).slot()).isEmpty();
    assertThat(new StaticMigInstance("", "1g.5gb", new MigProfile.Placement(3, 1)).slot())
        .hasValue(new MigSlot("1g-5gb", 3));
  }

  @Test
  void aPlacementIsTheBitsOfItsMemorySlices() {
    assertThat(new MigProfile.Placement(4, 4).mask()).isEqualTo(0b1111_0000);
    assertThat(new MigProfile.Placement(0, 32).mask()).isEqualTo(-1);
    assertThat(new MigProfile.Placement(30, 4).mask()).isZero();
    assertThat(new MigProfile.Placement(-1, 2).mask()).isZero();
  }
}
