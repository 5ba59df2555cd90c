package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.HelmRelease;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** What is left when Partita is uninstalled. */
@OnRealCluster
@Isolated("it takes away what every other test needs")
class UninstallIT {
  @TempDir private Path folder = Path.of("");

  @Test
  void uninstallingStrandsNoPodAndLeavesNothingAndItCanBeInstalledAgain(RealCluster cluster, Workspace workspace)
      throws IOException {
    HelmRelease release = new HelmRelease(cluster);
    Path values = Files.writeString(folder.resolve("values.yaml"), release.values());
    String node = cluster.quietNodes().getFirst();
    PodUnderTest uses = workspace.pod("uses", node, Ask.share("3Gi"), "exec sleep infinity").awaitRunning();

    assertThatThrownBy(release::uninstall).hasMessageContaining("partita-uninstall");
    assertThat(cluster.client().batch().v1().jobs().inNamespace(RealCluster.NAMESPACE).withName("partita-uninstall")
        .getLog())
        .contains("Delete these pods first", workspace.namespace() + "/" + uses.claim().name() + " (pod uses)");
    assertThat(workspace.pod("after", node, Ask.share("1Gi"), "partita-probe alloc 256Mi").awaitLog())
        .as("of a pod after the refusal").contains("CUDA_SUCCESS");

    uses.deleteAndAwait();
    await("the pods of earlier tests to end").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(used(cluster.client())).isEmpty());
    PodUnderTest waits = workspace.pod("waits", node, Ask.share("500Gi"), "exec sleep infinity");
    workspace.awaitEvent("ResourceClaim", waits.claim().name(), "Unallocatable");
    release.uninstall();
    try {
      assertThat(waits.gates()).as("gates of a pod that waited").isEmpty();
      await("the pods of the chart to end").atMost(Workspace.PATIENCE).until(() -> cluster.client().pods()
          .inNamespace(RealCluster.NAMESPACE).withLabel("app.kubernetes.io/part-of", HelmRelease.NAME).list().getItems()
          .isEmpty());
      assertThat(traces(cluster.client())).as("what is left in the API").isEmpty();
      assertThat(ofOurFinalizers(cluster.client())).as("objects that cannot go without Partita").isEmpty();
      ClaimUnderTest claim = waits.claim();
      waits.deleteAndAwait();
      await("the claim of a pod that waited").atMost(Workspace.PATIENCE).until(() -> claim.find().isEmpty());
      assertThat(cluster.files().shell(node, "find /var/run/cdi -name '*partita*'")).as("CDI specs").isEmpty();
    } finally {
      release.install(values);
      new Controllers(cluster).awaitLeader();
      cluster.nodes().forEach(new Daemons(cluster.client())::awaitSlices);
    }
    workspace.awaitAdmission();
    release.test();
  }

  /** The claims that pods use, and since when they end, if they do. */
  private static List<String> used(KubernetesClient client) {
    return client.resources(ResourceClaim.class).inAnyNamespace().list().getItems().stream()
        .filter(claim -> claim.getStatus() != null && !claim.getStatus().getReservedFor().isEmpty())
        .map(claim -> claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName() + " by "
            + claim.getStatus().getReservedFor() + ", deleted " + claim.getMetadata().getDeletionTimestamp())
        .toList();
  }

  /**
   * Objects with a finalizer of Partita's own name. The one that its controller puts on claims is Kubernetes' own, and
   * kube-controller-manager takes it off.
   */
  private static List<String> ofOurFinalizers(KubernetesClient client) {
    return Stream.of(
        client.resources(ResourceClaim.class).inAnyNamespace().list(),
        client.resources(ResourceClaimTemplate.class).inAnyNamespace().list(),
        client.pods().inAnyNamespace().list(),
        client.nodes().list(),
        client.namespaces().list(),
        client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").list(),
        client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuQuota").inAnyNamespace().list())
        .flatMap(list -> list.getItems().stream())
        .filter(object -> object.getMetadata().getFinalizers().stream().anyMatch(name -> name.contains("partita")))
        .map(object -> object.getKind() + " " + object.getMetadata().getName() + " "
            + object.getMetadata().getFinalizers())
        .toList();
  }

  /** Objects of the whole cluster that Partita's chart or controllers make, but for custom resources. */
  private static List<String> traces(KubernetesClient client) {
    List<String> traces = new ArrayList<>();
    for (String version : List.of("v1", "apps/v1", "batch/v1", "resource.k8s.io/v1", "rbac.authorization.k8s.io/v1",
        "admissionregistration.k8s.io/v1", "coordination.k8s.io/v1", "networking.k8s.io/v1", "policy/v1",
        "scheduling.k8s.io/v1")) {
      for (APIResource kind : client.getApiResources(version).getResources()) {
        if (kind.getVerbs().contains("list")
            && !List.of("Event", "Namespace", "ResourceClaim").contains(kind.getKind())) {
          ResourceDefinitionContext context = new ResourceDefinitionContext.Builder().withGroup(group(version))
              .withVersion(version.substring(version.indexOf('/') + 1)).withKind(kind.getKind())
              .withPlural(kind.getName()).withNamespaced(kind.getNamespaced()).build();
          client.genericKubernetesResources(context).inAnyNamespace().list().getItems().stream()
              .filter(UninstallIT::isOurs)
              .forEach(object -> traces.add(kind.getKind() + " " + object.getMetadata().getName()));
        }
      }
    }
    client.resources(ResourceSlice.class).list().getItems().stream()
        .filter(slice -> "gpu.partita.dev".equals(slice.getSpec().getDriver()))
        .forEach(slice -> traces.add("ResourceSlice " + slice.getMetadata().getName()));
    return traces;
  }

  private static boolean isOurs(GenericKubernetesResource object) {
    var metadata = object.getMetadata();
    boolean isInOurNamespaces =
        metadata.getNamespace() == null || metadata.getNamespace().equals(RealCluster.NAMESPACE);
    var labels = metadata.getLabels() == null ? java.util.Map.<String, String>of() : metadata.getLabels();
    return (isInOurNamespaces && metadata.getName().contains("partita"))
        || "partita-dra-controller".equals(labels.get("app.kubernetes.io/managed-by"));
  }

  private static String group(String version) {
    return version.contains("/") ? version.substring(0, version.indexOf('/')) : "";
  }
}
