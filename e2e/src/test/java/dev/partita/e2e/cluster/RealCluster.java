package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A cluster with Partita on it, brought up for these tests; closing it takes it down. */
public final class RealCluster implements AutoCloseable {
  /** The simulated cards of every node. */
  public static final String GPUS = "h200x4";

  public static final int CARDS = 4;

  /** The version that a lab runs. */
  private static final String KUBERNETES = System.getProperty("partita.e2e.kubernetes", "1.37");

  public static final long CARD_MEMORY = 143771L << 20;

  /** What of it the driver keeps for itself, in bytes. */
  public static final long CARD_RESERVED = 603L << 20;
  public static final String NAMESPACE = "partita-system";

  /** The image that pods under test run: a shell, partita-probe and nothing of a driver. */
  public static final String PROBE_IMAGE = "localhost/partita/probe:dev";

  /** The image that lays out the simulated driver on nodes. */
  static final String SIMULATOR_IMAGE = "localhost/partita/simulator:dev";

  /** A machine whose processors are busy with other tests takes more than the three minutes that users are given. */
  private static final String UP_SECONDS = "360";
  private static final Path HOME = Path.of(System.getProperty("partita.home", "..")).toAbsolutePath().normalize();
  private static final Path TARGET = Path.of(System.getProperty("partita.target", "target")).toAbsolutePath();

  private final PartitaCommand command;
  private final Optional<Lab> lab;
  private final List<AutoCloseable> below;
  private final String kubeconfig;
  private final KubernetesClient client;
  private final List<String> nodes;
  private final NodeFiles files;

  private RealCluster(PartitaCommand command, Optional<Lab> lab, List<AutoCloseable> below, String kubeconfig) {
    this.command = command;
    this.lab = lab;
    this.below = below;
    this.kubeconfig = kubeconfig;
    this.client = Kubeconfig.client(Path.of(kubeconfig));
    this.nodes =
        client.nodes().list().getItems().stream().map(Node::getMetadata).map(m -> m.getName()).sorted().toList();
    this.files = new NodeFiles(client);
  }

  /** Brings one up. An error, with what the command said, if that fails; nothing is left behind then. */
  static RealCluster from(Provision provision) {
    Environments environments = new Environments(TARGET.resolve("state").toString());
    return switch (provision) {
      case Provision.Lab(String script) ->
          up(new PartitaCommand(HOME, environments.lab(script)), Optional.of(new Lab(script)), List.of(), "--provider",
              "lab", "--nodes", "6", "--kubernetes", KUBERNETES);
      case Provision.Current(String kubeconfig) ->
          up(new PartitaCommand(HOME, environments.current(kubeconfig)), Optional.empty(), List.of(),
              onCurrent(System.getenv()));
      case Provision.Docker() -> {
        K3sInDocker k3s = K3sInDocker.start(HOME, TARGET);
        yield up(new PartitaCommand(HOME, environments.current(k3s.kubeconfig().toString())), Optional.empty(),
            List.of(k3s), "--provider", "current");
      }
      case Provision.Nothing(String why) -> throw new IllegalStateException(why);
    };
  }

  /** A cluster of somebody's pulls the images from a registry, unless they are on its nodes already. */
  private static String[] onCurrent(java.util.Map<String, String> environment) {
    List<String> arguments = new java.util.ArrayList<>(List.of("--provider", "current"));
    java.util.Map.of("PARTITA_E2E_IMAGE_REGISTRY", "--image-registry", "PARTITA_E2E_IMAGE_TAG", "--image-tag")
        .forEach((variable, option) -> {
          String value = environment.getOrDefault(variable, "");
          if (!value.isEmpty()) {
            arguments.addAll(List.of(option, value));
          }
        });
    return arguments.toArray(String[]::new);
  }

  private static RealCluster up(
      PartitaCommand command,
      Optional<Lab> lab,
      List<AutoCloseable> below,
      String... provider) {
    List<String> arguments =
        new java.util.ArrayList<>(List.of("cluster", "up", "--gpus", GPUS, "--set", "plugin.mig=true",
            "--set", "plugin.mps=true", "--timeout", UP_SECONDS));
    arguments.addAll(List.of(provider));
    PartitaCommand.Outcome up = command.run(arguments.toArray(String[]::new));
    if (up.status() != 0) {
      String why = "./partita " + String.join(" ", arguments) + " ended with " + up.status() + ":\n" + up.err();
      String seen = "";
      if (up.status() != 2) { // at 2 nothing was made, and what is up is not ours
        seen = kubeconfig(command).map(Diagnosis::ofInstallation).orElse("");
        command.run("cluster", "down");
      }
      below.forEach(RealCluster::closeQuietly);
      Diagnosis.writeFile(TARGET, "no-cluster", seen + why);
      throw new IllegalStateException(why);
    }
    return new RealCluster(command, lab, below, kubeconfig(command).orElseThrow());
  }

  private static Optional<String> kubeconfig(PartitaCommand command) {
    return command.run("cluster", "env").out().lines()
        .filter(line -> line.startsWith("export KUBECONFIG="))
        .map(line -> line.substring("export KUBECONFIG=".length()))
        .findFirst();
  }

