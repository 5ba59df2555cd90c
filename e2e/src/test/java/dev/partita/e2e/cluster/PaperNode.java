package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * A node that exists in the API alone, with cards: pods are bound to it and never start. For load that costs nothing.
 *
 * @param name of the node
 */
public record PaperNode(KubernetesClient client, String name) implements AutoCloseable {
  static final String TAINT = "partita-e2e/on-paper";

  public static PaperNode create(KubernetesClient client, String name, int cards) {
    Map<String, Quantity> size = Map.of("cpu", new Quantity("64"), "memory", new Quantity("256Gi"), "pods", new Quantity("500"));
    Resource<Node> node =
        client.resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .addToLabels("kubernetes.io/hostname", name)
                .addToLabels("gpu.partita.dev/plugin", "disabled")
                .endMetadata()
                .withNewSpec()
                .addNewTaint()
                .withKey(TAINT) // no daemon of anyone's is to be stranded there
                .withEffect("NoSchedule")
                .endTaint()
                .endSpec()
                .withNewStatus()
                .withCapacity(size)
                .withAllocatable(size)
                .addNewCondition()
                .withType("Ready")
                .withStatus("True")
                .withReason("OnPaper")
                .withLastHeartbeatTime(Instant.now().toString())
                .withLastTransitionTime(Instant.now().toString())
                .endCondition()
                .endStatus()
                .build());
    node.create();
    // without a version: the node controllers write to it at the same time
    client
        .nodes()
        .withName(name)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), client.getKubernetesSerialization().asJson(Map.of("status", node.item().getStatus())));
    GenericKubernetesResource gpuNode = new GenericKubernetesResource();
    gpuNode.setApiVersion("gpu.partita.dev/v1alpha1");
    gpuNode.setKind("GpuNode");
    gpuNode.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName(name).build());
    gpuNode.setAdditionalProperties(Map.of("spec", Map.of("allocator", "Controller"), "status", status(cards)));
    client.resource(gpuNode).create();
    GenericKubernetesResource made = client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").withName(name).get();
    made.setAdditionalProperty("status", status(cards));
    client.resource(made).updateStatus();
    return new PaperNode(client, name);
  }

  private static Map<String, Object> status(int cards) {
    return Map.of(
        "gpuCount", cards,
        "models", cards + "x h200",
        "driverVersion", "580.95.05",
        "cudaDriverVersion", "13.0",
        "gpus", IntStream.range(0, cards).mapToObj(PaperNode::card).toList(),
        "conditions",
            List.of(Map.of("type", "Ready", "status", "True", "reason", "CardsFound", "message", "on paper", "lastTransitionTime", Instant.now().toString())));
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
        Map.entry("pciBusId", "0000:%02x:00.0".formatted(0x10 + index)),
        Map.entry("health", Map.of("state", "Healthy")));
  }

  @Override
  public void close() {
    client.pods().inAnyNamespace().withField("spec.nodeName", name).withGracePeriod(0).delete();
    client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").withName(name).delete();
    client.nodes().withName(name).delete();
  }
}
