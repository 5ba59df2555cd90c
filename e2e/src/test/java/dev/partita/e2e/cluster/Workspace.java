package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FieldValidateable;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A test's own namespace, and what it does there; closing it deletes everything in it. */
public final class Workspace implements AutoCloseable {
  /** How long anything that a cluster does may take on a busy machine of two cores. */
  public static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Resources of a container that uses the pod's claim. */
  private static final String CLAIMING = "{claims: [{name: gpu}]}";

  private final RealCluster cluster;
  private final String namespace;
  private final Cleanup cleanup = new Cleanup();

  private Workspace(RealCluster cluster, String namespace) {
    this.cluster = cluster;
    this.namespace = namespace;
  }

  RealCluster cluster() {
    return cluster;
  }

  static Workspace in(RealCluster cluster) {
    String name = "e2e-" + UUID.randomUUID().toString().substring(0, 8).toLowerCase(Locale.ROOT);
    cluster.client().resource(new NamespaceBuilder().withNewMetadata().withName(name).endMetadata().build()).create();
    Workspace workspace = new Workspace(cluster, name);
    await("the namespace's service account").atMost(PATIENCE)
        .until(() -> cluster.client().serviceAccounts().inNamespace(name).withName("default").get() != null);
    return workspace;
  }

  public String namespace() {
    return namespace;
  }

  /** One more namespace, for the caller to close. */
  public Workspace another() {
    return in(cluster);
  }

  /**
   * Has Partita's admission webhooks leave this namespace alone, as where no controller answers them; from when the API
   * server knows of it.
   */
  public Workspace withoutAdmission() {
    client().namespaces().withName(namespace).edit(found -> new NamespaceBuilder(found).editMetadata()
        .addToLabels("gpu.partita.dev/admission", "disabled").endMetadata().build());
    await("the namespace to be left alone").atMost(PATIENCE).until(() -> !admissionConverts());
    return this;
  }

  /** Waits until the admission webhooks answer, as they soon do again when controllers were replaced. */
  public Workspace awaitAdmission() {
    await("the admission webhooks to answer").atMost(PATIENCE).until(this::admissionConverts);
    return this;
  }

  /** Whether a pod that asks in another system's way would get a claim now. */
  public boolean admissionConverts() {
    String pod =
        "{apiVersion: v1, kind: Pod, metadata: {name: asking}, spec: {containers: [{name: main, image: none, resources: {limits: {nvidia.com/gpu: 1}}}]}}";
    return !((Pod) dryRun(pod)).getSpec().getResourceClaims().isEmpty();
  }

  /** What would become of an object if it were created. */
  public HasMetadata dryRun(String yaml) {
    return client().load(stream(yaml)).inNamespace(namespace).dryRun().create().getFirst();
  }

  /**
   * Has the API server judge one object, unknown fields included, whether or not there is one of its name; nothing is
   * made.
   */
  public void dryRunStrictly(String yaml) {
    HasMetadata object = client().load(stream(yaml)).items().getFirst();
    var resource = client().resource(object);
    boolean namespaced = object instanceof Namespaced && !object.getApiVersion().startsWith("gpu.partita.dev/");
    (namespaced ? resource.inNamespace(namespace) : resource)
        .dryRun()
        .fieldValidation(FieldValidateable.Validation.STRICT)
        .fieldManager("dry-run")
        .forceConflicts()
        .serverSideApply();
  }

  /** Creates objects from YAML documents. */
  public List<HasMetadata> create(String yaml) {
    return client().load(stream(yaml)).inNamespace(namespace).create();
  }

  /** Creates an object that belongs to no namespace, and is deleted with this one. */
  public void createInCluster(String yaml) {
    HasMetadata object = client().load(stream(yaml)).items().getFirst();
    cleanup.undo(object.getKind() + " " + object.getMetadata().getName(), () -> client().resource(object).delete());
    client().resource(object).create();
  }

  /** A class of another driver's devices, of which there are none; its name. */
  public String deviceClassOfNics() {
    return deviceClassOf("nic.example");
  }

  /** A class of all devices of a driver, which bears this namespace's name; its name. */
  public String deviceClassOf(String driver) {
    createInCluster(
        """
            apiVersion: resource.k8s.io/v1
            kind: DeviceClass
            metadata: {name: %s}
            spec: {selectors: [{cel: {expression: "device.driver == '%s'"}}]}
            """
            .formatted(namespace, driver));
    return namespace;
  }

