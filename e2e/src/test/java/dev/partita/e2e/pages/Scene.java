package dev.partita.e2e.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.RealCluster;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What a reader has in the namespace {@code default} while he reads about claims and pods of his: a pod that runs in a
 * share, and one that waits. It is there from the first page that needs it on, and goes before pages that begin with
 * nothing.
 */
final class Scene {
  private static final String RUNS = "quarter-h200";
  private static final String WAITS = "too-large";
  private static final Pattern NAMES = Pattern.compile("\\b(POD|CLAIM|NODE|NAMESPACE|PLUGIN)\\b");
  private static final Pattern OF_A_POD_THAT_WAITS = Pattern.compile("explain|gpu\\.partita\\.dev/Allocated");
  private static final Pattern CHANGES = Pattern.compile("^(\\./partita resize|kubectl annotate) .*\\bCLAIM\\b");
  private static final Duration SOON = Duration.ofMinutes(2);

  private final RealCluster cluster;
  private boolean there;

  Scene(RealCluster cluster) {
    this.cluster = cluster;
  }

  void up(Terminal terminal) throws IOException {
    if (!there) {
      there = true;
      run(terminal, List.of(
          "kubectl apply -f deploy/examples/quarter-h200.yaml",
          "sed 's/quarter-h200/too-large/g; s/memory: 8Gi/memory: 400Gi/' deploy/examples/quarter-h200.yaml |"
              + " kubectl apply -f -",
          "kubectl wait --timeout=120s --for=condition=Ready pod/" + RUNS,
          "kubectl wait --timeout=120s --for=condition=gpu.partita.dev/Allocated=False pod/" + WAITS));
    }
  }

  /** Ends when no pod is there any more. */
  void down(Terminal terminal) throws IOException {
    if (there) {
      there = false;
      run(terminal, List.of("kubectl delete --ignore-not-found --now pod/" + RUNS + " pod/" + WAITS
          + " resourceclaimtemplate/" + RUNS + " resourceclaimtemplate/" + WAITS));
    }
    await("the pods of the last page to be gone").atMost(SOON)
        .until(() -> cluster.client().pods().inNamespace("default").list().getItems().isEmpty());
  }

  /** Whether a command of a page makes something else of it. */
  static boolean isChangedBy(String command) {
    return CHANGES.matcher(command).find();
  }

  /** A command with the names of what is there in the place of the page's. */
  String named(String command) {
    return NAMES.matcher(command).replaceAll(name -> nameOf(name.group(),
        OF_A_POD_THAT_WAITS.matcher(command).find() ? WAITS : RUNS));
  }

  private String nameOf(String name, String pod) {
    return switch (name) {
      case "POD" -> pod;
      case "CLAIM" -> pod(pod).getStatus().getResourceClaimStatuses().getFirst().getResourceClaimName();
      case "NODE" -> pod(RUNS).getSpec().getNodeName();
      case "NAMESPACE" -> "default";
      case "PLUGIN" -> plugin(pod(RUNS).getSpec().getNodeName());
      default -> throw new IllegalArgumentException(name);
    };
  }

  private Pod pod(String name) {
    return cluster.client().pods().inNamespace("default").withName(name).require();
  }

  private String plugin(String node) {
    return cluster.client().pods().inNamespace(RealCluster.NAMESPACE)
        .withLabels(Map.of("app.kubernetes.io/name", "kubelet-plugin")).withField("spec.nodeName", node).list()
        .getItems().getFirst().getMetadata().getName();
  }

  private static void run(Terminal terminal, List<String> commands) throws IOException {
    Terminal.Outcome outcome = terminal.run(commands);
    assertThat(outcome.failed()).as(outcome.output()).isEmpty();
  }
}
