package dev.partita.cli.cluster;

import dev.partita.cli.checkout.Checkout;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.StagedImage;
import dev.partita.cli.cluster.install.AnsweringWebhooks;
import dev.partita.cli.cluster.install.BareCluster;
import dev.partita.cli.cluster.install.PartitaRelease;
import dev.partita.cli.cluster.install.PublishedSlices;
import dev.partita.cli.cluster.install.WaitingPods;
import dev.partita.cli.cluster.provider.ClusterProvider;
import dev.partita.cli.cluster.provider.ClusterRecord;
import dev.partita.cli.cluster.provider.Concurrently;
import dev.partita.cli.cluster.provider.K3sProvider;
import dev.partita.cli.cluster.provider.ProviderChoice;
import dev.partita.cli.cluster.provider.ProviderName;
import dev.partita.cli.cluster.provider.SimulatedCards;
import dev.partita.cli.cluster.provider.StateFolder;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.connection.ClusterClient;
import dev.partita.cli.connection.ObjectName;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/** {@code partita cluster up}: a cluster, Partita on it, and its cards there to be claimed. */
@Command(
    name = "up",
    description = "Brings up a cluster, installs Partita from its chart and waits until the cards can be claimed.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "",
      "Providers:",
      "  lab      $KUBE_LAB names a script that makes a cluster here; needs root",
      "  k3s      k3s in Docker containers",
      "  current  the cluster of $KUBECONFIG, which is left standing by 'cluster down'",
      "Without --provider: lab if KUBE_LAB is set, else k3s if Docker answers.",
      "",
      "Examples:",
      "  partita cluster up --nodes 2 --gpus h200x4",
      "  partita cluster up --gpus h200x4,t4x2 --provider k3s",
      "  partita cluster up --provider current --image-tag v1 \\",
      "      --image-registry registry.example/partita",
      "  partita cluster up --set controller.replicas=2"
    })