  /** A token of an account that may read metrics, as a Prometheus has one. */
  public String metricsReader() {
    createInCluster("{apiVersion: v1, kind: ServiceAccount, metadata: {name: prometheus, namespace: %s}}"
        .formatted(namespace));
    createInCluster(
        """
            apiVersion: rbac.authorization.k8s.io/v1
            kind: ClusterRoleBinding
            metadata: {name: %s-prometheus}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: partita-metrics-reader}
            subjects: [{kind: ServiceAccount, name: prometheus, namespace: %s}]
            """
            .formatted(namespace, namespace));
    try (KubernetesClient reader = TokenClient.of(client(), namespace, "prometheus")) {
      return reader.getConfiguration().getOauthToken();
    }
  }

  /** A class of pods of this priority, which bears this namespace's name; its name. */
  public String priorityClass(String name, int value) {
    String unique = namespace + "-" + name;
    createInCluster("{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: %s}, value: %d}"
        .formatted(unique, value));
    return unique;
  }

  /** A claim of its own, which pods share by its name. */
  public ClaimUnderTest claim(String name, Ask ask) {
    return claimOfSpec(name, ask.spec());
  }

  /** A claim from the YAML of its spec. */
  public ClaimUnderTest claimOfSpec(String name, String spec) {
    create(claimYaml(name, spec));
    return new ClaimUnderTest(this, name);
  }

  /** All claims of the namespace. */
  public List<ResourceClaim> claims() {
    return client().resources(ResourceClaim.class).inNamespace(namespace).list().getItems();
  }

  /** What would become of a claim if it were created. */
  public HasMetadata dryRun(String name, Ask ask) {
    return dryRun(claimYaml(name, ask.spec()));
  }

  private static String claimYaml(String name, String spec) {
    return "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s}, spec: %s}".formatted(name,
        spec);
  }

  /** A pod with a claim of its own, made from a template. */
  public PodUnderTest pod(String name, String node, Ask ask, String script) {
    return pod(name, PodTraits.on(node), ask, script);
  }

  /** The same with more said of the pod. */
  public PodUnderTest pod(String name, PodTraits traits, Ask ask, String script) {
    return pod(RealCluster.PROBE_IMAGE, name, traits, ask, script);
  }

  /** The same with another image, which must have a shell. */
  public PodUnderTest podOf(String image, String name, String node, Ask ask, String script) {
    return pod(image, name, PodTraits.on(node), ask, script);
  }

  private PodUnderTest pod(String image, String name, PodTraits traits, Ask ask, String script) {
    template(name, ask);
    return pod(image, name, traits, "{name: gpu, resourceClaimTemplateName: %s}".formatted(name), CLAIMING, script);
  }

  /** A template of claims. */
  public void template(String name, Ask ask) {
    create("{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: %s}, spec: {spec: %s}}"
        .formatted(name, ask.spec()));
  }

  /** A pod that names a template, as others may. */
  public PodUnderTest podOfTemplate(String template, String name, PodTraits traits, String script) {
    return pod(RealCluster.PROBE_IMAGE, name, traits, "{name: gpu, resourceClaimTemplateName: %s}".formatted(template),
        CLAIMING, script);
  }

  /** A pod that uses an existing claim. */
  public PodUnderTest podOf(ClaimUnderTest claim, String name, String node, String script) {
    return podOf(claim, name, PodTraits.on(node), script);
  }

  /** The same with more said of the pod. */
  public PodUnderTest podOf(ClaimUnderTest claim, String name, PodTraits traits, String script) {
    return pod(RealCluster.PROBE_IMAGE, name, traits, "{name: gpu, resourceClaimName: %s}".formatted(claim.name()),
        CLAIMING, script);
  }

  /** A pod without a claim. */
  public PodUnderTest podWithoutClaim(String name, PodTraits traits, String script) {
    return pod(RealCluster.PROBE_IMAGE, name, traits, "", "{}", script);
  }

  /**
   * A pod that asks for GPUs in another system's way.
   *
   * @param limits as a YAML flow mapping
   */
  public PodUnderTest podAsking(String name, String node, String limits, String script) {
    return pod(RealCluster.PROBE_IMAGE, name, PodTraits.on(node), "", "{limits: " + limits + "}", script);
  }

