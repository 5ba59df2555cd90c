package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Cleanup;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.PaperNode;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceListBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Karpenter beside a lab, with the provider that makes Nodes without machines. One of its instance types has the cards
 * of a node of the lab. Closing it takes away all of it, with the nodes that it has added.
 */
final class Karpenter implements AutoCloseable {
  /** The instance type whose nodes have cards. */
  static final String WITH_CARDS = "cards-64x";

  /** The label of the nodes that it adds. */
  static final String POOL_LABEL = "karpenter.sh/nodepool";

  private static final String API = "karpenter.sh/v1";
  private static final String POOL = "partita-e2e";

  private static final String INSTANCE_TYPES = """
      [%s]
      """.formatted(Stream.of(WITH_CARDS, "plain-64x").map("""
      {"name": "%s", "architecture": "amd64", "operatingSystems": ["linux"],
       "resources": {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "100Gi", "pods": "500"},
       "offerings": [{"Price": 1, "Available": true, "Requirements": [
         {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
         {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]}]}]}"""::formatted)
      .reduce((one, other) -> one + ",\n" + other).orElseThrow());

  private static final String NODE_POOL = """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: %1$s}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: %1$s}
      spec:
        disruption: {consolidateAfter: Never}
        template:
          metadata:
            labels: {gpu.partita.dev/plugin: disabled}
          spec:
            taints: [{key: %2$s, effect: NoSchedule}]
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: %1$s}
            requirements:
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """.formatted(POOL, PaperNode.TAINT);

  private final KubernetesClient client;
  private final Cleanup cleanup = new Cleanup();

  private Karpenter(KubernetesClient client) {
    this.client = client;
  }

  /** Starts it; it knows what cards a node like that one has. */
  static Karpenter start(RealCluster cluster, String like, Path folder) {
    Karpenter karpenter = new Karpenter(cluster.client());
    try {
      karpenter.run(cluster, like, folder);
      return karpenter;
    } catch (IOException failure) {
      karpenter.close();
      throw new UncheckedIOException(failure);
    } catch (RuntimeException failure) {
      karpenter.close();
      throw failure;
    }
  }

  private void run(RealCluster cluster, String like, Path folder) throws IOException {
    Path fetched = Installation.fetched(cluster, "karpenter", "karpenter");
    List<ResourceSlice> slices = new Daemons(client).slices(like);
    Path cards = folder.resolve("cards.json");
    Files.writeString(cards,
        client.getKubernetesSerialization().asJson(new ResourceSliceListBuilder().withItems(slices).build()));
    Path types = folder.resolve("instance-types.json");
    Files.writeString(types, INSTANCE_TYPES);
    for (String crds : List.of("kwok/charts/crds", "kwok/apis/crds")) {
      try (Stream<Path> files = Files.list(fetched.resolve(crds))) {
        for (Path file : files.sorted().toList()) {
          apply(Files.readString(file));
        }
      }
    }
    apply(NODE_POOL);
    cleanup.undo("nodes that Karpenter has added", this::removeNodes);
    Process process = cluster.command().start(List.of(fetched.resolve("karpenter").toString()),
        Map.ofEntries(Map.entry("KUBECONFIG", cluster.kubeconfigEnvironment().get("KUBECONFIG")),
            Map.entry("IGNORE_DRA_REQUESTS", "false"), Map.entry("DISABLE_LEADER_ELECTION", "true"),
            Map.entry("METRICS_PORT", "0"), Map.entry("HEALTH_PROBE_PORT", "0"),
            Map.entry("LOG_OUTPUT_PATHS", cluster.target().resolve("karpenter.log").toString()),
            Map.entry("INSTANCE_TYPES_FILE_PATH", types.toString()), Map.entry("CARDS_FILE", cards.toString()),
            Map.entry("CARDS_INSTANCE_TYPES", WITH_CARDS)));
    cleanup.undo("Karpenter's process", () -> end(process));
  }

  private static void end(Process process) {
    process.destroyForcibly();
    try {
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  private void apply(String manifests) {
    for (HasMetadata object : client.load(stream(manifests)).items()) {
      cleanup.undo(object.getKind() + " " + object.getMetadata().getName(), () -> remove(object));
      await(object.getKind() + " " + object.getMetadata().getName() + " to be served").atMost(Workspace.PATIENCE)
          .ignoreExceptions().until(() -> client.resource(object).forceConflicts().serverSideApply() != null);
    }
  }

  private void removeNodes() {
    nodeClaims().forEach(this::remove);
    client.nodes().withLabel(POOL_LABEL, POOL).list().getItems().forEach(this::remove);
  }

  private void remove(HasMetadata object) {
    client.resource(object).delete();
    await(object.getKind() + " " + object.getMetadata().getName() + " to be gone").atMost(Workspace.PATIENCE)
        .ignoreException(KubernetesClientException.class).until(() -> {
          HasMetadata left = client.resource(object).get();
          if (left != null && left.getFinalizers().stream().anyMatch(name -> name.startsWith("karpenter"))) {
            // who would take it off runs no more
            client.resource(left).patch(PatchContext.of(PatchType.JSON_MERGE),
                "{\"metadata\": {\"finalizers\": null}}");
          }
          return left == null;
        });
  }

  /** What pods say that are to run on nodes that it adds. */
  PodTraits onItsNodes() {
    return PodTraits.onNodesWith(POOL_LABEL, POOL);
  }

  /** The nodes that it has decided to add. */
  List<GenericKubernetesResource> nodeClaims() {
    return client.genericKubernetesResources(API, "NodeClaim").list().getItems();
  }

  /** Waits until it has added so many nodes, and gives the newest one's NodeClaim. */
  GenericKubernetesResource awaitNodeClaims(int count) {
    return await(count + " NodeClaims").atMost(Workspace.PATIENCE)
        .until(this::nodeClaims,
            claims -> claims.size() == count && claims.stream().noneMatch(claim -> node(claim).isEmpty()))
        .stream().max((one, other) -> one.getMetadata().getCreationTimestamp()
            .compareTo(other.getMetadata().getCreationTimestamp()))
        .orElseThrow();
  }

  /** The node that was made for a NodeClaim; empty while there is none. */
  Optional<String> node(GenericKubernetesResource nodeClaim) {
    @Nullable String provider = nodeClaim.get("status", "providerID");
    return client.nodes().list().getItems().stream()
        .filter(node -> provider != null && provider.equals(node.getSpec().getProviderID())).findFirst()
        .map(Node::getMetadata).map(metadata -> metadata.getName());
  }

  /** Waits until a NodeClaim's condition has this status, and this reason. */
  void awaitCondition(GenericKubernetesResource nodeClaim, String type, String status, String reason) {
    await("NodeClaim " + nodeClaim.getMetadata().getName() + ": " + type + " " + status + " " + reason)
        .atMost(Workspace.PATIENCE)
        .until(() -> Objects
            .requireNonNullElse(Objects.requireNonNull(client.resource(nodeClaim).get())
                .<List<Map<String, Object>>>get("status", "conditions"), List.<Map<String, Object>>of())
            .stream().anyMatch(condition -> type.equals(condition.get("type"))
                && status.equals(condition.get("status")) && reason.equals(condition.get("reason"))));
  }

  @Override
  public void close() {
    cleanup.close();
  }

  private static ByteArrayInputStream stream(String yaml) {
    return new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8));
  }
}
