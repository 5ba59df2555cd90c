package dev.partita.e2e.outside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Volcano's scheduler and controllers on a lab, installed by its own manifest without its webhooks; closing it takes
 * away all of it.
 */
final class Volcano implements AutoCloseable {
  private static final String NAMESPACE = "volcano-system";
  private static final String SCHEDULER = "volcano-scheduler";
  private static final String CONTROLLERS = "volcano-controllers";
  private static final String CONFIG = "volcano-scheduler.conf";
  private static final String SCHEDULING = "scheduling.volcano.sh/v1beta1";
  private static final String GATE = "scheduling.volcano.sh/queue-allocation-gate";
  private static final Pattern GATES = Pattern.compile("`(--feature-gates=[^`]+)`");

  /** By Deployment the program that it runs. */
  private static final Map<String, String> PROGRAMS = Map.of(SCHEDULER, "scheduler", CONTROLLERS, "controller-manager");

  private final RealCluster cluster;
  private final Workspace workspace;
  private final Installation installation;
  private final Path pagePath;
  private final PageObjects page;
  private final PagePods pods;

  private Volcano(RealCluster cluster, Workspace workspace) {
    this.cluster = cluster;
    this.workspace = workspace;
    this.installation = new Installation(cluster);
    this.pagePath = cluster.home().resolve("docs/how-to/use-other-schedulers.md");
    this.page = PageObjects.of(pagePath);
    this.pods = new PagePods(cluster, workspace, page);
  }

  /** Installs it with the page's configuration and arguments, and makes the page's queue and template. */
  static Volcano install(RealCluster cluster, Workspace workspace, Path folder) {
    Path fetched = Installation.fetched(cluster, "volcano", "scheduler");
    Volcano volcano = new Volcano(cluster, workspace);
    try {
      for (String program : PROGRAMS.values()) {
        volcano.installation.image(image(program), folder.resolve(program + ".tar"), fetched.resolve(program),
            "/" + program);
      }
      volcano.apply(Files.readString(fetched.resolve("volcano-development.yaml")));
      volcano.applyPage();
      return volcano;
    } catch (IOException failure) {
      volcano.close();
      throw new UncheckedIOException(failure);
    } catch (RuntimeException failure) {
      volcano.close();
      throw failure;
    }
  }

  private static String image(String program) {
    return "localhost/partita-e2e/volcano-" + program + ":1";
  }

  private void apply(String manifest) throws IOException {
    List<HasMetadata> objects = PageObjects.read(cluster.client(), manifest).stream().filter(Volcano::isWanted)
        .sorted(Comparator.comparing(Volcano::turn)).toList();
    for (HasMetadata object : objects) {
      if (object instanceof ConfigMap map && map.getData().containsKey(CONFIG)) {
        map.setData(((ConfigMap) page.object(cluster.client(), "ConfigMap")).getData());
      } else if (object instanceof Deployment deployment) {
        String program = Objects.requireNonNull(PROGRAMS.get(deployment.getMetadata().getName()));
        Installation.run(deployment, image(program));
        Container container = deployment.getSpec().getTemplate().getSpec().getContainers().getFirst();
        container.setCommand(List.of("/" + program));
        if (program.equals("scheduler")) {
          List<String> arguments = new ArrayList<>(container.getArgs());
          arguments.add(gates());
          container.setArgs(arguments);
        }
      }
      installation.apply(object);
    }
    PROGRAMS.keySet().forEach(deployment -> installation.awaitReady(NAMESPACE, deployment));
  }

  /** Webhooks are not: without them what they fill in is to be said. */
  private static boolean isWanted(HasMetadata object) {
    return !object.getKind().endsWith("WebhookConfiguration")
        && !object.getMetadata().getName().startsWith("volcano-admission");
  }

  private static int turn(HasMetadata object) {
    return switch (object.getKind()) {
      case "Namespace" -> 0;
      case "CustomResourceDefinition" -> 1;
      default -> 2;
    };
  }

