package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Makes the pods of a page that says how to use another scheduler, in a test's namespace. They run the probe in the
 * place of what the page names.
 */
final class PagePods {
  /** The page's template of claims: shares of 32 GiB. */
  static final String SHARE = "share-of-32";

  private final RealCluster cluster;
  private final Workspace workspace;
  private final PageObjects page;

  PagePods(RealCluster cluster, Workspace workspace, PageObjects page) {
    this.cluster = cluster;
    this.workspace = workspace;
    this.page = page;
  }

  /** Makes the page's template of claims. */
  void applyTemplate(Installation installation) {
    HasMetadata template = page.object(cluster.client(), "ResourceClaimTemplate");
    template.getMetadata().setNamespace(workspace.namespace());
    installation.apply(template);
  }

  /**
   * The page's first pod, not made yet, on one node and with another name.
   *
   * @param template of its claim
   */
  Pod podOf(String name, String node, String template) {
    return placed((Pod) page.object(cluster.client(), "Pod"), name, node, template);
  }

  /** The same, one of two that are a gang to Partita. */
  Pod podOfGang(String name, String node, String template) {
    Pod pod = podOf(name, node, template);
    pod.getMetadata().setAnnotations(Map.of("gpu.partita.dev/gang", name, "gpu.partita.dev/gang-size", "2"));
    return pod;
  }

  static Pod placed(Pod pod, String name, String node, String template) {
    pod.getMetadata().setName(name);
    pod.getSpec().setNodeSelector(Map.of("kubernetes.io/hostname", node));
    pod.getSpec().setTerminationGracePeriodSeconds(1L);
    pod.getSpec().getResourceClaims().getFirst().setResourceClaimTemplateName(template);
    Container container = pod.getSpec().getContainers().getFirst();
    container.setImage(RealCluster.PROBE_IMAGE);
    container.setImagePullPolicy("IfNotPresent");
    container.setCommand(List.of("sh", "-c", "partita-probe info; exec sleep 600"));
    return pod;
  }

  PodUnderTest make(Pod pod) {
    cluster.client().resource(pod).inNamespace(workspace.namespace()).create();
    return workspace.podNamed(pod.getMetadata().getName());
  }

  static List<PodUnderTest> times(int count, IntFunction<PodUnderTest> make) {
    return IntStream.range(0, count).mapToObj(make).toList();
  }

  /** Waits until a pod of the page's template runs, and holds that it has what that asks for. */
  static void hasItsShare(PodUnderTest pod) {
    pod.awaitRunning();
    assertThat(pod.claim().devices()).singleElement().satisfies(device -> {
      assertThat(device.getDevice()).endsWith("-shared");
      assertThat(device.getConsumedCapacity()).containsEntry("memory", new Quantity("32Gi"));
    });
    assertThat(pod.awaitLine("total=").log()).contains("total=" + (32L << 30));
  }

  /** Makes a template of claims with one request, of which {@code exactly} says what is asked for. */
  static void template(Workspace workspace, String name, String exactly) {
    workspace.create(
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: %s}, spec: {spec: {devices: {requests: [{name: gpu, exactly: {%s}}]}}}}"
            .formatted(name, exactly));
  }
}
