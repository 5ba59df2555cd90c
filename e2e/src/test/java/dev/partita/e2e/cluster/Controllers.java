package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Partita's controllers, of which one leads. */
public record Controllers(RealCluster cluster) {
  /** The name of the Deployment, of its service account and of the Lease. */
  public static final String NAME = "partita-dra-controller";

  static final Map<String, String> LABELS = Map.of("app.kubernetes.io/name", "dra-controller");

  /** Those of the Deployment that are ready. */
  public List<Pod> ready() {
    return Daemons.ready(client(), LABELS);
  }

  private List<Pod> all() {
    return client().pods().inNamespace(RealCluster.NAMESPACE).withLabels(LABELS).list().getItems();
  }

  /** The one that holds the Lease, once it does and is ready, and a signal would reach it at once. */
  public Pod awaitLeader() {
    Pod leader =
        await("a controller that leads")
            .atMost(Workspace.PATIENCE)
            .until(() -> ready().stream().filter(pod -> pod.getMetadata().getName().equals(holder())).findFirst(),
                Optional::isPresent)
            .orElseThrow();
    cluster.files().shell(leader.getSpec().getNodeName(), "true"); // what sends signals there is started now
    return leader;
  }

  /** Waits until another one than this leads. */
  public void awaitAnotherLeader(Pod leader) {
    await("another leader than " + leader.getMetadata().getName())
        .atMost(Workspace.PATIENCE)
        .until(this::holder, holder -> !holder.isEmpty() && !holder.equals(leader.getMetadata().getName()));
  }

  /**
   * One more, outside the Deployment, which leads by a Lease of this name whatever the others do; to be deleted by the
   * caller.
   */
  public Resource<Pod> another(String name) {
    PodTemplateSpec template =
        Objects.requireNonNull(client().apps().deployments().inNamespace(RealCluster.NAMESPACE).withName(NAME).get())
            .getSpec().getTemplate();
    return client()
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withNamespace(RealCluster.NAMESPACE)
                .withName(name)
                .endMetadata()
                .withNewSpecLike(template.getSpec())
                .editFirstContainer()
                .addNewEnv()
                .withName("PARTITA_LEASE_NAME")
                .withValue(name)
                .endEnv()
                .endContainer()
                .endSpec()
                .build());
  }

  public Resource<Lease> lease(String name) {
    return client().leases().inNamespace(RealCluster.NAMESPACE).withName(name);
  }

  /** Ends its process by SIGKILL; kubelet starts it anew in the same pod. */
  public void kill(Pod pod) {
    cluster.files().signal(pod.getSpec().getNodeName(), pod.getMetadata().getUid(), "KILL");
  }

  /** Lets its process do nothing, by SIGSTOP. After about a minute kubelet takes it for dead. */
  public void stop(Pod pod) {
    cluster.files().signal(pod.getSpec().getNodeName(), pod.getMetadata().getUid(), "STOP");
  }

  /** Lets it go on. */
  public void goOn(Pod pod) {
    cluster.files().signal(pod.getSpec().getNodeName(), pod.getMetadata().getUid(), "CONT");
  }

  /** Has so many in the Deployment, and waits until they are ready and the others gone. */
  public void scale(int replicas) {
    client().apps().deployments().inNamespace(RealCluster.NAMESPACE).withName(NAME).scale(replicas);
    await(replicas + " controllers").atMost(Workspace.PATIENCE)
        .until(() -> ready().size() == replicas && all().size() == replicas);
  }

  /** Has each replaced by a new one, as an upgrade does; does not wait. */
  public void replaceAll() {
    client().apps().deployments().inNamespace(RealCluster.NAMESPACE).withName(NAME).rolling().restart();
  }

  /** Starts them anew with this in their environment, or without it, and waits until one of them leads. */
  public void set(String variable, Optional<String> value) {
    client().apps().deployments().inNamespace(RealCluster.NAMESPACE).withName(NAME)
        .edit(deployment -> {
          DeploymentBuilder changed = new DeploymentBuilder(deployment);
          var container = changed.editSpec().editTemplate().editSpec().editFirstContainer();
          container.removeMatchingFromEnv(env -> variable.equals(env.getName()));
          value.ifPresent(set -> container.addNewEnv().withName(variable).withValue(set).endEnv());
          return container.endContainer().endSpec().endTemplate().endSpec().build();
        });
    await("controllers with another setting").atMost(Workspace.PATIENCE).until(() -> {
      Deployment deployment = Objects.requireNonNull(
          client().apps().deployments().inNamespace(RealCluster.NAMESPACE).withName(NAME).get());
      var status = deployment.getStatus();
      return deployment.getMetadata().getGeneration().equals(status.getObservedGeneration())
          && deployment.getSpec().getReplicas().equals(status.getUpdatedReplicas())
          && ready().size() == deployment.getSpec().getReplicas() && all().size() == ready().size();
    });
    awaitLeader();
  }

  private String holder() {
    return Optional.ofNullable(lease(NAME).get()).map(lease -> lease.getSpec().getHolderIdentity()).orElse("");
  }

  private KubernetesClient client() {
    return cluster.client();
  }
}