  private String gates() throws IOException {
    Matcher found = GATES.matcher(Files.readString(pagePath));
    assertThat(found.find()).as("the page's feature gates").isTrue();
    return found.group(1);
  }

  private void applyPage() {
    HasMetadata queue = page.object(cluster.client(), "Queue");
    installation.apply(queue);
    pods.applyTemplate(installation);
  }

  /**
   * Makes the page's pod, on one node and with another name.
   *
   * @param template of its claim
   */
  PodUnderTest pod(String name, String node, String template) {
    return pods.make(pods.podOf(name, node, template));
  }

  /** The page's pod in the page's queue, held back by Volcano's gate until that has room. */
  PodUnderTest queuedPod(String name, String node, String template) {
    Pod pod = pods.podOf(name, node, template);
    pod.getMetadata().setAnnotations(Map.of(GATE, "true", "scheduling.volcano.sh/queue-name", queue()));
    pod.getSpec().setSchedulingGates(List.of(new PodSchedulingGate(GATE))); // which its webhook would add
    return pods.make(pod);
  }

  /** The page's pod, one of two that are a gang to Partita. */
  PodUnderTest podOfGang(String name, String node, String template) {
    return pods.make(pods.podOfGang(name, node, template));
  }

  /**
   * Makes the page's job of two pods, on one node and with another name.
   *
   * @param template of their claims
   * @param gang whether they are a gang to Partita as well, as the page has it
   */
  void job(String name, String node, String template, boolean gang) {
    GenericKubernetesResource job = (GenericKubernetesResource) page.object(cluster.client(), "Job");
    job.getMetadata().setName(name);
    job.getMetadata().setNamespace(workspace.namespace());
    Map<String, Object> pod = Objects.requireNonNull(job.get("spec", "tasks", 0, "template"));
    if (!gang) {
      pod.remove("metadata");
    }
    Map<String, Object> spec = Objects.requireNonNull(job.get("spec", "tasks", 0, "template", "spec"));
    spec.put("nodeSelector", Map.of("kubernetes.io/hostname", node));
    spec.put("terminationGracePeriodSeconds", 1);
    Map<String, Object> claim =
        Objects.requireNonNull(job.get("spec", "tasks", 0, "template", "spec", "resourceClaims", 0));
    claim.put("resourceClaimTemplateName", template);
    Map<String, Object> container =
        Objects.requireNonNull(job.get("spec", "tasks", 0, "template", "spec", "containers", 0));
    container.putAll(Map.of("image", RealCluster.PROBE_IMAGE, "imagePullPolicy", "IfNotPresent", "command",
        List.of("sh", "-c", "exec sleep 600")));
    installation.takeAway(job);
    cluster.client().resource(job).create();
  }

  private String queue() {
    return page.object(cluster.client(), "Queue").getMetadata().getName();
  }

  /** The pods of a job, by name. */
  List<PodUnderTest> podsOf(String job) {
    return cluster.client().pods().inNamespace(workspace.namespace()).withLabel("volcano.sh/job-name", job).list()
        .getItems().stream().map(pod -> pod.getMetadata().getName()).sorted().map(workspace::podNamed).toList();
  }

  /** Waits until a job has as many pods. */
  List<PodUnderTest> awaitPods(String job, int count) {
    return await(count + " pods of job " + job).atMost(Workspace.PATIENCE).until(() -> podsOf(job),
        pods -> pods.size() == count);
  }

  /** Waits until the page's queue counts so much memory of shares. */
  void awaitCounted(String memory) {
    await("the queue to count " + memory).atMost(Workspace.PATIENCE)
        .until(
            () -> memory.equals(Objects.requireNonNull(cluster.client().genericKubernetesResources(SCHEDULING, "Queue")
                .withName(queue()).get()).get("status", "allocated", "memory.deviceclass/gpu.partita.dev")));
  }

  @Override
  public void close() {
    installation.close();
  }
}
