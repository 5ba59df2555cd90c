package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.NodeStatusBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A node that exists in the API alone, with cards: pods are bound to it and never start. For load that costs nothing.
 */
public final class PaperNode implements AutoCloseable {
  /** The label by which pods may choose several paper nodes. */
  public static final String POOL = "partita-e2e/pool";

  public static final String TAINT = "partita-e2e/on-paper";

  /** Kubernetes takes a node for lost that was silent for 50 s. */
  private static final long HEARTBEAT_SECONDS = 20;

  private final KubernetesClient client;
  private final String name;
  private final ScheduledExecutorService heart =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name("paper-node").daemon().factory());

  // Only the heart's thread touches it.
  private @Nullable Lease lease;

  private PaperNode(KubernetesClient client, String name) {
    this.client = client;
    this.name = name;
  }

  /** One in a pool of its own. */
  public static PaperNode create(KubernetesClient client, String name, int cards) {
    return create(client, name, name, cards);
  }

  /** One whose label {@link #POOL} is {@code pool}. */
  public static PaperNode create(KubernetesClient client, String name, String pool, int cards) {
    PaperNode paper = new PaperNode(client, name);
    try {
      paper.make(pool, cards);
    } catch (RuntimeException failure) {
      paper.close();
      throw failure;
    }
    return paper;
  }

  /** One that somebody else has made, such as an autoscaler: as of now it is ready, and has cards. */
  public static PaperNode adopt(KubernetesClient client, String name, int cards) {
    PaperNode paper = new PaperNode(client, name);
    try {
      paper.bringUp(cards);
    } catch (RuntimeException failure) {
      paper.close();
      throw failure;
    }
    return paper;
  }

  private void make(String pool, int cards) {
    Resource<Node> node =
        client.resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("kubernetes.io/hostname", name)
                .addToLabels(POOL, pool)
                .addToLabels("gpu.partita.dev/plugin", "disabled")
                .endMetadata()
                .withNewSpec()
                .addNewTaint()
                .withKey(TAINT) // no daemon of anyone's is to be stranded there
                .withEffect("NoSchedule")
                .endTaint()
                .endSpec()
                .build());
    node.create();
    bringUp(cards);
  }

  private void bringUp(int cards) {
    Map<String, Quantity> size =
        Map.of("cpu", new Quantity("64"), "memory", new Quantity("256Gi"), "pods", new Quantity("500"));
    NodeStatus status = new NodeStatusBuilder()
        .withCapacity(size)
        .withAllocatable(size)
        .addNewCondition()
        .withType("Ready")
        .withStatus("True")
        .withReason("OnPaper")
        .withLastHeartbeatTime(Instant.now().toString())
        .withLastTransitionTime(Instant.now().toString())
        .endCondition()
        .build();
    // without a version: the node controllers write to it at the same time
    client
        .nodes()
        .withName(name)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE),
            client.getKubernetesSerialization().asJson(Map.of("status", status)));
    GenericKubernetesResource gpuNode = new GenericKubernetesResource();
    gpuNode.setApiVersion("gpu.partita.dev/v1alpha1");
    gpuNode.setKind("GpuNode");
    gpuNode.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName(name).build());
    gpuNode.setAdditionalProperties(Map.of("spec", Map.of("allocator", "Controller"), "status", status(cards)));
    client.resource(gpuNode).create();
    Fresh.write(() -> {
      GenericKubernetesResource made =
          client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").withName(name).get();
      made.setAdditionalProperty("status", status(cards));
      client.resource(made).updateStatus();
    });
    var _ = heart.scheduleWithFixedDelay(this::beat, 0, HEARTBEAT_SECONDS, TimeUnit.SECONDS);
  }

  public String name() {
    return name;
  }

  /**
   * As kubelet says that it is there: by a Lease of the node's name, which is read again only when it could not be
   * written.
   */
  private void beat() {
    try {
      @Nullable Lease known =
          lease == null ? client.leases().inNamespace("kube-node-lease").withName(name).get() : lease;
      LeaseBuilder next = known == null ? lease() : new LeaseBuilder(known);
      Lease renewed = next.editSpec().withRenewTime(ZonedDateTime.now(ZoneOffset.UTC)).endSpec().build();
      lease = known == null ? client.resource(renewed).create() : client.resource(renewed).update();
    } catch (RuntimeException failure) {
      lease = null;
      System.err.println("e2e: no heartbeat of " + name + ": " + failure.getMessage());
    }
  }

  private LeaseBuilder lease() {
    return new LeaseBuilder()
        .withNewMetadata()
        .withNamespace("kube-node-lease")
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withHolderIdentity(name)
        .withLeaseDurationSeconds(40)
        .endSpec();
  }

  private static Map<String, Object> status(int cards) {
    return Map.of(
        "gpuCount", cards,
        "models", cards + "x h200",
        "driverVersion", "580.95.05",
        "cudaDriverVersion", "13.0",
        "gpus", IntStream.range(0, cards).mapToObj(PaperNode::card).toList(),
        "conditions",
        List.of(Map.of("type", "Ready", "status", "True", "reason", "CardsFound", "message", "on paper",
            "lastTransitionTime", Instant.now().toString())));
  }

  private static Map<String, Object> card(int index) {
    return Map.ofEntries(
        Map.entry("index", index),
        Map.entry("minor", index),
        Map.entry("uuid", "GPU-" + UUID.randomUUID()),
        Map.entry("productName", "NVIDIA H200"),
        Map.entry("model", "h200"),
        Map.entry("brand", "Nvidia"),
        Map.entry("architecture", "Hopper"),
        Map.entry("cudaComputeCapability", "9.0"),
        Map.entry("memoryBytes", RealCluster.CARD_MEMORY),
        Map.entry("reserved", Map.of("driverBytes", RealCluster.CARD_RESERVED, "configuredBytes", 0)),
        Map.entry("pciBusId", "0000:%02x:00.0".formatted(0x10 + index)),
        Map.entry("health", Map.of("state", "Healthy")));
  }

  @Override
  public void close() {
    heart.shutdownNow();
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("lease " + name, () -> client.leases().inNamespace("kube-node-lease").withName(name).delete());
      cleanup.undo("node " + name, () -> client.nodes().withName(name).delete());
      cleanup.undo("gpunode " + name,
          () -> client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").withName(name).delete());
      cleanup.undo("pods on " + name,
          () -> client.pods().inAnyNamespace().withField("spec.nodeName", name).withGracePeriod(0).delete());
    }
  }
}
