package dev.partita.cli.demo.cluster;

import dev.partita.api.Driver;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.demo.container.ContainerRuntime;
import dev.partita.cli.demo.controlplane.ApiServer;
import dev.partita.cli.demo.controlplane.ClaimLifecycle;
import dev.partita.cli.demo.controlplane.Conflicts;
import dev.partita.cli.demo.controlplane.DemoScheduler;
import dev.partita.controller.ControllerSettings;
import dev.partita.controller.DraController;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A cluster in this process: an API server, the shipped controller, and nodes with the shipped plugin. */
public final class DemoCluster implements AutoCloseable {
  private final Opened opened = new Opened();
  private final ApiServer api;
  private final KubernetesClient client;
  private final ClaimLifecycle claims;
  private final DemoScheduler scheduler;
  private final List<SimulatedNode> nodes = new ArrayList<>();

  /** Starts the API server. */
  public DemoCluster() {
    api = opened.add(ApiServer.start());
    client = opened.add(api.client());
    claims = new ClaimLifecycle(client);
    scheduler = new DemoScheduler(client);
  }

  /** Installs what the Helm chart would, and starts the controller; nodes come by {@link #addNode}. */
  public void start(Path definitions) throws Exception {
    api.installDefinitions(definitions);
    KubernetesClient controllerClient = opened.add(api.client());
    opened.add(DraController.start(ControllerSettings.standalone("demo-controller"), controllerClient));
  }

  public void addNode(String name, String cards, Path folder, Distribution distribution, ContainerRuntime runtime)
      throws Exception {
    nodes.add(opened.add(new SimulatedNode(name, cards, new NodeFolders(folder), distribution, runtime, api)));
  }

  public String url() {
    return api.url();
  }

  public KubernetesClient client() {
    return client;
  }

  public ClaimLifecycle claims() {
    return claims;
  }

  public List<SimulatedNode> nodes() {
    return List.copyOf(nodes);
  }

  SimulatedNode node(String name) {
    return nodes.stream().filter(node -> node.name().equals(name)).findFirst().orElseThrow();
  }

  /** Creates a pod with its claim template, as {@code kubectl apply} would, and the claim for it. */
  public Pod deploy(Workload workload) {
    client.resource(workload.template()).create();
    return claims.createClaims(client.resource(workload.pod()).create());
  }

  /** Waits until a pod's claim is allocated and the pod bound to its node. */
  public Optional<BoundPod> bind(Workload workload, Pod pod, Duration timeout) throws Exception {
    return Waiting.forAnswer(timeout, () -> scheduler.tryToBind(pod, claims.claimsOf(pod)))
        .map(bound -> new BoundPod(workload, bound, claimOf(bound), node(bound.getSpec().getNodeName())));
  }

  /** Says how a pod is, as its kubelet does. */
  public void setPhase(Pod pod, String phase) {
    Conflicts.editStatus(client, pod,
        current -> {
          current.getStatus().setPhase(phase);
          return current;
        });
  }

  public ResourceClaim claimOf(Pod pod) {
    return claims.claimsOf(pod).values().iterator().next();
  }

  /** The slices of our driver. */
  public List<ResourceSlice> slices() {
    return client.resources(ResourceSlice.class).list().getItems().stream()
        .filter(slice -> slice.getSpec().getDriver().equals(Driver.NAME))
        .toList();
  }

  public List<ResourceClaim> allClaims() {
    return client.resources(ResourceClaim.class).inAnyNamespace().list().getItems();
  }

  /** The message of the newest event with a reason about a claim. */
  public Optional<String> eventNote(ResourceClaim claim, String reason) {
    List<Event> events =
        client.events().v1().events().inNamespace(claim.getMetadata().getNamespace()).list().getItems();
    return events.stream()
        .filter(event -> reason.equals(event.getReason()))
        .filter(event -> claim.getMetadata().getName().equals(event.getRegarding().getName()))
        .map(Event::getNote)
        .reduce((older, newer) -> newer);
  }

  @Override
  public void close() {
    opened.close();
  }
}
