package dev.partita.api.node;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuReserve;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.StaticMigInstance;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.MigSlot;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class GpuNodeSpecTest {
  private static final long GIB = 1L << 30;

  @Test
  void whatTheDriverKeepsIsNeverAllocatedAndTheNodesSpecTakesThePlaceOfWhatThePluginWasTold() {
    assertThat(GpuNodeSpec.DEFAULT.allocatableBytes(gpu(null))).isEqualTo(80 * GIB);
    assertThat(GpuNodeSpec.DEFAULT.allocatableBytes(gpu(new GpuReserve(GIB, 2 * GIB)))).isEqualTo(77 * GIB);
    assertThat(spec("0").allocatableBytes(gpu(new GpuReserve(GIB, 2 * GIB)))).isEqualTo(79 * GIB);
    assertThat(spec("10Gi").allocatableBytes(gpu(new GpuReserve(GIB, 2 * GIB)))).isEqualTo(69 * GIB);
    assertThat(spec("100Gi").allocatableBytes(gpu(new GpuReserve(GIB, 0)))).isZero();
    assertThat(GpuNodeSpec.DEFAULT.allocatableBytes(gpu(new GpuReserve(-5, -5)))).isEqualTo(80 * GIB);
  }

  @Test
  void aNodeMayOfferMoreThanItsCardsHaveAndAShareThenHoldsItsPartOfTheCard() {
    GpuNodeSpec half = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 150);
    assertThat(half.allocatableBytes(gpu(new GpuReserve(2 * GIB, 0)))).isEqualTo(117 * GIB);
    assertThat(half.physicalBytes(9 * GIB)).isEqualTo(6 * GIB);
    assertThat(half.physicalBytes(half.allocatableBytes(gpu(null)))).isLessThanOrEqualTo(80 * GIB);
    assertThat(GpuNodeSpec.DEFAULT.physicalBytes(9 * GIB)).isEqualTo(9 * GIB);
    assertThat(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 5).allocatablePercent())
        .isEqualTo(100);
    assertThat(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 99_999).allocatablePercent())
        .isEqualTo(1000);
  }

  @Test
  void migIsOfferedOnlyWhereItIsAskedFor() {
    assertThat(GpuNodeSpec.DEFAULT.publishedModes()).containsExactly(GpuNodeSpec.PublishedMode.Whole,
        GpuNodeSpec.PublishedMode.Shared);
  }

  @Test
  void sharesOfInstancesAreOfferedOnlyWhereTheyAreAskedForAndTheControllerAllocates() {
    List<GpuNodeSpec.PublishedMode> asked = List.of(GpuNodeSpec.PublishedMode.MigShared);
    assertThat(GpuNodeSpec.DEFAULT.publishesInstanceShares()).isFalse();
    assertThat(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, asked, null).publishesInstanceShares()).isTrue();
    assertThat(new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler, asked, null).publishesInstanceShares()).isFalse();
  }

  @Test
  void anInstanceKeepsItsPartOfTheReserveAndIsNeverAllocatedTwice() {
    MigProfile half = new MigProfile("3g.40gb", 40 * GIB, 42, 3, 2, List.of());
    assertThat(GpuNodeSpec.DEFAULT.allocatableBytes(gpu(null), half)).isEqualTo(40 * GIB);
    assertThat(GpuNodeSpec.DEFAULT.allocatableBytes(gpu(new GpuReserve(GIB, 2 * GIB)), half)).isEqualTo(39 * GIB);
    assertThat(spec("10Gi").allocatableBytes(gpu(new GpuReserve(GIB, 2 * GIB)), half)).isEqualTo(35 * GIB);
    assertThat(spec("100Gi").allocatableBytes(gpu(null), half)).isZero();
    assertThat(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 150)
        .allocatableBytes(gpu(null), half)).isEqualTo(40 * GIB);
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
