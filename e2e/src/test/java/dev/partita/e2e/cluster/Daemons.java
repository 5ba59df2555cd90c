package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Partita's own pods, and what they publish. */
public record Daemons(KubernetesClient client) {
  /** The name of the plugins' DaemonSet and of their service account. */
  public static final String PLUGINS = "partita-kubelet-plugin";

  private static final Map<String, String> PLUGIN = Map.of("app.kubernetes.io/name", "kubelet-plugin");
  private static final Map<String, String> CONTROLLER = Map.of("app.kubernetes.io/name", "dra-controller");

  /** The plugin of a node; empty while it has none that is ready. */
  public Optional<Pod> plugin(String node) {
    return ready(client, PLUGIN).stream().filter(pod -> node.equals(pod.getSpec().getNodeName())).findFirst();
  }

  public Pod awaitPlugin(String node) {
    return await("the plugin of " + node).atMost(Workspace.PATIENCE).until(() -> plugin(node), Optional::isPresent)
        .orElseThrow();
  }

  /** Ends a node's plugin as by SIGKILL. */
  public void killPlugin(String node) {
    kill(awaitPlugin(node));
  }

  /** Ends a node's plugin and waits for its successor. */
  public Pod replacePlugin(String node) {
    String before = awaitPlugin(node).getMetadata().getUid();
    killPlugin(node);
    return await("another plugin on " + node)
        .atMost(Workspace.PATIENCE)
        .until(() -> plugin(node).filter(pod -> !pod.getMetadata().getUid().equals(before)), Optional::isPresent)
        .orElseThrow();
  }

  /** UIDs of all plugins' pods, ready or not. */
  public List<String> pluginUids() {
    return client.pods().inNamespace(RealCluster.NAMESPACE).withLabels(PLUGIN).list().getItems().stream()
        .map(pod -> pod.getMetadata().getUid())
        .toList();
  }

  /** Whether none of these plugins is left, and as many others are ready. */
  public boolean haveBeenReplaced(List<String> former) {
    return ready(client, PLUGIN).size() == former.size() && pluginUids().stream().noneMatch(former::contains);
  }

  /** Any of the controller's pods that is ready. */
  public Pod awaitController() {
    return await("a controller").atMost(Workspace.PATIENCE)
        .until(() -> ready(client, CONTROLLER).stream().findFirst(), Optional::isPresent).orElseThrow();
  }

  public void killControllers() {
    client.pods().inNamespace(RealCluster.NAMESPACE).withLabels(CONTROLLER).list().getItems().forEach(this::kill);
  }

  /** What our pods have logged until now, by pod; none of those that have not started yet or are gone. */
  public Map<String, String> logs() {
    Map<String, String> logs = new TreeMap<>();
    for (Pod pod : client.pods().inNamespace(RealCluster.NAMESPACE).list().getItems()) {
      try {
        logs.put(pod.getMetadata().getName(), client.pods().resource(pod).getLog());
      } catch (KubernetesClientException e) {
        if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND && e.getCode() != HttpURLConnection.HTTP_BAD_REQUEST) {
          throw e;
        }
      }
    }
    return logs;
  }

  /** The slices of a node's cards. */
  public List<ResourceSlice> slices(String node) {
    return client.resources(ResourceSlice.class).list().getItems().stream()
        .filter(slice -> "gpu.partita.dev".equals(slice.getSpec().getDriver())
            && node.equals(slice.getSpec().getNodeName()))
        .toList();
  }

  public List<ResourceSlice> awaitSlices(String node) {
    return await("slices of " + node).atMost(Workspace.PATIENCE).until(() -> slices(node), slices -> !slices.isEmpty());
  }

  /** Waits until nobody has a card of the node: what the test before gave back may still be on its way. */
  public void awaitFreeCards(String node) {
    await("all cards of " + node + " to be free").atMost(Workspace.PATIENCE).until(() -> claimsOn(node), List::isEmpty);
  }

  private List<String> claimsOn(String node) {
    return client.resources(ResourceClaim.class).inAnyNamespace().list().getItems().stream()
        .filter(claim -> claim.getStatus() != null && claim.getStatus().getAllocation() != null)
        .filter(claim -> claim.getStatus().getAllocation().getDevices().getResults().stream()
            .anyMatch(result -> result.getPool().equals(node + "/gpu")))
        .map(claim -> claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName())
        .toList();
  }

  private void kill(Pod pod) {
    client.pods().resource(pod).withGracePeriod(0).delete();
  }

  static List<Pod> ready(KubernetesClient client, Map<String, String> labels) {
    return client.pods().inNamespace(RealCluster.NAMESPACE).withLabels(labels).list().getItems().stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
        .filter(pod -> pod.getStatus().getConditions().stream()
            .anyMatch(c -> "Ready".equals(c.getType()) && "True".equals(c.getStatus())))
        .toList();
  }
}