  public KubernetesClient client() {
    return client;
  }

  /** Whether the API server serves a kind, which may have come with a version of Kubernetes newer than its own. */
  public boolean serves(String apiVersion, String kind) {
    return Optional.ofNullable(client().getApiResources(apiVersion)).stream()
        .flatMap(resources -> resources.getResources().stream())
        .anyMatch(resource -> kind.equals(resource.getKind()));
  }

  /** {@code ./partita}, which knows this cluster. */
  public PartitaCommand command() {
    return command;
  }

  /** Loads an image into every node, of which other tests end containerd now and then. */
  public void load(Path archive) {
    await("every node to have " + archive).atMost(Workspace.PATIENCE).untilAsserted(() -> {
      PartitaCommand.Outcome loaded = command.run("cluster", "load", archive.toString());
      assertThat(loaded.status()).as(loaded.err()).isZero();
    });
  }

  /** By which kubectl and its plugins find the cluster. */
  public Map<String, String> kubeconfigEnvironment() {
    return Map.of("KUBECONFIG", kubeconfig);
  }

  /** {@code kubectl partita} by an administrator of this cluster. */
  public PartitaCommand.Outcome kubectlPartita(String... arguments) {
    return kubectlPartita(Path.of(kubeconfig), arguments);
  }

  /** The same by whoever has this kubeconfig. */
  public PartitaCommand.Outcome kubectlPartita(Path kubeconfig, String... arguments) {
    List<String> line = new java.util.ArrayList<>(List.of(HOME.resolve("kubectl-partita").toString()));
    line.addAll(List.of(arguments));
    return command.execute(line, Map.of("KUBECONFIG", kubeconfig.toString()));
  }

  public Path home() {
    return HOME;
  }

  /** The nodes that many tests share, and none breaks or changes, in order; at least one. */
  public List<String> quietNodes() {
    return nodes.subList(0, Math.max(1, nodes.size() - 4));
  }

  /** The node that one test at a time has for itself, and none breaks or changes; they hold {@link OnOwnNode}. */
  public String ownNode() {
    return fromTheEnd(4);
  }

  /** The node of which tests change what it offers, and who serves its cards; they hold {@link OnSettingsNode}. */
  public String settingsNode() {
    return fromTheEnd(3);
  }

  /** The node whose cards and driver tests change; they hold {@link OnChangedNode}. */
  public String changedNode() {
    return fromTheEnd(2);
  }

  /** The node whose daemons tests end; they hold {@link OnBrokenNode}. */
  public String brokenNode() {
    return fromTheEnd(1);
  }

  private String fromTheEnd(int place) {
    return nodes.get(Math.max(0, nodes.size() - place));
  }

  public List<String> nodes() {
    return nodes;
  }

  /**
   * Changes a node by a merge patch that names no resourceVersion: kubelet writes the node all the time, and a conflict
   * would leave half of a change.
   */
  public void patchNode(String node, String patch) {
    client.nodes().withName(node).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  public Resource<GenericKubernetesResource> gpuNode(String node) {
    return client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").withName(node);
  }

  /** Changes what a node offers, by a merge patch of its GpuNode's spec. */
  public void patchGpuNode(String node, String spec) {
    gpuNode(node).patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": " + spec + "}");
  }

  /**
   * Leaves a node to kube-scheduler until the end.
   *
   * @param publish the modes in which its cards are offered meanwhile, as GpuNodes name them; as before if there are
   *        none
   */
  public void leaveToScheduler(String node, Cleanup cleanup, String... publish) {
    cleanup.undo("what " + node + " offers, and who allocates there",
        () -> patchGpuNode(node, "{\"allocator\": \"Controller\", \"publish\": null}"));
    String modes = publish.length == 0 ? "" : ", \"publish\": [\"" + String.join("\", \"", publish) + "\"]";
    patchGpuNode(node, "{\"allocator\": \"Scheduler\"" + modes + "}");
  }

  public NodeFiles files() {
    return files;
  }

  /** Where the nodes' daemons can be killed, if this cluster is such. */
  public Optional<Lab> lab() {
    return lab;
  }

  /** Where diagnostics are kept. */
  public Path target() {
    return TARGET;
  }

  @Override
  public void close() {
    files.close();
    client.close();
    PartitaCommand.Outcome down = command.run("cluster", "down");
    below.forEach(RealCluster::closeQuietly);
    if (down.status() != 0) {
      throw new IllegalStateException("./partita cluster down ended with " + down.status() + ":\n" + down.err());
    }
  }

  private static void closeQuietly(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Exception failure) {
      System.err.println("e2e: " + failure);
    }
  }

  /** Environments of {@code ./partita}: its own state folder, and only what chooses the provider that is meant. */
  private record Environments(String state) {
    java.util.Map<String, String> lab(String script) {
      return java.util.Map.of("PARTITA_STATE", state, "KUBE_LAB", script);
    }

    java.util.Map<String, String> current(String kubeconfig) {
      return java.util.Map.of("PARTITA_STATE", state, "KUBE_LAB", "", "KUBECONFIG", kubeconfig);
    }
  }
}
