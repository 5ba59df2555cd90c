package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnOwnNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.TokenClient;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The program as kubectl starts it, on a real cluster: what it shows, and what it changes. */
@OnRealCluster
class KubectlPartitaIT {
  private static String out(RealCluster cluster, String... arguments) {
    Outcome outcome = cluster.kubectlPartita(arguments);
    assertThat(outcome.status()).as("%s: %s%s", List.of(arguments), outcome.err(), outcome.out()).isZero();
    return outcome.out();
  }

  private static JsonNode json(RealCluster cluster, String... arguments) {
    return tree(out(cluster, arguments));
  }

  private static JsonNode tree(String json) {
    try {
      return new ObjectMapper().readTree(json);
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  private static JsonNode card(RealCluster cluster, String node, String gpu) {
    return StreamSupport.stream(json(cluster, "top", "gpus", "--node", node, "-o", "json").path("items").spliterator(),
        false).filter(item -> item.path("gpu").asText().equals(gpu)).findFirst().orElseThrow();
  }

  @Test
  @NeedsSteadyController
  @OnOwnNode // no other test's pod may change what its cards have
  void topAndReportShowWhatAPodHas(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    new Daemons(cluster.client()).awaitFreeCards(node);
    PodUnderTest pod = workspace.pod("holder", node, Ask.share("8Gi").cores(25), "exec sleep 600").awaitRunning();
    String gpu = pod.claim().awaitAllocated().getFirst().getDevice().replace("-shared", "");
    JsonNode claim = json(cluster, "top", "claims", "-n", workspace.namespace(), "-o", "json").at("/items/0");
    assertThat(claim.path("name").asText()).isEqualTo(pod.claim().name());
    assertThat(claim.path("node").asText()).isEqualTo(node);
    assertThat(claim.path("memory").asLong()).isEqualTo(8L << 30);
    assertThat(claim.path("cores").asInt()).isEqualTo(25);
    assertThat(claim.path("users").toString()).contains("holder");
    JsonNode card = card(cluster, node, gpu);
    assertThat(card.path("allocated").asLong()).isEqualTo(8L << 30);
    assertThat(card.path("free").asLong()).isEqualTo(card.path("memory").asLong() - (8L << 30));
    assertThat(card.path("users").toString()).contains(workspace.namespace() + "/holder");
    assertThat(out(cluster, "top").lines().map(line -> line.split(" ", 2)[0])).contains("NAME", node);
    assertThat(json(cluster, "report", "-n", workspace.namespace(), "--min-age", "0s", "-o", "json").path("shares")
        .asInt()).isEqualTo(1);
    assertThat(out(cluster, "logs", pod.claim().name(), "-n", workspace.namespace()))
        .contains("ResourceClaim/" + pod.claim().name() + "  was allocated", "event of Pod/holder  Scheduled")
        .containsPattern("kubelet-plugin  .*claim " + workspace.namespace() + "/.*: prepared");
    pod.deleteAndAwait();
  }

  @Test
  @NeedsSteadyController
  @OnOwnNode // no other test's pod may change what its cards have
  void newPodsAreKeptOffACordonedCard(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    Daemons daemons = new Daemons(cluster.client());
    daemons.awaitFreeCards(node);
    PodUnderTest runs = workspace.pod("runs", node, Ask.share("8Gi"), "exec sleep 600").awaitRunning();
    String device = runs.claim().awaitAllocated().getFirst().getDevice();
    String index = device.replaceAll("^gpu-([0-9]+).*", "$1");
    try {
      assertThat(out(cluster, "cordon", "gpu", node + "/" + index))
          .isEqualTo("gpu " + node + "/gpu-" + index + " cordoned\n");
      assertThat(card(cluster, node, "gpu-" + index).path("state").asText()).isEqualTo("Cordoned");
      PodUnderTest waits = workspace.pod("waits", node, Ask.share("8Gi").onCardOf(device), "exec sleep 600");
      workspace.awaitEvent("ResourceClaim", waits.claim().name(), "Unallocatable", "cordoned");
      assertThat(workspace.client().pods().inNamespace(workspace.namespace()).withName("runs").get().getStatus()
          .getPhase()).as("what runs goes on").isEqualTo("Running");
      assertThat(out(cluster, "uncordon", "gpu", node + "/" + index)).contains("uncordoned");
      waits.awaitRunning();
    } finally {
      cluster.kubectlPartita("uncordon", "gpu", node + "/" + index);
    }
  }

  /**
   * As who downloads it has it: another folder, and nothing of this machine's environment. To make it takes a minute of
   * processor time, which five other tests use as well.
   */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  @ResourceLock(ReleaseFolderIT.COMMAND)
  void theArchiveRunsWithoutAJdk(RealCluster cluster, @TempDir Path folder) {
    Outcome staged =
        cluster.command().execute(List.of("bash", cluster.home().resolve("deploy/command/stage.sh").toString()),
            Map.of());
    assertThat(staged.status()).as(staged.err()).isZero();
    assertThat(Path.of(staged.out().strip()).toFile().length()).isLessThan(50L << 20);
    Outcome unpacked =
        cluster.command().execute(List.of("tar", "-C", folder.toString(), "-xzf", staged.out().strip()), Map.of());
    assertThat(unpacked.status()).as(unpacked.err()).isZero();
    assertThat(cluster.command().execute(List.of("tar", "-tvzf", staged.out().strip()), Map.of()).out().lines())
        .as("krew unpacks files and folders, and refuses links").allMatch(line -> line.matches("[-d].*"));
    Outcome top = unpacked(cluster, folder, "top");
    assertThat(top.status()).as(top.err()).isZero();
    assertThat(top.out()).contains(cluster.ownNode());
    assertThat(top.err()).isEmpty();
    Path charts = folder.resolve("charts.svg");
    Outcome compared = unpacked(cluster, folder, "simulate", "compare", "--generate", "pods=200,nodes=2,load=120",
        "--policy", "auto,spread", "--svg", charts.toString());
    assertThat(compared.status()).as(compared.err()).isZero();
    assertThat(compared.out().lines().map(line -> line.split(" ", 2)[0])).containsExactly("POLICY", "auto", "spread");
    assertThat(charts).content().startsWith("<svg");
  }

  /** Runs the archive's program with nothing of this environment but the cluster. */
  private static Outcome unpacked(RealCluster cluster, Path folder, String... arguments) {
    List<String> line = new ArrayList<>(List.of("env", "-i", "PATH=/usr/bin:/bin"));
    cluster.kubeconfigEnvironment().forEach((name, value) -> line.add(name + "=" + value));
    line.add(folder.resolve("partita/bin/kubectl-partita").toString());
    line.addAll(List.of(arguments));
    return cluster.command().execute(line, Map.of());
  }

  @Test
  @NeedsSteadyController
  @OnOwnNode
  void theDoctorHasSeenThatContainersGetWhatTheirCdiSpecsSay(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    PodUnderTest pod = workspace.pod("user", node, Ask.share("2Gi"), "exec partita-probe hold 1Gi");
    pod.awaitLine("holding 1073741824");
    await("the node to say so").atMost(Workspace.PATIENCE).untilAsserted(
        // whatever it finds wrong with nodes that other tests break
        () -> assertThat(tree(cluster.kubectlPartita("doctor", "-o", "json").out()).path("items"))
            .anySatisfy(finding -> {
              assertThat(finding.path("check").asText()).isEqualTo("CDI");
              assertThat(finding.path("subject").asText()).isEqualTo(node);
              assertThat(finding.path("message").asText()).startsWith("containers get what the specs in ");
            }));
    pod.deleteAndAwait();
  }

  @Test
  void whoMayDoNothingIsToldInOneLineByEachCommand(RealCluster cluster, Workspace workspace, @TempDir Path folder)
      throws IOException {
    String namespace = workspace.namespace();
    try (KubernetesClient nobody = TokenClient.of(cluster.client(), namespace, "default")) {
      Path kubeconfig = TokenClient.kubeconfig(nobody, folder.resolve("nobody"));
      SoftAssertions.assertSoftly(all -> {
        for (String command : List.of("top", "top claims -n " + namespace, "report -n " + namespace,
            "resize claim any -n " + namespace + " --memory 1Gi", "cordon gpu " + cluster.ownNode() + "/0",
            "explain pod any -n " + namespace, "logs any -n " + namespace, "simulate fits", "web --no-open")) {
          Outcome refused = cluster.kubectlPartita(kubeconfig, command.split(" "));
          all.assertThat(refused.status()).as("%s: %s", command, refused).isEqualTo(1);
          all.assertThat(refused.err()).as(command).startsWith("partita: you may not ").hasLineCount(1);
          all.assertThat(refused.out()).as(command).isEmpty();
        }
      });
      Outcome doctor = cluster.kubectlPartita(kubeconfig, "doctor");
      assertThat(doctor.status()).as(doctor.out()).isEqualTo(1);
      assertThat(doctor.err()).isEmpty();
      assertThat(doctor.out()).contains(
          "fail  cards: could not be looked at: GpuNodes: gpunodes.gpu.partita.dev is forbidden",
          "warn  your rights: you may not list gpunodes.gpu.partita.dev: needed by top, cordon\n"
              + "      mend: ask for a role with that right\n",
          "fail  node plugin: could not be looked at: pods in namespace partita-system: pods is forbidden",
          "warn  your rights: you may not list pods: needed by explain, logs\n");
    }
  }
}