  /** Starts a pod that asks for GPUs by its annotations. */
  public PodUnderTest podAskingByAnnotations(String name, PodTraits traits, String script) {
    return pod(RealCluster.PROBE_IMAGE, name, traits, "", "{}", script);
  }

  /**
   * A pod as admission leaves it: with the gate, a template that need not be there yet, and the note from which it is
   * made.
   *
   * @param note JSON
   */
  public PodUnderTest convertedPod(String name, String node, String template, String note, String script) {
    PodTraits traits =
        PodTraits.on(node).annotation("gpu.partita.dev/converted-requests", note).gate(PodTraits.ALLOCATION_GATE);
    return podOfTemplate(template, name, traits, script);
  }

  private PodUnderTest pod(String image, String name, PodTraits traits, String claim, String resources, String script) {
    create(
        """
            apiVersion: v1
            kind: Pod
            metadata: {name: %s, labels: %s, annotations: %s}
            spec:
              restartPolicy: %s
              terminationGracePeriodSeconds: %d
              priorityClassName: "%s"
              schedulingGates: %s
              schedulingGroup: %s
              nodeSelector: %s
              tolerations: [{key: %s, operator: Exists}]
              resourceClaims: [%s]
              containers:
              - name: main
                image: %s
                imagePullPolicy: IfNotPresent
                command: [sh, -c]
                args:
                - |
            %s
                ports: %s
                resources: %s
            """
            .formatted(
                name,
                json(traits.labels()),
                json(traits.annotations()),
                traits.restartPolicy(),
                traits.graceSeconds(),
                traits.priorityClass(),
                json(traits.gates().stream().map(gate -> Map.of("name", gate)).toList()),
                traits.podGroup().isEmpty() ? "null" : json(Map.of("podGroupName", traits.podGroup())),
                json(traits.nodes()),
                PaperNode.TAINT,
                claim,
                image,
                script.strip().indent(6),
                json(traits.hostPorts().stream().map(port -> Map.of("containerPort", port, "hostPort", port)).toList()),
                resources));
    return new PodUnderTest(this, name);
  }

  /** A pod that was made otherwise, such as by {@link #create}. */
  public PodUnderTest podNamed(String name) {
    return new PodUnderTest(this, name);
  }

  /** What was said of the objects here. */
  public List<EventLine> events() {
    return client().v1().events().inNamespace(namespace).list().getItems().stream()
        .map(event -> new EventLine(event.getInvolvedObject().getKind(),
            String.valueOf(event.getInvolvedObject().getName()), String.valueOf(event.getReason()),
            String.valueOf(event.getMessage())))
        .toList();
  }

  /** Waits for an event. */
  public EventLine awaitEvent(String kind, String name, String reason) {
    return awaitEvent(kind, name, reason, "");
  }

  /** Waits for an event whose message holds this: what is said of an object may change. */
  public EventLine awaitEvent(String kind, String name, String reason, String part) {
    return await("an event " + reason + " on " + kind + " " + name + " that says '" + part + "'")
        .atMost(PATIENCE)
        .until(
            () -> events().stream()
                .filter(e -> e.kind().equals(kind) && e.name().equals(name) && e.reason().equals(reason)
                    && e.message().contains(part))
                .findFirst(),
            java.util.Optional::isPresent)
        .orElseThrow();
  }

  /** All that whoever may read this namespace learns of its pods and claims: themselves, and what is said of them. */
  public String everythingSaid() {
    return Stream.of(
        "/api/v1/namespaces/%s/pods",
        "/apis/events.k8s.io/v1/namespaces/%s/events",
        "/apis/resource.k8s.io/v1/namespaces/%s/resourceclaims")
        .map(path -> client().raw(path.formatted(namespace)))
        .collect(Collectors.joining("\n"));
  }

  public KubernetesClient client() {
    return cluster.client();
  }

  @Override
  public void close() {
    // never by force: kubelet would not have let go of the cards when the next test gets them
    cleanup.undo("namespace " + namespace, () -> client().namespaces().withName(namespace).delete());
    cleanup.close();
  }

  private String json(Object value) {
    return client().getKubernetesSerialization().asJson(value);
  }

  private static InputStream stream(String yaml) {
    // else a flow mapping is taken for JSON
    return new ByteArrayInputStream(("---\n" + yaml).getBytes(StandardCharsets.UTF_8));
  }

  /** An event, as far as tests look at it. */
  public record EventLine(String kind, String name, String reason, String message) {}
}
