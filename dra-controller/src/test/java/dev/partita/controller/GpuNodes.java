package dev.partita.controller;

import dev.partita.api.DeviceName;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.OpaqueKind;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.HeldClaim;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** GpuNodes as plugins would report them. */
public final class GpuNodes {
  public static final long GIB = 1L << 30;

  private GpuNodes() {}

  /** A ready node with that many cards of one product. */
  public static GpuNode ready(String name, int cards, String productName, long memoryBytes) {
    return ready(name, GpuNodeSpec.DEFAULT, cards(name, cards, productName, memoryBytes));
  }

  public static GpuNode ready(String name, GpuNodeSpec spec, List<Gpu> gpus) {
    return node(name, spec, gpus, "True", "Ready", null);
  }

  /** One on which kube-scheduler allocates. */
  public static GpuNode leftToScheduler(String name, int cards, String productName, long memoryBytes) {
    return ready(name, new GpuNodeSpec(GpuNodeSpec.Allocator.Scheduler, List.of(), null),
        cards(name, cards, productName, memoryBytes));
  }

  public static GpuNode unready(String name, String message) {
    return node(name, GpuNodeSpec.DEFAULT, List.of(), "False", "NoDriver", message);
  }

  public static List<Gpu> cards(String node, int cards, String productName, long memoryBytes) {
    List<Gpu> gpus = new ArrayList<>();
    for (int i = 0; i < cards; i++) {
      gpus.add(card(node, i, productName, memoryBytes, GpuHealth.HEALTHY));
    }
    return gpus;
  }

  /** What an H200 can be cut into, with the placements of NVIDIA's MIG user guide. */
  public static List<MigProfile> h200Profiles() {
    return List.of(
        profile("1g.18gb", 16, 16, 1, 7, 1, 0, 1, 2, 3, 4, 5, 6),
        profile("1g.18gb+me", 16, 16, 1, 1, 1, 0, 1, 2, 3, 4, 5, 6),
        profile("1g.35gb", 32, 26, 1, 4, 2, 0, 2, 4, 6),
        profile("2g.35gb", 32, 32, 2, 3, 2, 0, 2, 4),
        profile("3g.71gb", 69, 60, 3, 2, 4, 0, 4),
        profile("4g.71gb", 69, 64, 4, 1, 4, 0),
        profile("7g.141gb", 140, 132, 7, 1, 8, 0));
  }

  /** H200s that can be cut into MIG instances. */
  public static List<Gpu> migCards(String node, int cards) {
    return cards(node, cards, "NVIDIA H200", 140 * GIB).stream().map(gpu -> gpu.withMigProfiles(h200Profiles()))
        .toList();
  }

  /** The same, by a driver that gives instances UUIDs of their own: then there can be shares of them. */
  public static Gpu cutShareably(Gpu gpu, String... instances) {
    return gpu.withStaticMigInstances(cut(gpu, instances).staticMigInstances().stream()
        .map(instance -> new StaticMigInstance(
            "MIG-" + UUID.nameUUIDFromBytes((gpu.uuid() + instance.uuid()).getBytes(StandardCharsets.UTF_8)),
            instance.profile(), instance.placement()))
        .toList());
  }

  /** The same card after somebody has cut it into these instances, as {@code profile:start}. */
  public static Gpu cut(Gpu gpu, String... instances) {
    List<StaticMigInstance> there = new ArrayList<>();
    for (String instance : instances) {
      String[] parts = instance.split(":", 2);
      int start = Integer.parseInt(parts[1]);
      MigProfile.Placement placement = h200Profiles().stream().filter(profile -> profile.name().equals(parts[0]))
          .flatMap(profile -> profile.placements().stream()).filter(place -> place.start() == start).findFirst()
          .orElseThrow();
      there.add(new StaticMigInstance("MIG-" + instance, parts[0], placement));
    }
    return gpu.withStaticMigInstances(there);
  }

  private static MigProfile profile(
      String name,
      long gib,
      int multiprocessors,
      int slices,
      int count,
      int size,
      int... starts) {
    List<MigProfile.Placement> placements =
        java.util.Arrays.stream(starts).mapToObj(start -> new MigProfile.Placement(start, size)).toList();
    return new MigProfile(name, gib * GIB, multiprocessors, slices, count, placements);
  }

  public static Gpu card(String node, int index, String productName, long memoryBytes, GpuHealth health) {
    return new Gpu(index, index, "GPU-" + node + "-" + index, GpuProduct.named(productName, "Nvidia", "Hopper", "9.0"),
        memoryBytes, new GpuTopology("0000:%02x:00.0".formatted(index), "pci0000:%02x".formatted(index), index / 4,
            "nvl-" + index / 2),
        health);
  }

  /** An opaque card of that many bytes, the first of its node. */
  public static Gpu opaqueCard(String node, long memoryBytes) {
    return new Gpu(DeviceName.FIRST_OPAQUE, -1, "OPAQUE-" + node, GpuProduct.named("Accelerator 9", "Acme", "", ""),
        memoryBytes, GpuTopology.UNKNOWN, GpuHealth.HEALTHY).asOpaque(new OpaqueKind("Acme", "a9-1"));
  }

  /** The same node, reported by a plugin in the pod of that UID. */
  public static GpuNode withPlugin(GpuNode node, String podUid) {
    GpuNodeStatus s = node.getStatus();
    node.setStatus(
        new GpuNodeStatus(
            s.gpuCount(), s.models(), s.driverVersion(), s.cudaDriverVersion(), s.pluginVersion(), podUid, s.gpus(),
            s.conditions()));
    return node;
  }

  /** The same node, which holds that for claims that are gone. */
  public static GpuNode holding(GpuNode node, HeldClaim... held) {
    node.setStatus(node.getStatus().withHeld(List.of(held)));
    return node;
  }

  /** A slice of another driver on that node. */
  public static ResourceSlice foreignSlice(String node) {
    return new ResourceSliceBuilder()
        .withNewMetadata()
        .withName(node + "-nic")
        .endMetadata()
        .withNewSpec()
        .withDriver("nic.example.com")
        .withNodeName(node)
        .withNewPool(1L, node, 1L)
        .endSpec()
        .build();
  }

  private static GpuNode node(
      String name,
      GpuNodeSpec spec,
      List<Gpu> gpus,
      String ready,
      String reason,
      @Nullable String message) {
    GpuNode node = new GpuNode();
    node.getMetadata().setName(name);
    node.setSpec(spec);
    node.setStatus(
        new GpuNodeStatus(
            gpus.size(),
            "",
            "580.95.05",
            "13.0",
            "0.1.0",
            null,
            gpus,
            List.of(
                new ConditionBuilder()
                    .withType(GpuNode.READY)
                    .withStatus(ready)
                    .withReason(reason)
                    .withMessage(message)
                    .build())));
    return node;
  }
}
