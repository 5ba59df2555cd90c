package dev.partita.plugin.metrics;

import static dev.partita.plugin.grant.Grants.GIB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Grants;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.podresources.ContainerRef;
import dev.partita.plugin.resize.Recalls;
import dev.partita.plugin.usage.UseTotals;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.verdict.CoreState;
import dev.partita.plugin.usage.verdict.MemoryState;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.xid.XidCounts;
import dev.partita.serving.metrics.Metrics;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class NodeSnapshotTest {
  private static final Gpu CARD =
      new Gpu(0, 0, "GPU-0", GpuProduct.named("NVIDIA H100", "Nvidia", "Hopper", "9.0"), 80 * GIB, GpuTopology.UNKNOWN,
          GpuHealth.HEALTHY);

  @Test
  void claimsThatHaveACardInTurnHaveItsMemoryTogetherOnce() {
    assertThat(allocatedBytes(Grants.inTurn("a", 0), Grants.inTurn("b", 0))).isEqualTo(80 * GIB);
  }

  @Test
  void sharesHaveTheirMemoryEach() {
    assertThat(allocatedBytes(Grants.share("a", 0, "a", 8, 0), Grants.share("b", 0, "b", 4, 0)))
        .isEqualTo(12 * GIB);
    assertThat(allocatedBytes()).isZero();
  }

  @Test
  void sharesThatAContainerHasOfOneCardAreOneDeviceOfItUnderHamisNames() {
    ContainerRef container = new ContainerRef("lab", "trainer", "main");
    List<NodeSnapshot.Device> devices = Stream.of(Grants.share("a", 0, "a", 8, 0), Grants.share("b", 0, "b", 4, 0))
        .map(grant -> device(grant, List.of(container))).toList();
    Metrics metrics = told(new HamiDialect(), card(0, devices.toArray(NodeSnapshot.Device[]::new)));
    assertThat(metrics.text().lines().filter(line -> line.startsWith("hami_vgpu_memory_limit_bytes{")))
        .singleElement().asString().contains("pod=\"trainer\"").endsWith(" " + (double) (12 * GIB));
  }

  @Test
  void sharesThatAContainerHasOfOneCardAreOneDeviceOfItUnderVgpuManagersNames() {
    ContainerRef container = new ContainerRef("lab", "trainer", "main");
    List<NodeSnapshot.Device> devices = Stream.of(Grants.share("a", 0, "a", 8, 0), Grants.share("b", 0, "b", 4, 0))
        .map(grant -> device(grant, List.of(container), List.of(new NodeSnapshot.Part(Optional.of(container),
            List.of(holding(3 * GIB)), OptionalDouble.of(20)))))
        .toList();
    Metrics metrics = told(new VgpuManagerDialect(), card(0, devices.toArray(NodeSnapshot.Device[]::new)));
    Map<String, Double> told = metrics.text().lines().filter(line -> line.contains("container"))
        .filter(line -> !line.startsWith("#"))
        .collect(Collectors.toMap(line -> line.replaceAll("\\{.*", "").replaceAll(" .*", ""),
            line -> Double.valueOf(line.substring(line.lastIndexOf(' ') + 1))));
    assertThat(told).containsExactlyInAnyOrderEntriesOf(Map.of(
        "vgpu_device_current_shared_containers_number", 1.0,
        "container_vgpu_device_memory_limit_in_bytes", (double) (12 * GIB),
        "container_vgpu_device_physical_memory_limit_in_bytes", (double) (12 * GIB),
        "container_vgpu_device_memory_usage_in_bytes", (double) (6 * GIB),
        "container_vgpu_device_physical_memory_usage_in_bytes", (double) (6 * GIB),
        "container_vgpu_device_memory_utilization_percent", 50.0,
        "container_vgpu_device_core_utilization_percent", 40.0));
  }

  @Test
  void claimsThatHaveACardInTurnHaveItsMemoryTogetherOnceUnderVgpuManagersNames() {
    Metrics metrics = told(new VgpuManagerDialect(), card(0,
        device(Grants.inTurn("a", 0)), device(Grants.inTurn("b", 0))));
    assertThat(metrics.text().lines().filter(line -> line.startsWith("vgpu_device_assigned_physical_memory_in_bytes{")))
        .singleElement().asString().endsWith(" " + (double) (80 * GIB));
  }

  @Test
  void aCardHasTheNumberThatEachContainerGivesItUnderOthersNames() {
    ContainerRef one = new ContainerRef("lab", "one", "main");
    ContainerRef both = new ContainerRef("lab", "both", "main");
    NodeSnapshot.Card[] cards = {card(0, device(Grants.share("a", 0, "a", 8, 0), List.of(both))),
      card(1, device(Grants.share("b", 1, "b", 8, 0), List.of(one, both)))};
    assertThat(told(new HamiDialect(), cards).text().lines()
        .filter(line -> line.startsWith("hami_vgpu_memory_limit_bytes{") && line.contains("GPU-1")))
        .satisfiesExactlyInAnyOrder(
            line -> assertThat(line).contains("pod=\"one\"", "vdevice_index=\"0\""),
            line -> assertThat(line).contains("pod=\"both\"", "vdevice_index=\"1\""));
    assertThat(told(new VgpuManagerDialect(), cards).text().lines()
        .filter(line -> line.startsWith("container_vgpu_device_memory_limit_in_bytes{") && line.contains("GPU-1")))
        .satisfiesExactlyInAnyOrder(
            line -> assertThat(line).contains("pod_name=\"one\"", "vdevice_idx=\"0\""),
            line -> assertThat(line).contains("pod_name=\"both\"", "vdevice_idx=\"1\""));
  }

  @Test
  void aContainerWithTwoSharesOfACardSharesItOnceUnderHamisNames() {
    ContainerRef container = new ContainerRef("lab", "trainer", "main");
    Metrics metrics = told(new HamiDialect(), card(0, device(Grants.share("a", 0, "a", 8, 0), List.of(container)),
        device(Grants.share("b", 0, "b", 4, 0), List.of(container)), device(Grants.share("c", 0, "c", 4, 0))));
    assertThat(metrics.text().lines().filter(line -> line.startsWith("hami_gpu_shared_count{")))
        .singleElement().asString().endsWith(" 2.0");
  }

  @Test
  void whatIsFreeIsTheCardsInAllWhereSharesHaveMoreTogetherThanTheCardUnderDcgmsNames() {
    List<NodeSnapshot.Device> devices = Stream.of("a", "b").map(name -> {
      Grant grant = new Grant(List.of(name), "gpu-0-shared", Optional.of(name), Grants.card(0),
          new HookedShare(new Share(80 * GIB, 40 * GIB, 0, CoreLimit.NONE, 1)));
      NodeSnapshot.Device device = device(grant);
      List<ProcessUse> processes = name.equals("a") ? List.of(holding(10 * GIB)) : List.of();
      return new NodeSnapshot.Device(device.prepared(), grant, List.of(),
          Optional.of(new ShareUse(WatchedShare.of(List.of(device.prepared())).getFirst(), processes,
              ShareUse.LedgerTotals.NONE, new CoreState.Unused(), Set.of(), new MemoryState.Held())),
          List.of(), Optional.empty(), Recalls.OfShare.NOTHING, UseTotals.Total.NONE);
    }).toList();
    Metrics metrics = told(new DcgmDialect(), new NodeSnapshot.Card(CARD, 160 * GIB,
        Map.of(CardFigure.MEMORY_FREE_BYTES, 70.0 * GIB), new XidCounts().of("GPU-0"), devices));
    assertThat(metrics.text().lines().filter(line -> line.startsWith("DCGM_FI_DEV_FB_FREE{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1))).sum())
        .isEqualTo(70 * 1024);
  }

  private static Metrics told(Dialect dialect, NodeSnapshot.Card... cards) {
    Metrics metrics = new Metrics();
    metrics.add(into -> dialect.write(new NodeSnapshot("node-0", "node-0/gpu", "580.95.05", List.of(cards)), into));
    return metrics;
  }

  private static NodeSnapshot.Card card(int index, NodeSnapshot.Device... devices) {
    Gpu gpu = new Gpu(index, index, "GPU-" + index, CARD.product(), 80 * GIB, GpuTopology.UNKNOWN, GpuHealth.HEALTHY);
    return new NodeSnapshot.Card(gpu, 80 * GIB, Map.of(), new XidCounts().of(gpu.uuid()), List.of(devices));
  }

  private static ProcessUse holding(long bytes) {
    return new ProcessUse(new ProcessIdentity(10, 1), bytes, bytes, 0, 0, 0, true, 0);
  }

  private static long allocatedBytes(Grant... grants) {
    List<NodeSnapshot.Device> devices = Stream.of(grants).map(NodeSnapshotTest::device).toList();
    return new NodeSnapshot.Card(CARD, 80 * GIB, Map.of(), new XidCounts().of("GPU-0"), devices).allocatedBytes();
  }

  private static NodeSnapshot.Device device(Grant grant) {
    return device(grant, List.of());
  }

  private static NodeSnapshot.Device device(Grant grant, List<ContainerRef> containers) {
    return device(grant, containers, List.of());
  }

  private static NodeSnapshot.Device device(
      Grant grant,
      List<ContainerRef> containers,
      List<NodeSnapshot.Part> parts) {
    PreparedClaim claim = new PreparedClaim(new ClaimRef("default", grant.requests().getFirst(), "uid"),
        PreparedClaim.Phase.COMPLETED, "boot", List.of(grant), Map.of(), false);
    return new NodeSnapshot.Device(claim, grant, containers, Optional.empty(), parts, Optional.empty(),
        Recalls.OfShare.NOTHING, UseTotals.Total.NONE);
  }
}
