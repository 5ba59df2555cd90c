package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** What the cluster looked like when a test failed: a file in target/diagnosis, and what fits into a stack trace. */
final class Diagnosis {
  private static final int LOG_LINES = 300;

  private Diagnosis() {}

  /** Not a failure: a text that is printed with one. */
  private static final class EventsOfFailedTest extends Exception {
    private static final long serialVersionUID = 1L;

    EventsOfFailedTest(String text) {
      super(text, null, false, false);
    }
  }

  /** Writes the file, and adds the events to the failure, for where only the output of a run is kept. */
  static void write(RealCluster cluster, Workspace workspace, String test, Throwable failure) {
    KubernetesClient client = cluster.client();
    String namespace = workspace.namespace();
    String events = section("events in " + namespace,
        () -> workspace.events().stream().map(Object::toString).collect(Collectors.joining("\n")));
    failure.addSuppressed(new EventsOfFailedTest(events));
    String text =
        events
            + section("claims",
                () -> Serialization
                    .asYaml(client.resources(io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim.class)
                        .inNamespace(namespace).list()))
            + section("pods", () -> Serialization.asYaml(client.pods().inNamespace(namespace).list()))
            + section("slices",
                () -> Serialization
                    .asYaml(client.resources(io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice.class).list()))
            + logs(client, namespace, client.pods().inNamespace(namespace).list().getItems())
            + logs(client, RealCluster.NAMESPACE, client.pods().inNamespace(RealCluster.NAMESPACE).list().getItems());
    writeFile(cluster.target(), test.replaceAll("[^A-Za-z0-9]+", "-"), text);
  }

  /**
   * What there is of Partita in a cluster that did not come up: its pods, what is said of them, and their logs, last
   * those of pods that are not ready, for where the middle of a long output is cut out.
   */
  static String ofInstallation(String kubeconfig) {
    try (KubernetesClient client = Kubeconfig.client(Path.of(kubeconfig))) {
      List<Pod> pods = client.pods().inNamespace(RealCluster.NAMESPACE).list().getItems();
      return logs(client, RealCluster.NAMESPACE, pods.stream().filter(Readiness::isPodReady).toList())
          + section("events", () -> client.v1().events().inAnyNamespace().list().getItems().stream()
              .filter(event -> "Warning".equals(event.getType()))
              .map(event -> event.getInvolvedObject().getName() + ": " + event.getReason() + ": " + event.getMessage())
              .collect(Collectors.joining("\n")))
          + section("pods", () -> pods.stream()
              .map(pod -> pod.getMetadata().getName() + " on " + pod.getSpec().getNodeName() + ": "
                  + pod.getStatus().getPhase() + " " + pod.getStatus().getContainerStatuses().stream()
                      .map(status -> status.getRestartCount() + " restarts, " + Serialization.asJson(status.getState()))
                      .collect(Collectors.joining(", ")))
              .collect(Collectors.joining("\n")))
          + logs(client, RealCluster.NAMESPACE, pods.stream().filter(Predicate.not(Readiness::isPodReady)).toList());
    } catch (RuntimeException unreachable) { // why it did not come up matters more
      return "==== nothing could be seen: " + unreachable + "\n";
    }
  }

  /** Writes target/diagnosis/NAME.txt and says where it is. */
  static void writeFile(Path target, String name, String text) {
    Path file = target.resolve("diagnosis").resolve(name + ".txt");
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
      System.err.println("e2e: see " + file);
    } catch (IOException refused) {
      System.err.println("e2e: no diagnosis: " + refused);
    }
  }

  private static String logs(KubernetesClient client, String namespace, List<Pod> pods) {
    return pods.stream()
        .flatMap(pod -> pod.getSpec().getContainers().stream()
            .map(container -> section("log of " + pod.getMetadata().getName() + " " + container.getName(),
                () -> client.pods().inNamespace(namespace).withName(pod.getMetadata().getName())
                    .inContainer(container.getName()).tailingLines(LOG_LINES).getLog())))
        .collect(Collectors.joining());
  }

  private static String section(String title, Supplier<String> body) {
    String text;
    try {
      text = body.get();
    } catch (KubernetesClientException refused) {
      text = String.valueOf(refused.getMessage());
    }
    return "==== " + title + "\n" + text + "\n";
  }
}
