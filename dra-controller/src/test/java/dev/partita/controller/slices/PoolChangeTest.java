package dev.partita.controller.slices;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaint;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PoolChangeTest {
  @Test
  void aNewPoolBeginsWithGenerationOne() {
    PoolChange change = change(plan(40, GpuHealth.HEALTHY), List.of());
    assertThat(change.create()).hasSize(2);
    assertThat(change.create().values()).allSatisfy(s -> assertThat(s.getPool().getGeneration()).isEqualTo(1));
    assertThat(change.update()).isEmpty();
    assertThat(change.delete()).isEmpty();
  }

  @Test
  void nothingIsWrittenWhenNothingChanged() {
    List<ResourceSlice> existing = existing(plan(40, GpuHealth.HEALTHY), 7);
    assertThat(change(plan(40, GpuHealth.HEALTHY), existing).isEmpty()).isTrue();
  }

  @Test
  void theTimeThatTheServerAddsToATaintIsNoChangeAndIsKept() {
    List<ResourceSlice> existing = existing(plan(2, GpuHealth.HEALTHY), 1);
    existing.forEach(
        s -> s.getSpec().getDevices().forEach(d -> d.getTaints().getFirst().setTimeAdded("2026-01-01T00:00:00Z")));
    assertThat(change(plan(2, GpuHealth.HEALTHY), existing).isEmpty()).isTrue();
    PoolChange change = change(plan(2, GpuHealth.unhealthy("Lost", "")), existing);
    assertThat(change.update().getFirst().spec().getDevices().getFirst().getTaints().getFirst().getTimeAdded())
        .isEqualTo("2026-01-01T00:00:00Z");
  }

  /** A pod that tolerates the taint for so many seconds is evicted so long after that time. */
  @Test
  void theTimeOfATaintGoesWithItsDeviceIntoAnotherSlice() {
    List<ResourceSliceSpec> before = tainted(migPlan(_ -> {}), "2026-01-01T00:00:00Z");
    List<ResourceSliceSpec> after =
        tainted(migPlan(cards -> cards.set(0, GpuNodes.cut(cards.getFirst(), "3g.71gb:4"))), null);
    PoolChange toOneThatIsThere = change(after, existing(before, 7));
    assertThat(toOneThatIsThere.update()).flatExtracting(update -> taintTimes(update.spec()))
        .containsExactly("2026-01-01T00:00:00Z");
    PoolChange toANewOne = change(tainted(migPlan(_ -> {}), null),
        existing(tainted(before.subList(1, 2), "2026-01-01T00:00:00Z"), 7));
    assertThat(toANewOne.create().values()).flatExtracting(PoolChangeTest::taintTimes)
        .containsExactly("2026-01-01T00:00:00Z");
  }

  @Test
  void theTimeOfATaintThatIsGoneIsNotThatOfTheNextOne() {
    List<ResourceSlice> slices = new ArrayList<>(existing(tainted(migPlan(_ -> {}), "2026-01-01T00:00:00Z"), 7));
    slices.addAll(existing(migPlan(_ -> {}), 8));
    PoolChange change = change(tainted(migPlan(_ -> {}), null), slices);
    assertThat(change.update()).isNotEmpty().flatExtracting(update -> taintTimes(update.spec()))
        .containsOnlyNulls();
  }

  private static List<ResourceSliceSpec> tainted(List<ResourceSliceSpec> plan, @Nullable String since) {
    plan.stream().flatMap(spec -> spec.getDevices().stream()).filter(device -> device.getName().equals("gpu-2"))
        .forEach(device -> device.setTaints(List.of(new DeviceTaint("NoExecute", Driver.HEALTH_TAINT, since, "Xid"))));
    return plan;
  }

  private static List<String> taintTimes(ResourceSliceSpec spec) {
    return spec.getDevices().stream().flatMap(device -> device.getTaints().stream()).map(DeviceTaint::getTimeAdded)
        .toList();
  }

  @Test
  void aCardsChangeTouchesOnlyItsSliceAndKeepsTheGeneration() {
    PoolChange change = change(plan(40, GpuHealth.unhealthy("Lost", "")), existing(plan(40, GpuHealth.HEALTHY), 7));
    assertThat(change.create()).isEmpty();
    assertThat(change.delete()).isEmpty();
    assertThat(change.update()).singleElement()
        .satisfies(u -> assertThat(u.spec().getPool().getGeneration()).isEqualTo(7));
  }

  @Test
  void aChangedSetOfSlicesMovesToANewGenerationAsAWhole() {
    PoolChange grown = change(plan(40, GpuHealth.HEALTHY), existing(plan(2, GpuHealth.HEALTHY), 3));
    assertThat(grown.create().values()).allSatisfy(s -> assertThat(s.getPool().getGeneration()).isEqualTo(4));
    assertThat(grown.update()).singleElement()
        .satisfies(u -> assertThat(u.spec().getPool().getGeneration()).isEqualTo(4));
    PoolChange shrunk = change(plan(2, GpuHealth.HEALTHY), existing(plan(40, GpuHealth.HEALTHY), 3));
    assertThat(shrunk.delete()).hasSize(1);
    assertThat(shrunk.update()).singleElement()
        .satisfies(u -> assertThat(u.spec().getPool().getGeneration()).isEqualTo(4));
  }

  @Test
  void aDeviceThatGoesToAnotherSliceMovesThePoolToANewGeneration() {
    List<ResourceSliceSpec> before = migPlan(_ -> {});
    List<ResourceSliceSpec> after =
        migPlan(cards -> cards.set(0, GpuNodes.cut(cards.getFirst(), "3g.71gb:4")));
    assertThat(before.get(1).getDevices()).extracting(Device::getName).contains("gpu-2", "gpu-3");
    assertThat(after.get(0).getDevices()).extracting(Device::getName).contains("gpu-2").doesNotContain("gpu-3");
    PoolChange change = change(after, existing(before, 7));
    assertThat(change.create()).isEmpty();
    assertThat(change.update()).hasSize(3)
        .allSatisfy(u -> assertThat(u.spec().getPool().getGeneration()).isEqualTo(8));
  }

  @Test
  void aPoolThatIsDeletedAgainAndAgainComesBackMoreAndMoreSlowly() {
    Republication republication = new Republication();
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    assertThat(republication.notBefore("node-0")).isEqualTo(Instant.MIN);
    republication.created("node-0", now);
    assertThat(republication.notBefore("node-0")).isEqualTo(Instant.MIN);
    republication.created("node-0", now);
    assertThat(republication.notBefore("node-0")).isEqualTo(now.plusSeconds(1));
    for (int i = 0; i < 20; i++) {
      republication.created("node-0", now);
    }
    assertThat(republication.notBefore("node-0")).isEqualTo(now.plus(Republication.LONGEST_PAUSE));
    Instant later = now.plus(Republication.CALM).plus(Duration.ofSeconds(1));
    republication.created("node-0", later);
    assertThat(republication.notBefore("node-0")).isEqualTo(Instant.MIN);
  }

  private static PoolChange change(List<ResourceSliceSpec> desired, List<ResourceSlice> existing) {
    return PoolChange.between(names(desired.size()), desired, existing, TaintTimes.in(existing));
  }

  private static List<String> names(int count) {
    return IntStream.range(0, count).mapToObj(i -> "node-0-" + i).toList();
  }

  private static List<ResourceSlice> existing(List<ResourceSliceSpec> plan, long generation) {
    List<ResourceSlice> slices = new ArrayList<>();
    for (int i = 0; i < plan.size(); i++) {
      slices.add(
          new ResourceSliceBuilder()
              .withNewMetadata()
              .withName("node-0-" + i)
              .endMetadata()
              .withSpec(plan.get(i))
              .editSpec()
              .editPool()
              .withGeneration(generation)
              .endPool()
              .endSpec()
              .build());
    }
    return slices;
  }

  /** Four cards as MIG instances, of which two fill a slice. */
  private static List<ResourceSliceSpec> migPlan(Consumer<List<Gpu>> change) {
    List<Gpu> cards = new ArrayList<>(GpuNodes.migCards("node-0", 4));
    change.accept(cards);
    GpuNodeSpec spec = new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler, List.of(GpuNodeSpec.PublishedMode.values()),
        null);
    return SlicePlan.of(Objects
        .requireNonNull(Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", spec, cards))).host("node-0")));
  }

  private static List<ResourceSliceSpec> plan(int cards, GpuHealth ofFirst) {
    List<Gpu> gpus = new ArrayList<>(GpuNodes.cards("node-0", cards, "NVIDIA H200", GpuNodes.GIB));
    gpus.set(0, GpuNodes.card("node-0", 0, "NVIDIA H200", GpuNodes.GIB, ofFirst));
    var node = GpuNodes.ready("node-0", GpuNodeSpec.DEFAULT, gpus);
    return SlicePlan.of(Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0")));
  }
}
