package dev.partita.cli.doctor;

import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.OtherDriverDevice;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.NodeSystemInfo;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What each node with the plugin must have. */
final class NodeChecks {
  private static final String NODES = "nodes";
  private static final String CARDS = "cards";
  private static final String HEALTH = "health of cards";
  private static final String SERVED = "cards served by one";
  private static final String SLICES = "published cards";
  private static final String KUBELET = "kubelet version";
  private static final String RUNTIME = "container runtime";
  private static final String CLOCK = "clock of the node";
  private static final Duration MOST_AHEAD = Duration.ofSeconds(5);
  private static final Duration MOST_SILENT = Duration.ofSeconds(60);

  private static final String WITHOUT_CARDS = "NoGpus";
  private static final String WITHOUT_DRIVER = "NoDriver";

  private final Map<String, Node> nodes;
  private final Map<String, GpuNode> gpuNodes;
  private final PluginChecks plugins;
  private final Snapshot.Nodes seen;
  private final Instant now;

  private NodeChecks(Snapshot.Nodes seen, Snapshot.Installation partita, Instant now) {
    this.seen = seen;
    this.now = now;
    this.nodes = byName(seen.nodes(), node -> node.getMetadata().getName());
    this.gpuNodes = byName(seen.gpuNodes(), node -> node.getMetadata().getName());
    this.plugins = new PluginChecks(seen.plugins(), partita);
  }

  /**
   * @param partita what there is in the namespace where plugins were looked for
   * @param now by the API server's clock
   */
  static List<Finding> of(Snapshot.Nodes seen, Snapshot.Installation partita, Instant now) {
    return new NodeChecks(seen, partita, now).findings();
  }

  private static <T> Map<String, T> byName(Reading<List<T>> reading, Function<T, String> name) {
    return reading instanceof Reading.Known<List<T>>(List<T> all)
        ? all.stream().collect(Collectors.toMap(name, it -> it, (first, _) -> first))
        : Map.of();
  }

