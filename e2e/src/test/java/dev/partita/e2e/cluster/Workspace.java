package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.UUID;

/** A test's own namespace, and what it does there; closing it deletes everything in it. */
public final class Workspace implements AutoCloseable {
  /** How long anything that a cluster does may take on a busy machine of two cores. */
  public static final Duration PATIENCE = Duration.ofSeconds(60);

  private final RealCluster cluster;
  private final String namespace;

  private Workspace(RealCluster cluster, String namespace) {
    this.cluster = cluster;
    this.namespace = namespace;
  }

  static Workspace in(RealCluster cluster) {
    String name = "e2e-" + UUID.randomUUID().toString().substring(0, 8).toLowerCase(Locale.ROOT);
    cluster.client().resource(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build()).create();
    Workspace workspace = new Workspace(cluster, name);
    await("the namespace's service account").atMost(PATIENCE).until(() ->
        cluster.client().serviceAccounts().inNamespace(name).withName("default").get() != null);
    return workspace;
  }

  public String namespace() {
    return namespace;
  }

  /** Creates objects from YAML documents. */
  public List<HasMetadata> create(String yaml) {
    return client()
        .load(new ByteArrayInputStream(("---\n" + yaml).getBytes(StandardCharsets.UTF_8))) // else a flow mapping is taken for JSON
        .inNamespace(namespace)
        .create();
  }

  /** A claim of its own, which pods share by its name. */
  public ClaimUnderTest claim(String name, Ask ask) {
    return claimOfSpec(name, ask.spec());
  }

  /** A claim from the YAML of its spec. */
  public ClaimUnderTest claimOfSpec(String name, String spec) {
    create("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s}, spec: %s}".formatted(name, spec));
    return new ClaimUnderTest(this, name);
  }

  /** A pod with a claim of its own, made from a template. */
  public PodUnderTest pod(String name, String node, Ask ask, String script) {
    create("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: %s}, spec: {spec: %s}}".formatted(name, ask.spec()));
    return pod(name, node, "resourceClaimTemplateName: " + name, script);
  }

  /** A pod that uses an existing claim. */
  public PodUnderTest podOf(ClaimUnderTest claim, String name, String node, String script) {
    return pod(name, node, "resourceClaimName: " + claim.name(), script);
  }

  private PodUnderTest pod(String name, String node, String source, String script) {
    create(
        """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 1
          nodeSelector: {kubernetes.io/hostname: %s}
          tolerations: [{key: %s, operator: Exists}]
          resourceClaims: [{name: gpu, %s}]
          containers:
          - name: main
            image: %s
            imagePullPolicy: IfNotPresent
            command: [sh, -c]
            args:
            - |
        %s
            resources: {claims: [{name: gpu}]}
        """
            .formatted(name, node, PaperNode.TAINT, source, RealCluster.PROBE_IMAGE, script.strip().indent(6)));
    return new PodUnderTest(this, name);
  }

  /** What was said of the objects here. */
  public List<EventLine> events() {
    return client().v1().events().inNamespace(namespace).list().getItems().stream()
        .map(event -> new EventLine(event.getInvolvedObject().getKind(), String.valueOf(event.getInvolvedObject().getName()), String.valueOf(event.getReason()), String.valueOf(event.getMessage())))
        .toList();
  }

  /** Waits for an event. */
  public EventLine awaitEvent(String kind, String name, String reason) {
    return await("an event " + reason + " on " + kind + " " + name)
        .atMost(PATIENCE)
        .until(
            () -> events().stream().filter(e -> e.kind().equals(kind) && e.name().equals(name) && e.reason().equals(reason)).findFirst(),
            java.util.Optional::isPresent)
        .orElseThrow();
  }

  public KubernetesClient client() {
    return cluster.client();
  }

  @Override
  public void close() {
    // never by force: kubelet would not have let go of the cards when the next test gets them
    client().namespaces().withName(namespace).delete();
  }

  /** An event, as far as tests look at it. */
  public record EventLine(String kind, String name, String reason, String message) {}
}
