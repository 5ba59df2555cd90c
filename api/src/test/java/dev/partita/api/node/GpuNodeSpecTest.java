package dev.partita.api.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.MigSlot;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GpuNodeSpecTest {
  private static final long GIB = 1L << 30;

  @Test
  void whatTheDriverKeepsIsNeverSoldAndTheNodesSpecTakesThePlaceOfWhatThePluginWasTold() {
    assertThat(GpuNodeSpec.DEFAULT.sellableBytes(gpu(null))).isEqualTo(80 * GIB);
    assertThat(GpuNodeSpec.DEFAULT.sellableBytes(gpu(new GpuReserve(GIB, 2 * GIB)))).isEqualTo(77 * GIB);
    assertThat(spec("0").sellableBytes(gpu(new GpuReserve(GIB, 2 * GIB)))).isEqualTo(79 * GIB);
    assertThat(spec("10Gi").sellableBytes(gpu(new GpuReserve(GIB, 2 * GIB)))).isEqualTo(69 * GIB);
    assertThat(spec("100Gi").sellableBytes(gpu(new GpuReserve(GIB, 0)))).isZero();
    assertThat(GpuNodeSpec.DEFAULT.sellableBytes(gpu(new GpuReserve(-5, -5)))).isEqualTo(80 * GIB);
  }

  @Test
  void aNodeMaySellMoreThanItsCardsHaveAndAShareThenHoldsItsPartOfTheCard() {
    GpuNodeSpec half = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 150);
    assertThat(half.sellableBytes(gpu(new GpuReserve(2 * GIB, 0)))).isEqualTo(117 * GIB);
    assertThat(half.physicalBytes(9 * GIB)).isEqualTo(6 * GIB);
    assertThat(half.physicalBytes(half.sellableBytes(gpu(null)))).isLessThanOrEqualTo(80 * GIB);
    assertThat(GpuNodeSpec.DEFAULT.physicalBytes(9 * GIB)).isEqualTo(9 * GIB);
    assertThat(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 5).soldPercent()).isEqualTo(100);
    assertThat(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 99_999).soldPercent())
        .isEqualTo(1000);
  }

  @Test
  void anInstanceIsFoundByItsProfilesLabelAndPlace() {
    MigProfile eighth = new MigProfile("1g.18gb+me", 16 * GIB, 16, 1, 1,
        List.of(new MigProfile.Placement(0, 1), new MigProfile.Placement(5, 1)));
    Gpu card = gpu(null).withMigProfiles(List.of(eighth));
    assertThat(card.migProfile(new MigSlot("1g-18gb-me", 5))).hasValue(eighth);
    assertThat(card.migProfile(new MigSlot("1g-18gb-me", 4))).isEmpty();
    assertThat(card.migProfile(new MigSlot("1g-18gb", 5))).isEmpty();
  }

  @Test
  void anInstanceThatSomebodyElseMadeIsFoundByItsPlace() {
    StaticMigInstance instance = new StaticMigInstance("MIG-1", "1g.18gb", new MigProfile.Placement(1, 1));
    Gpu card = gpu(null).withStaticMigInstances(List.of(instance));
    assertThat(card.isCutByHand()).isTrue();
    assertThat(card.staticMigInstance(new MigSlot("1g-18gb", 1))).hasValue(instance);
    assertThat(card.staticMigInstance(new MigSlot("1g-18gb", 2))).isEmpty();
    assertThat(gpu(null).isCutByHand()).isFalse();
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

  @Test
  void migIsOfferedOnlyWhereItIsAskedFor() {
    assertThat(GpuNodeSpec.DEFAULT.publishedModes()).containsExactly(GpuNodeSpec.PublishedMode.Whole,
        GpuNodeSpec.PublishedMode.Shared);
  }

  private static GpuNodeSpec spec(String reserved) {
    return new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), new Quantity(reserved));
  }

  private static Gpu gpu(@Nullable GpuReserve reserve) {
    return new Gpu(
        0, 0, "GPU-1", GpuProduct.named("NVIDIA A", "Nvidia", "Ampere", "8.0"), 80 * GIB, GpuTopology.UNKNOWN,
        GpuHealth.HEALTHY).withReserved(reserve);
  }
}