  private List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    findings.addAll(seen.nodes().judged(NODES, "look at the API server", _ -> List.of()));
    findings.addAll(
        seen.gpuNodes().needed(CARDS, "install the chart with its custom resources (deploy/helm/partita/crds)"));
    findings.addAll(plugins.ofAll());
    findings.addAll(seen.slices().judged(SLICES, "use a Kubernetes that serves resource.k8s.io/v1", _ -> List.of()));
    Set<String> names = new TreeSet<>(gpuNodes.keySet());
    names.addAll(plugins.nodes());
    for (String name : names) {
      findings.addAll(plugins.of(name));
      findings.addAll(cards(name));
      findings.addAll(published(name));
      findings.addAll(daemons(name));
      findings.addAll(clock(name));
    }
    return findings;
  }

  private List<Finding> cards(String name) {
    if (!(seen.gpuNodes() instanceof Reading.Known)) {
      return List.of();
    }
    @Nullable Pod plugin = plugins.pod(name);
    @Nullable GpuNode node = gpuNodes.get(name);
    if (node == null || node.getStatus() == null) {
      return plugin != null && !PodClaims.isBound(plugin)
          ? List.of() // what never ran has nothing to report, and no log
          : List.of(Finding.fail(CARDS, name, "the plugin has reported none yet", "look at the log of its plugin pod"));
    }
    List<Finding> findings = new ArrayList<>();
    if (node.getStatus().isReady()) {
      findings.add(Finding.ok(CARDS, name, node.getStatus().models()));
    } else {
      Optional<Condition> ready = node.getStatus().conditions().stream()
          .filter(condition -> GpuNode.READY.equals(condition.getType())).findFirst();
      String reason = ready.map(Condition::getReason).orElse("no condition");
      String message = reason + ready.map(condition -> ": " + condition.getMessage()).orElse("");
      findings.add(switch (reason) {
        case WITHOUT_CARDS -> Finding.ok(CARDS, name, message);
        case WITHOUT_DRIVER ->
            Finding.fail(CARDS, name, message, "install NVIDIA's driver, or set driver.root to where it lies");
        default -> Finding.fail(CARDS, name, message, "look at nvidia-smi and dmesg on the node");
      });
    }
    @Nullable String writer = node.getStatus().pluginPodUid();
    if (plugin != null && PodClaims.isBound(plugin) && writer != null
        && !writer.equals(plugin.getMetadata().getUid())) {
      findings.add(Finding.warn(CARDS, name, "were reported by a plugin pod that is gone",
          "wait until the new one reports, or look at its log"));
    }
    for (Gpu gpu : node.getStatus().gpus()) {
      if (gpu.health() != null && gpu.health().state() == GpuHealth.State.Unhealthy) {
        findings.add(Finding.warn(HEALTH, name + "/gpu-" + gpu.index(),
            gpu.health().reason() + ": " + gpu.health().message(),
            "see 'A card is unhealthy' in docs/operate/troubleshoot.md"));
      }
      for (StaticMigInstance instance : gpu.staticMigInstances()) {
        if (instance.health() != null && !instance.isHealthy()) {
          findings.add(Finding.warn(HEALTH, name + "/gpu-" + gpu.index(),
              instance.health().reason() + ": " + instance.health().message(),
              "see 'A card is unhealthy' in docs/operate/troubleshoot.md"));
        }
      }
      for (OtherServer other : gpu.servedBy()) {
        findings.add(Finding.warn(SERVED, name + "/gpu-" + gpu.index(),
            other.offered()
                ? "is handed out as " + other + ", by another device plugin too"
                : "was handed out as " + other + ", by a device plugin that has ended",
            "see docs/how-to/move-node-by-node.md: one of the two must leave the node"));
      }
      for (OtherDriverDevice other : node.getStatus().otherDrivers()) {
        if (other.uuid().equals(gpu.uuid())) {
          findings.add(Finding.warn(SERVED, name + "/gpu-" + gpu.index(),
              "is handed out by the DRA driver " + other,
              "see docs/how-to/move-node-by-node.md: one of the two drivers must leave the node"));
        }
      }
    }
    findings.addAll(SetupChecks.driver(name, node.getStatus()));
    findings.addAll(SetupChecks.of(name, node.getStatus(), runtime(name)));
    return findings;
  }

  private List<Finding> published(String name) {
    @Nullable GpuNode node = gpuNodes.get(name);
    if (node == null || !(seen.slices() instanceof Reading.Known<List<ResourceSlice>>(List<ResourceSlice> slices))) {
      return List.of();
    }
    @Nullable GpuHost host = Inventory.EMPTY.refreshed(List.of(node)).host(name);
    int wanted = host == null || !host.isReady() ? 0 : host.devices().size();
    long there = slices.stream()
        .filter(slice -> Driver.NAME.equals(slice.getSpec().getDriver())
            && Driver.poolOf(name).equals(slice.getSpec().getPool().getName()))
        .mapToLong(slice -> slice.getSpec().getDevices().size()).sum();
    if (wanted == 0 && there == 0) {
      return List.of();
    }
    return List.of(
        there == 0
            ? Finding.fail(SLICES, name, "none of its cards are published",
                "the controller that leads publishes them: look at its log")
            : Finding.ok(SLICES, name, there + " devices"));
  }

  private List<Finding> daemons(String name) {
    @Nullable Node node = nodes.get(name);
    if (node == null || node.getStatus() == null || node.getStatus().getNodeInfo() == null) {
      return List.of();
    }
    List<Finding> findings = new ArrayList<>();
    String kubelet = String.valueOf(node.getStatus().getNodeInfo().getKubeletVersion());
    findings.add(
        ServerVersion.parse(kubelet).filter(version -> version.compareTo(ServerVersion.KUBERNETES) < 0).isPresent()
            ? Finding.fail(KUBELET, name, kubelet + " is too old",
                "upgrade kubelet to " + ServerVersion.KUBERNETES + " or newer")
            : Finding.ok(KUBELET, name, kubelet));
    String runtime = runtime(name);
    boolean old = runtime.startsWith("containerd://")
        && ServerVersion.parse(runtime).filter(version -> version.compareTo(ServerVersion.CONTAINERD) < 0).isPresent();
    findings.add(
        old
            ? Finding.fail(RUNTIME, name, runtime + " is too old",
                "upgrade containerd to " + ServerVersion.CONTAINERD + " or newer, which has CDI on")
            : Finding.ok(RUNTIME, name, runtime));
    return findings;
  }

  /** As the Node says it; empty if that is not known. */
  private String runtime(String name) {
    return Optional.ofNullable(nodes.get(name)).map(Node::getStatus).map(NodeStatus::getNodeInfo)
        .map(NodeSystemInfo::getContainerRuntimeVersion).orElse("");
  }

  /** kubelet writes its own time into its lease, every ten seconds. */
  private List<Finding> clock(String name) {
    if (!(seen.leases() instanceof Reading.Known<Map<String, Lease>>(Map<String, Lease> leases))) {
      return List.of();
    }
    @Nullable Lease lease = leases.get(name);
    if (lease == null || lease.getSpec() == null || lease.getSpec().getRenewTime() == null) {
      return List.of();
    }
    Duration age = Duration.between(lease.getSpec().getRenewTime().toInstant(), now);
    if (age.compareTo(MOST_AHEAD.negated()) < 0) {
      return List.of(Finding.fail(CLOCK, name, age.abs().toSeconds() + " s ahead of the API server's",
          "synchronize the node's clock (NTP)"));
    }
    return List.of(
        age.compareTo(MOST_SILENT) > 0
            ? Finding.fail(CLOCK, name, "kubelet's last sign of life bears a time " + age.toSeconds() + " s ago",
                "see that kubelet runs; if it does, synchronize the node's clock (NTP)")
            : Finding.ok(CLOCK, name, "near the API server's"));
  }
}