final class UpCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Option(names = "--nodes", paramLabel = "N",
      description = "How many nodes (default: 2); not with --provider current.") private @Nullable Integer nodes;

  @Option(names = "--kubernetes", paramLabel = "VERSION",
      description = "Its version, such as 1.37; only of a lab, which has a default.") private @Nullable String kubernetes;

  @Option(
      names = "--gpus",
      paramLabel = "CARDS",
      defaultValue = "h200x4",
      description = "The simulated cards of each node, as PROFILExCOUNT[,...] (default: ${DEFAULT-VALUE}).") private String gpus;

  @Option(names = "--provider", paramLabel = "NAME",
      description = "Where the cluster comes from: ${COMPLETION-CANDIDATES}.") private @Nullable ProviderName provider;

  @Option(names = "--namespace", paramLabel = "NAME", defaultValue = "partita-system",
      description = "For Partita's own pods (default: ${DEFAULT-VALUE}).") private String namespace;

  @Option(names = "--image-registry", paramLabel = "PREFIX",
      description = "Where the nodes get Partita's images; nothing is built or loaded then.") private @Nullable String imageRegistry;

  @Option(names = "--image-tag", paramLabel = "TAG", defaultValue = StagedImage.TAG,
      description = "Their tag (default: ${DEFAULT-VALUE}).") private String imageTag;

  @Option(names = "--set", paramLabel = "PATH=VALUE",
      description = "A further value of the chart; repeatable.") private Map<String, String> values =
          new LinkedHashMap<>();

  @Option(names = "--timeout", paramLabel = "SECONDS", defaultValue = "180",
      description = "How long to wait for the cards (default: ${DEFAULT-VALUE}).") private int timeoutSeconds;

  @Override
  public void run() {
    checkOptions();
    SimulatedCards cards = SimulatedCards.checkedBy(Checkout.simDriver(), gpus);
    PartitaRelease.check(Checkout.chart(), ownValues(), furtherValues());
    Progress progress = new Progress(spec.commandLine().getErr(), InstantSource.system());
    StateFolder state = StateFolder.of(System.getenv());
    state.read().ifPresent(up -> refuseSecond(up, state));
    ProviderName chosen = chosenProvider();
    List<StagedImage> images = imageRegistry == null ? StagedImage.below(Checkout.images()) : List.of();
    ClusterProvider cluster = ClusterProvider.of(chosen, System.getenv(), state);
    cluster.check();

    ClusterRecord record =
        new ClusterRecord(chosen, cluster.details(), namespace, gpus, InstantSource.system().instant(),
            ClusterRecord.Access.NONE);
    state.write(record);
    CompletableFuture<Void> prepared = Concurrently.begin(() -> cluster.prepareImages(images));
    ClusterRecord.Access access = bringUp(cluster, record, state, progress);
    if (!images.isEmpty()) {
      progress.step("putting Partita's images on the nodes");
      Concurrently.join(prepared);
      cluster.provideImages(images);
    }
    try (KubernetesClient client = ClusterClient.of(Path.of(access.kubeconfig()))) {
      install(client, access, progress);
      progress.step("waiting for the cards of every node");
      List<String> ready = awaitCards(client, cards.count());
      Waiting.upTo(timeoutSeconds, "the admission webhooks", () -> AnsweringWebhooks.look(client, namespace));
      progress.step("ready: %s on %s".formatted(gpus, String.join(", ", ready)));
    } catch (CommandFailure failure) {
      if (failure.exitStatus() == CommandLine.ExitCode.USAGE) {
        throw failure;
      }
      throw CommandFailure.failed(failure.getMessage()
          + "; the cluster is left up to be looked at ('partita cluster env', 'partita cluster down')");
    }
    spec.commandLine().getOut().print(NextSteps.TEXT);
    spec.commandLine().getOut().flush();
  }

  /** As YAML would read it: the chart's schema tells 2 from "2". */
  private static Object typed(String value) {
    if (value.equals("true") || value.equals("false")) {
      return Boolean.valueOf(value);
    }
    return value.matches("-?[0-9]{1,9}") ? (Object) Integer.valueOf(value) : value;
  }

  private static void refuseSecond(ClusterRecord up, StateFolder state) {
    throw CommandFailure.usage(
        "a cluster is already up (provider %s, since %s): '%s' removes it".formatted(up.provider(), up.startedAt(),
            state.downCommand()));
  }

  private void checkOptions() {
    if (provider == ProviderName.CURRENT && nodes != null) {
      throw new ParameterException(spec.commandLine(), "--nodes cannot be chosen with --provider current");
    }
    if (nodes != null && (nodes < 1 || nodes > 100)) {
      throw new ParameterException(spec.commandLine(), "--nodes must be from 1 to 100: " + nodes);
    }
    ObjectName.checked(namespace);
    if (timeoutSeconds < 1) {
      throw new ParameterException(spec.commandLine(), "--timeout is 1 or more seconds: " + timeoutSeconds);
    }
    if (kubernetes != null && !kubernetes.matches("1\\.[0-9]{1,3}")) {
      throw new ParameterException(spec.commandLine(), "--kubernetes must be a version such as 1.37: " + kubernetes);
    }
  }

  private ProviderName chosenProvider() {
    ProviderName chosen =
        switch (ProviderChoice.decide(Optional.ofNullable(provider), System.getenv(), K3sProvider::dockerAnswers)) {
          case ProviderChoice.Chosen(ProviderName name) -> name;
          case ProviderChoice.Refused(String why) -> throw CommandFailure.usage(why);
        };
    if (kubernetes != null && chosen != ProviderName.LAB) {
      throw new ParameterException(spec.commandLine(),
          "--kubernetes can be chosen with --provider lab only; k3s: PARTITA_K3S_IMAGE names its image");
    }
    return chosen;
  }

  private List<String> awaitCards(KubernetesClient client, int cards) {
    try {
      return Waiting.upTo(timeoutSeconds, "%d cards a node".formatted(cards),
          () -> PublishedSlices.look(client, namespace, cards));
    } catch (CommandFailure failure) {
      throw CommandFailure.failed(failure.getMessage() + WaitingPods.in(client, namespace));
    }
  }

  private ClusterRecord.Access bringUp(
      ClusterProvider cluster,
      ClusterRecord record,
      StateFolder state,
      Progress progress) {
    try {
      ClusterRecord.Access access = cluster.up(nodes == null ? 2 : nodes, Optional.ofNullable(kubernetes), progress);
      state.write(record.withAccess(access));
      return access;
    } catch (CommandFailure failure) {
      progress.step("that failed: removing what is there");
      cluster.down(ClusterRecord.Access.NONE, progress);
      state.forget();
      throw failure;
    }
  }

  private void install(KubernetesClient client, ClusterRecord.Access access, Progress progress) {
    BareCluster.await(client, timeoutSeconds);
    progress.step("installing Partita in namespace " + namespace);
    PartitaRelease release = new PartitaRelease(Path.of(access.kubeconfig()), namespace);
    release.makeNamespace(client);
    release.install(Checkout.chart(), ownValues(), furtherValues());
  }

  private Map<String, Object> ownValues() {
    return chartValues(gpus, imageRegistry == null ? StagedImage.REGISTRY : imageRegistry, imageTag);
  }

  private Map<String, Object> furtherValues() {
    Map<String, Object> further = new LinkedHashMap<>();
    values.forEach((path, value) -> further.put(path, typed(value)));
    return further;
  }

  /** The chart's values for simulated cards and those images. */
  static Map<String, Object> chartValues(String gpus, String registry, String tag) {
    return Map.of("simulation", Map.of("enabled", true, "gpus", gpus), "image",
        Map.of("registry", registry, "tag", tag));
  }
}
