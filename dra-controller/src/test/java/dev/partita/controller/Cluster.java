package dev.partita.controller;

import dev.partita.api.DeviceMode;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.GpuQuota;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.ControllerClient;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import dev.partita.serving.access.MockApiServerExtension;
import dev.partita.serving.metrics.MetricsReaders;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** An API server in this process, a controller, and what a user would do with them. */
public final class Cluster implements AutoCloseable {
  /** The mock server tells of every request at INFO. */
  private static final Logger REQUESTS = Logger.getLogger("io.fabric8.mockwebserver");

  static {
    REQUESTS.setLevel(Level.WARNING);
  }

  final ServerRules rules = new ServerRules();
  private final KubernetesMockServer server;
  public final KubernetesClient client;
  private KubernetesClient asInMain;
  private final List<DraController> controllers = new java.util.ArrayList<>();
  private final List<KubernetesClient> clients = new java.util.ArrayList<>();

  private Cluster() {
    // without TLS: for that each would make an RSA key
    server =
        new KubernetesMockServer(
            new Context(), new io.fabric8.mockwebserver.MockWebServer(), new HashMap<>(), rules, false);
    server.init();
    server.expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(GpuNode.class));
    server.expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(GpuQuota.class));
    // The mock may stand still for a minute: see awaitQuiet. Nothing is asked twice for that.
    try (KubernetesClient any = server.createClient()) {
      ConfigBuilder config = new ConfigBuilder(any.getConfiguration()).withRequestTimeout(90_000);
      client = new KubernetesClientBuilder().withConfig(config.build()).build();
      asInMain =
          ControllerClient.of(config.withRequestRetryBackoffLimit(0).withUserAgent(ServerRules.CONTROLLER).build());
    }
  }

  public static Cluster empty() {
    return new Cluster();
  }

  /** Starts a controller that leads, whoever else does. */
  Cluster start() {
    return start(Clock.systemUTC());
  }

  Cluster start(Clock clock) {
    return start(settings(ControllerSettings.DEFAULT_TEMPLATE_GRACE), clock);
  }

  /** Starts a controller that serves metrics. */
  Cluster startMeasured() {
    return start(
        new ControllerSettings("measured", Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(),
            ControllerSettings.DEFAULT_TEMPLATE_GRACE, Optional.empty(),
            Optional.of(new ControllerSettings.MetricsEndpoint(0, MetricsReaders.TOKEN)), false, 0),
        Clock.systemUTC());
  }

  /** Starts a controller in a cluster whose nodes an autoscaler adds. */
  Cluster startAutoscaled() {
    return start(
        new ControllerSettings("autoscaled", Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(),
            ControllerSettings.DEFAULT_TEMPLATE_GRACE, Optional.empty(), Optional.empty(), true, 0),
        Clock.systemUTC());
  }

  /** Starts a controller that serves the web page. */
  Cluster startWithPage() {
    return startWithPage(Clock.systemUTC());
  }

  Cluster startWithPage(Clock clock) {
    return start(
        new ControllerSettings("shown-" + controllers.size(), Optional.empty(), Optional.empty(), Optional.empty(),
            Optional.of(new ControllerSettings.WebPage(0, "partita")), ControllerSettings.DEFAULT_TEMPLATE_GRACE,
            Optional.empty(), Optional.empty(), false, 0),
        clock);
  }

  /** Starts a controller that leads, whoever else does, and that {@link ServerRules#cutOff} knows by its name. */
  DraController start(String identity) {
    return start(identity, Optional.empty());
  }

  /** The same, which leads as long as it holds a lease, if there is an election. */
  DraController start(String identity, Optional<ControllerSettings.Election> election) {
    KubernetesClient own = ControllerClient.of(new ConfigBuilder(asInMain.getConfiguration())
        .withUserAgent(ServerRules.CONTROLLER + "/" + identity).build());
    clients.add(own);
    ControllerSettings settings = new ControllerSettings(identity, election, Optional.empty(), Optional.of(0),
        Optional.empty(), ControllerSettings.DEFAULT_TEMPLATE_GRACE, Optional.empty(), Optional.empty(), false, 0);
    try {
      DraController controller = DraController.start(settings, own);
      controllers.add(controller);
      return controller;
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** Stops one of several controllers. */
  void stop(DraController controller) {
    awaitQuiet();
    controller.close();
    controllers.remove(controller);
  }

  /** Where the controller that was started last serves the web page. */
  int webPort() {
    return controllers.getLast().webPort().orElseThrow();
  }

  /** Where the controller that was started first serves metrics. */
  int metricsPort() {
    return controllers.getFirst().metricsPort().orElseThrow();
  }

  /** The same, which keeps templates that nobody names for so long. */
  Cluster start(Duration templateGrace) {
    return start(settings(templateGrace), Clock.systemUTC());
  }

  /** The same, whose threads do this before each of their requests. */
  Cluster start(Consumer<HttpRequest> before) {
    controllersClient(before);
    return start();
  }

  /** The same, which hears of its requests only after this has seen what they were answered. */
  Cluster startHearing(Consumer<HttpRequest> answered) {
    intercept(
        new Interceptor() {
          @Override
          public void after(HttpRequest request, HttpResponse<?> response, AsyncBody.Consumer<List<ByteBuffer>> body) {
            answered.accept(request);
          }
        });
    return start();
  }

  private void intercept(Interceptor interceptor) {
    asInMain.close();
    asInMain =
        new KubernetesClientBuilder()
            .withConfig(asInMain.getConfiguration())
            .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", interceptor))
            .build();
  }

  private ControllerSettings settings(Duration templateGrace) {
    return new ControllerSettings("test-" + controllers.size(), Optional.empty(), Optional.empty(), Optional.of(0),
        Optional.empty(),
        templateGrace, Optional.empty(), Optional.empty(), false, 0);
  }

  private Cluster start(ControllerSettings settings, Clock clock) {
    try {
      controllers.add(DraController.start(settings, asInMain, clock));
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    return this;
  }

  /**
   * Waits until controllers know of the classes that they make when they start, and of these nodes' slices: a pod that
   * comes before is told that they are missing.
   */
  void awaitOffered(String... nodes) {
    for (DraController controller : controllers) {
      ClusterView view = controller.view();
      eventually().until(() -> view.deviceClass("gpu.partita.dev") != null
          && view.deviceClass("whole.gpu.partita.dev") != null && Stream.of(nodes).allMatch(view::isPublished));
    }
  }

  /** As controllers have one, which is closed with this. */
  KubernetesClient controllersClient() {
    return asInMain;
  }

  /** The same, whose threads do this before each of their requests. */
  KubernetesClient controllersClient(Consumer<HttpRequest> before) {
    intercept(
        new Interceptor() {
          @Override
          public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            before.accept(request);
          }
        });
    return asInMain;
  }

  /** Where the controller that was started first answers questions. */
  int explainPort() {
    return controllers.getFirst().explainPort().orElseThrow();
  }

  /** Before anything is closed that watches: see {@link ServerRules#awaitQuiet}. */
  public void awaitQuiet() {
    rules.awaitQuiet();
  }

  void stopControllers() {
    awaitQuiet();
    controllers.forEach(DraController::close);
    controllers.clear();
    clients.forEach(KubernetesClient::close);
    clients.clear();
  }

  /** Has the tests' namespace carry a label, by which quotas select it. */
  void labelNamespace(String key, String value) {
    client.resource(new NamespaceBuilder().withNewMetadata().withName("default").addToLabels(key, value).endMetadata()
        .build()).create();
  }

  public void add(GpuNode gpuNode) {
    String name = gpuNode.getMetadata().getName();
    client.resource(new NodeBuilder().withNewMetadata().withName(name).endMetadata().withNewSpec().endSpec().build())
        .create();
    var status = gpuNode.getStatus();
    GpuNode made = client.resource(gpuNode).create();
    made.setStatus(status);
    client.resource(made).updateStatus();
  }

  public ResourceClaim claim(String name, String className, Map<String, String> capacity) {
    return claim(name, className, capacity, Map.of());
  }

  /** A claim with these fields in its opaque config; without config if there are none. */
  ResourceClaim claim(String name, String className, Map<String, String> capacity, Map<String, Object> config) {
    return claim(new ClaimForm(name, className).capacity(capacity).config(config));
  }

  ResourceClaim claim(ClaimForm form) {
    return client.resource(form.claim()).create();
  }

  public Pod pod(String name, String... claims) {
    return gatedPod(name, List.of(), claims);
  }

  /** A pod that kube-scheduler does not look at as long as it has these gates. */
  Pod gatedPod(String name, List<String> gates, String... claims) {
    PodBuilder pod =
        new PodBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata().withNewSpec()
            .endSpec();
    gates.forEach(gate -> pod.editSpec().addNewSchedulingGate(gate).endSpec());
    for (String claim : claims) {
      pod.editSpec().addNewResourceClaim().withName(claim).withResourceClaimName(claim).endResourceClaim().endSpec();
    }
    return client.resource(pod.build()).create();
  }

  /** What whoever takes a gate off leaves. */
  void setGates(String pod, String... gates) {
    String left = List.of(gates).stream().map("{\"name\": \"%s\"}"::formatted).collect(Collectors.joining(", "));
    client.pods().inNamespace("default").withName(pod).patch(PatchContext.of(PatchType.JSON), // whatever else changes
        "[{\"op\": \"replace\", \"path\": \"/spec/schedulingGates\", \"value\": [" + left + "]}]");
  }

  List<String> gates(String pod) {
    return client.pods().inNamespace("default").withName(pod).get().getSpec().getSchedulingGates().stream()
        .map(gate -> gate.getName()).toList();
  }

  /** What kube-scheduler does when the pod is bound. */
  void reserve(String claim, String pod) {
    client.resource(new ResourceClaimBuilder(read(claim)).editStatus().addNewReservedFor(null, pod, "pods", pod)
        .endStatus().build()).updateStatus();
  }

  /** UIDs. */
  List<String> reservedFor(String claim) {
    return read(claim).getStatus().getReservedFor().stream().map(ResourceClaimConsumerReference::getUid).toList();
  }

  /** A pod that has a card to itself, by a claim of its own name. */
  void holdWholeCard(String name) {
    claim(name, "whole.gpu.partita.dev", Map.of());
    pod(name, name);
    result(name);
    reserve(name, name);
  }

  /** The pod goes, and with it what its claim of the same name has. */
  void release(String name) {
    client.pods().inNamespace("default").withName(name).delete();
    deallocate(name);
  }

  /** What kube-scheduler does, and then kubelet. */
  void bindAndRun(String name, String node) {
    bind(name, node);
    phase(name, "Running");
  }

  /** Binds the pod, whatever the controller writes into it at the same time. */
  private void bind(String name, String node) {
    var pods = client.pods().inNamespace("default").withName(name);
    eventually().ignoreExceptionsMatching(ApiEdge::isConflict).until(
        () -> pods.edit(pod -> new PodBuilder(pod).editSpec().withNodeName(node).endSpec().build()), bound -> true);
  }

  private void phase(String name, String phase) {
    var pods = client.pods().inNamespace("default").withName(name);
    eventually().ignoreExceptionsMatching(ApiEdge::isConflict).until(
        () -> pods.editStatus(pod -> new PodBuilder(pod).editOrNewStatus().withPhase(phase).endStatus().build()),
        written -> true);
  }

  /**
   * What kube-scheduler does with a pod that has got its claim of the same name: it reserves the claim and binds it.
   */
  void reserveAndBind(String name, String node) {
    result(name);
    var pods = client.pods().inNamespace("default").withName(name);
    String uid = pods.get().getMetadata().getUid();
    client.resources(ResourceClaim.class).inNamespace("default").withName(name).editStatus(
        claim -> new ResourceClaimBuilder(claim).editStatus().addNewReservedFor(null, name, "pods", uid).endStatus()
            .build());
    bind(name, node);
  }

  /** What kube-scheduler does, and then kubelet when the pod has run. */
  void bindAndFinish(String name, String node) {
    bind(name, node);
    phase(name, "Succeeded");
    awaitShown(name, "Succeeded");
  }

  /** What follows is seen by controllers after that: they watch each kind of object by itself. */
  private void awaitShown(String pod, String phase) {
    ObjectKey key = new ObjectKey("default", pod);
    for (DraController controller : controllers) {
      eventually().until(() -> Optional.ofNullable(controller.view().pod(key)).map(Pod::getStatus)
          .filter(status -> phase.equals(status.getPhase())).isPresent());
    }
  }

  /** Controllers see that the pod is gone. */
  void awaitGone(String pod) {
    ObjectKey key = new ObjectKey("default", pod);
    for (DraController controller : controllers) {
      eventually().until(() -> controller.view().pod(key) == null);
    }
  }

  /**
   * What kube-controller-manager does when the claim is no longer used, and kube-scheduler when the pod fits no node.
   */
  void deallocate(String claim) {
    eventually().ignoreExceptionsMatching(ApiEdge::isConflict).until(() -> client
        .resource(new ResourceClaimBuilder(read(claim)).editStatus().withAllocation(null).withReservedFor(List.of())
            .endStatus().build())
        .updateStatus(), written -> true);
  }

  /** The claim goes at once, whoever uses it. */
  void deleteWhateverProtectsIt(String claim) {
    client.resource(new ResourceClaimBuilder(read(claim)).editMetadata().withFinalizers(List.of()).endMetadata()
        .build()).update();
    client.resource(read(claim)).delete();
  }

  /**
   * Makes the pod of a plugin, or changes whether it is ready.
   *
   * @return its UID
   */
  String pluginPod(String ready) {
    return client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName("plugin")
                .withNamespace("partita")
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .addNewCondition()
                .withType("Ready")
                .withStatus(ready)
                .endCondition()
                .endStatus()
                .build())
        .createOr(existing -> existing.updateStatus())
        .getMetadata()
        .getUid();
  }

  ResourceClaim read(String claim) {
    return Objects.requireNonNull(client.resources(ResourceClaim.class).inNamespace("default").withName(claim).get(),
        claim);
  }

  public boolean isAllocated(String claim) {
    ResourceClaim now = read(claim);
    return now.getStatus() != null && now.getStatus().getAllocation() != null;
  }

  DeviceRequestAllocationResult result(String claim) {
    eventually().until(() -> isAllocated(claim));
    return read(claim).getStatus().getAllocation().getDevices().getResults().getFirst();
  }

  List<ResourceSlice> slices() {
    return client.resources(ResourceSlice.class).list().getItems();
  }

  List<Event> events(String claim, String reason) {
    return client.resources(Event.class).inNamespace("default").list().getItems().stream()
        .filter(event -> claim.equals(event.getRegarding().getName()) && reason.equals(event.getReason()))
        .toList();
  }

  /** The claims on which there is an event of that reason. */
  Set<String> told(String reason) {
    return client.resources(Event.class).inNamespace("default").list().getItems().stream()
        .filter(event -> reason.equals(event.getReason())).map(event -> event.getRegarding().getName())
        .collect(Collectors.toCollection(HashSet::new));
  }

  /** The claims that are allocated. */
  Set<String> allocated() {
    return client.resources(ResourceClaim.class).inNamespace("default").list().getItems().stream()
        .filter(AllocatedClaim::isAllocated).map(claim -> claim.getMetadata().getName())
        .collect(Collectors.toSet());
  }

  /** The one event of that reason on the claim, once it is there. */
  String note(String claim, String reason) {
    // another note replaces the event
    return eventually().until(() -> events(claim, reason), found -> found.size() == 1).getFirst().getNote();
  }

  public static ConditionFactory eventually() {
    return Awaitility.await().atMost(Duration.ofSeconds(40)).pollInterval(Duration.ofMillis(20));
  }

  static boolean isShared(DeviceRequestAllocationResult result) {
    return result.getDevice().endsWith("-" + DeviceMode.SHARED.attributeValue());
  }

  @Override
  public void close() {
    stopControllers();
    client.close();
    asInMain.close();
    MockApiServerExtension.end(server);
  }
}
