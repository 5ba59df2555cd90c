package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.type.TypeReference;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/** Kueue on a lab, installed by its own manifests; closing it takes away all of it. */
public final class Kueue implements AutoCloseable {
  private static final String IMAGE = "localhost/partita-e2e/kueue:1";
  private static final String NAMESPACE = "kueue-system";
  private static final String CONFIG = "controller_manager_config.yaml";
  private static final String API = "kueue.x-k8s.io/v1beta2";
  private static final Pattern YAML = Pattern.compile("(?ms)^```yaml\\n(.*?)^```");

  private static final TypeReference<Map<String, Object>> FIELDS = new TypeReference<>() {};

  private final RealCluster cluster;
  private final Workspace workspace;
  private final Cleanup cleanup = new Cleanup();
  private final List<String> page;

  private Kueue(RealCluster cluster, Workspace workspace, List<String> page) {
    this.cluster = cluster;
    this.workspace = workspace;
    this.page = page;
  }

  /** Installs it with the configuration of the page, for queues in this workspace. */
  public static Kueue install(RealCluster cluster, Workspace workspace, Path folder) {
    try {
      Path fetched = cluster.home().resolve("hook-lib/target/outside/kueue");
      assertThat(fetched.resolve("kueue")).as("sh hook-lib/build.sh fetch kueue").isExecutable();
      Lab lab = cluster.lab().orElseThrow(() -> new IllegalStateException("only a lab makes images here"));
      Path archive = folder.resolve("kueue.tar");
      lab.image(IMAGE, archive, List.of(fetched.resolve("kueue") + ":/manager"));
      assertThat(cluster.command().run("cluster", "load", archive.toString()).status()).isZero();
      String text = Files.readString(cluster.home().resolve("docs/how-to/use-kueue.md"));
      Kueue kueue = new Kueue(cluster, workspace, YAML.matcher(text).results().map(block -> block.group(1))
          .flatMap(block -> List.of(block.split("(?m)^---$", -1)).stream()).toList());
      try {
        kueue.apply(lab.kustomize(fetched.resolve("config/default")));
        return kueue;
      } catch (RuntimeException failure) {
        kueue.close();
        throw failure;
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void apply(String manifests) {
    KubernetesClient client = cluster.client();
    for (HasMetadata object : client.load(stream(manifests)).items()) {
      if (object instanceof ConfigMap map && map.getData().containsKey(CONFIG)) {
        map.getData().put(CONFIG, configuration(map.getData().get(CONFIG)));
      } else if (object instanceof Deployment deployment) {
        var pod = deployment.getSpec().getTemplate().getSpec();
        pod.getSecurityContext().setRunAsUser(65532L); // as the published image says itself
        var container = pod.getContainers().getFirst();
        assertThat(container.getImage()).contains("/kueue/kueue:");
        container.setImage(IMAGE);
        container.setImagePullPolicy("IfNotPresent");
      }
      cleanup.undo(object.getKind() + " " + object.getMetadata().getName(), () -> delete(object));
      client.resource(object).forceConflicts().serverSideApply();
    }
    await("Kueue to be ready").atMost(Workspace.PATIENCE).until(() -> Objects
        .requireNonNull(client.apps().deployments().inNamespace(NAMESPACE).withName("kueue-controller-manager").get())
        .getStatus().getReadyReplicas(), Integer.valueOf(1)::equals);
    cleanup.undo("workloads", // which it holds back until it has looked at them
        () -> await("the jobs' workloads to be gone").atMost(Workspace.PATIENCE).until(() -> workloads().isEmpty()));
  }

  /** Kueue's own configuration with what the page adds to it. */
  private String configuration(String own) {
    Map<String, Object> merged = new HashMap<>(Serialization.unmarshal(own, FIELDS));
    merged.putAll(Serialization.unmarshal(ofPage("Configuration"), FIELDS));
    return Serialization.asYaml(merged);
  }

  private String ofPage(String kind) {
    return page.stream().filter(document -> document.contains("\nkind: " + kind + "\n")).findFirst().orElseThrow();
  }

  /** Makes the page's flavor, queues, priority class and template, once Kueue's webhooks answer. */
  public void applyPage() {
    for (String kind : List.of("ResourceFlavor", "ClusterQueue", "WorkloadPriorityClass", "LocalQueue",
        "ResourceClaimTemplate")) {
      HasMetadata object = cluster.client().load(stream(ofPage(kind))).items().getFirst();
      if (List.of("LocalQueue", "ResourceClaimTemplate").contains(kind)) {
        object.getMetadata().setNamespace(workspace.namespace());
      }
      cleanup.undo(kind + " of the page", () -> delete(object));
      await("Kueue's webhooks to take the page's " + kind).atMost(Workspace.PATIENCE)
          .ignoreException(KubernetesClientException.class)
          .until(() -> cluster.client().resource(object).serverSideApply() != null);
    }
  }

  private void delete(HasMetadata object) {
    cluster.client().resource(object).delete();
    await(object.getKind() + " " + object.getMetadata().getName() + " to be gone").atMost(Workspace.PATIENCE)
        .until(() -> cluster.client().resource(object).get() == null);
  }

  /**
   * Sends the page's job to the queue, with another name and a program that goes on until there is a file
   * {@code /tmp/end}.
   *
   * @param claim whose claim it is
   * @param priorityClass empty for none
   */
  public void job(String name, Map<String, String> claim, String priorityClass) {
    Job job = (Job) cluster.client().load(stream(ofPage("Job"))).items().getFirst();
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
    cleanup.undo("job " + name, () -> delete(job));
    cluster.client().resource(job).create();
  }

  /** Waits for the pod of a job that was let start. */
  public PodUnderTest podOf(String job) {
    return await("a pod of job " + job).atMost(Workspace.PATIENCE)
        .until(
            () -> cluster.client().pods().inNamespace(workspace.namespace())
                .withLabel("batch.kubernetes.io/job-name", job).list().getItems().stream()
                .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                .map(pod -> workspace.podNamed(pod.getMetadata().getName())).toList(),
            pods -> pods.size() == 1)
        .getFirst();
  }

  public void awaitSucceeded(String job) {
    await("job " + job + " to complete").atMost(Workspace.PATIENCE)
        .until(() -> Objects.requireNonNullElse(job(job).getStatus().getSucceeded(), 0) == 1);
  }

  public boolean isSuspended(String job) {
    return Boolean.TRUE.equals(job(job).getSpec().getSuspend());
  }

  private Job job(String name) {
    return Objects.requireNonNull(
        cluster.client().batch().v1().jobs().inNamespace(workspace.namespace()).withName(name).get());
  }

  /** What Kueue counts against the queue for a job that it has let start. */
  public Map<String, String> counted(String job) {
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
  public void awaitWaiting(String job, String why) {
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
    cleanup.close();
  }

  private static ByteArrayInputStream stream(String yaml) {
    return new ByteArrayInputStream(("---\n" + yaml).getBytes(StandardCharsets.UTF_8));
  }
}
