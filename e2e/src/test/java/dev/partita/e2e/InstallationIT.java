package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Controllers;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.NonDeletingOperation;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What the rules of other clusters make of our pods, by the admission plugins that hold them there. */
@OnRealCluster
class InstallationIT {
  private static final String ENFORCED = "pod-security.kubernetes.io/enforce";

  @Test
  void theControllersPodKeepsThePodSecurityStandardRestricted(RealCluster cluster, Workspace workspace) {
    PodTemplateSpec template =
        Objects.requireNonNull(
            cluster.client()
                .apps()
                .deployments()
                .inNamespace(RealCluster.NAMESPACE)
                .withName(Controllers.NAME)
                .get())
            .getSpec()
            .getTemplate();
    enforce(workspace, "restricted");
    assertThat(made(workspace, template).getSpec().getContainers()).hasSize(1);
  }

  @Test
  void thePluginsPodNeedsTheStandardPrivilegedForTheFoldersOfItsNode(RealCluster cluster, Workspace workspace) {
    PodTemplateSpec template =
        Objects.requireNonNull(
            cluster.client().apps().daemonSets().inNamespace(RealCluster.NAMESPACE).withName(Daemons.PLUGINS).get())
            .getSpec()
            .getTemplate();
    enforce(workspace, "baseline");
    assertThatThrownBy(() -> made(workspace, template)).hasMessageContaining("hostPath volumes");
    enforce(workspace, "privileged");
    assertThat(made(workspace, template).getSpec().getContainers()).hasSize(1);
  }

  /**
   * Where admission limits the priority classes of system pods, as GKE's does, a pod of one is made only if a
   * ResourceQuota covers it. That quota counts the pod here as there.
   */
  @Test
  void aQuotaCoversThePriorityClassesOfAllOurPods(RealCluster cluster) {
    await("the quota to have counted our pods")
        .atMost(Workspace.PATIENCE)
        .untilAsserted(
            () -> {
              var client = cluster.client();
              int ours = client.pods().inNamespace(RealCluster.NAMESPACE).list().getItems().size();
              var quotas = client.resourceQuotas().inNamespace(RealCluster.NAMESPACE);
              assertThat(quotas.withName("partita-priority-classes").get().getStatus().getUsed())
                  .containsEntry("pods", new Quantity(Integer.toString(ours)));
            });
  }

  /** Has a namespace held to a standard, from when the API server knows of it. */
  private static void enforce(Workspace workspace, String standard) {
    workspace.client()
        .namespaces()
        .withName(workspace.namespace())
        .edit(
            found -> new NamespaceBuilder(found).editMetadata().addToLabels(ENFORCED, standard).endMetadata().build());
    await("the API server to enforce " + standard)
        .atMost(Workspace.PATIENCE)
        .until(() -> held(workspace).equals(standard));
  }

  /** The standard that keeps a pod from seeing the processes of its node. */
  private static String held(Workspace workspace) {
    try {
      workspace.dryRun(
          "{apiVersion: v1, kind: Pod, metadata: {name: sees}, "
              + "spec: {hostPID: true, containers: [{name: a, image: b}]}}");
      return "privileged";
    } catch (KubernetesClientException refused) {
      return String.valueOf(refused.getMessage()).replaceAll("(?s).*violates PodSecurity \"([a-z]+):.*", "$1");
    }
  }

  /** As the pod's controller would make it, on trial. */
  private static Pod made(Workspace workspace, PodTemplateSpec template) {
    String account = template.getSpec().getServiceAccountName();
    workspace.client()
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(account)
                .withNamespace(workspace.namespace())
                .endMetadata()
                .build())
        .createOr(NonDeletingOperation::update);
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName("ours")
            .withNamespace(workspace.namespace())
            .endMetadata()
            .withSpec(template.getSpec())
            .build();
    return workspace.client().resource(pod).dryRun().create();
  }
}
