package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Kueue on a lab, installed by its own manifests; closing it takes away all of it. */
final class Kueue implements AutoCloseable {
  private static final String IMAGE = "localhost/partita-e2e/kueue:1";
  private static final String NAMESPACE = "kueue-system";
  private static final String CONFIG = "controller_manager_config.yaml";
  private static final String API = "kueue.x-k8s.io/v1beta2";
  private static final TypeReference<Map<String, Object>> FIELDS = new TypeReference<>() {};

  private final RealCluster cluster;
  private final Workspace workspace;
  private final Installation installation;
  private final PageObjects page;

  private Kueue(RealCluster cluster, Workspace workspace) {
    this.cluster = cluster;
    this.workspace = workspace;
    this.installation = new Installation(cluster);
    this.page = PageObjects.of(cluster.home().resolve("docs/how-to/use-kueue.md"));
  }

  /** Installs it with the configuration of the page, for queues in this workspace. */
  static Kueue install(RealCluster cluster, Workspace workspace, Path folder) {
    Path fetched = Installation.fetched(cluster, "kueue", "kueue");
    Kueue kueue = new Kueue(cluster, workspace);
    try {
      kueue.installation.image(IMAGE, folder.resolve("kueue.tar"), fetched.resolve("kueue"), "/manager");
      kueue.apply(Installation.lab(cluster).kustomize(fetched.resolve("config/default")));
      return kueue;
    } catch (RuntimeException failure) {
      kueue.close();
      throw failure;
    }
  }

  private void apply(String manifests) {
    for (HasMetadata object : PageObjects.read(cluster.client(), manifests)) {
      if (object instanceof ConfigMap map && map.getData().containsKey(CONFIG)) {
        map.getData().put(CONFIG, configuration(map.getData().get(CONFIG)));
      } else if (object instanceof Deployment deployment) {
        var pod = deployment.getSpec().getTemplate().getSpec();
        pod.getSecurityContext().setRunAsUser(65532L); // as the published image says itself
        assertThat(pod.getContainers().getFirst().getImage()).contains("/kueue/kueue:");
        Installation.run(deployment, IMAGE);
      }
      installation.apply(object);
    }
    installation.awaitReady(NAMESPACE, "kueue-controller-manager");
    installation.undo("workloads", // which it holds back until it has looked at them
        () -> await("the jobs' workloads to be gone").atMost(Workspace.PATIENCE).until(() -> workloads().isEmpty()));
  }

  /** Kueue's own configuration with what the page adds to it. */
  private String configuration(String own) {
    Map<String, Object> merged = new HashMap<>(Serialization.unmarshal(own, FIELDS));
    merged.putAll(Serialization.unmarshal(page.ofKind("Configuration"), FIELDS));
    return Serialization.asYaml(merged);
  }

  /** Makes the page's flavor, queues, priority class and template, once Kueue's webhooks answer. */
  void applyPage() {
    for (String kind : List.of("ResourceFlavor", "ClusterQueue", "WorkloadPriorityClass", "LocalQueue",
        "ResourceClaimTemplate")) {
      HasMetadata object = page.object(cluster.client(), kind);
      if (List.of("LocalQueue", "ResourceClaimTemplate").contains(kind)) {
        object.getMetadata().setNamespace(workspace.namespace());
      }
      installation.takeAway(object);
      await("Kueue's webhooks to take the page's " + kind).atMost(Workspace.PATIENCE)
          .ignoreException(KubernetesClientException.class)
          .until(() -> cluster.client().resource(object).serverSideApply() != null);
    }
  }

  /**
   * Sends the page's job to the queue, with another name and a program that goes on until there is a file
   * {@code /tmp/end}.
   *
   * @param claim whose claim it is
   * @param priorityClass empty for none
   */
  void job(String name, Map<String, String> claim, String priorityClass) {
    Job job = (Job) page.object(cluster.client(), "Job");
    job.getMetadata().setName(name);
    job.getMetadata().setNamespace(workspace.namespace());
    if (!priorityClass.isEmpty()) {
      job.getMetadata().getLabels().put("kueue.x-k8s.io/priority-class", priorityClass);
    }
    var pod = job.getSpec().getTemplate().getSpec();
    pod.setTerminationGracePeriodSeconds(1L);
    var reference = pod.getResourceClaims().getFirst();
    reference.setResourceClaimTemplateName(claim.get("resourceClaimTemplateName"));
    reference.setResourceClaimName(claim.get("resourceClaimName"));
    var container = pod.getContainers().getFirst();
    container.setImage(RealCluster.PROBE_IMAGE);
    container.setImagePullPolicy("IfNotPresent");
    container
        .setCommand(List.of("sh", "-c", "until [ -e /tmp/end ]; do sleep 0.1; done; exec partita-probe alloc 1Gi"));
    installation.takeAway(job);
    cluster.client().resource(job).create();
  }

  /** Waits for the pod of a job that was let start. */
  PodUnderTest podOf(String job) {
    return await("a pod of job " + job).atMost(Workspace.PATIENCE)
        .until(
            () -> cluster.client().pods().inNamespace(workspace.namespace())
                .withLabel("batch.kubernetes.io/job-name", job).list().getItems().stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .map(pod -> workspace.podNamed(pod.getMetadata().getName())).toList(),
            pods -> pods.size() == 1)
        .getFirst();
  }

  void awaitSucceeded(String job) {
    await("job " + job + " to complete").atMost(Workspace.PATIENCE)
        .until(() -> Objects.requireNonNullElse(job(job).getStatus().getSucceeded(), 0) == 1);
  }

  boolean isSuspended(String job) {
    return Boolean.TRUE.equals(job(job).getSpec().getSuspend());
  }

  private Job job(String name) {
    return Objects.requireNonNull(
        cluster.client().batch().v1().jobs().inNamespace(workspace.namespace()).withName(name).get());
  }

  /** What Kueue counts against the queue for a job that it has let start. */
  Map<String, String> counted(String job) {
    return await("what Kueue counts for job " + job).atMost(Workspace.PATIENCE)
        .until(
            () -> workload(job).stream()
                .map(workload -> workload.<Map<String, String>>get("status", "admission", "podSetAssignments", 0,
                    "resourceUsage"))
                .filter(Objects::nonNull).toList(),
            found -> !found.isEmpty())
        .getFirst();
  }

  /** Waits until a job's workload says that it has no quota, and this. */
  void awaitWaiting(String job, String why) {
    await("job " + job + " to wait: " + why).atMost(Workspace.PATIENCE)
        .until(() -> workload(job).stream()
            .flatMap(workload -> Objects
                .requireNonNullElse(workload.<List<Map<String, Object>>>get("status", "conditions"),
                    List.<Map<String, Object>>of())
                .stream())
            .anyMatch(condition -> "QuotaReserved".equals(condition.get("type"))
                && "False".equals(condition.get("status")) && String.valueOf(condition.get("message")).contains(why)));
  }

  private List<GenericKubernetesResource> workloads() {
    return cluster.client().genericKubernetesResources(API, "Workload").inNamespace(workspace.namespace()).list()
        .getItems();
  }

  private List<GenericKubernetesResource> workload(String job) {
    return workloads().stream()
        .filter(workload -> workload.getMetadata().getOwnerReferences().stream()
            .anyMatch(owner -> owner.getKind().equals("Job") && owner.getName().equals(job)))
        .toList();
  }

  @Override
  public void close() {
    installation.close();
  }
}
