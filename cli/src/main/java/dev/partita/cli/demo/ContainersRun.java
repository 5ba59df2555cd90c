package dev.partita.cli.demo;

import dev.partita.api.Bytes;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.demo.cluster.BoundPod;
import dev.partita.cli.demo.cluster.DriverState;
import dev.partita.cli.demo.cluster.SimulatedNode;
import dev.partita.cli.demo.cluster.Workload;
import dev.partita.cli.demo.container.Container;
import dev.partita.cli.demo.container.ContainerProcess;
import dev.partita.cli.demo.container.Outcome;
import dev.partita.cli.demo.kubelet.CdiRegistry;
import dev.partita.cli.demo.kubelet.PreparedPod;
import dev.partita.cli.demo.screen.CdiQuote;
import dev.partita.cli.demo.screen.Observation;
import io.fabric8.kubernetes.api.model.Condition;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Chapters 5 and 6: claims are prepared, containers start, and inside every one sees and gets its share and no more.
 */
final class ContainersRun implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(15);
  private static final int TRAINER_HOLDS_GIB = 48;
  private static final Pattern SHARE = Pattern.compile("share=([0-9.]+)%");

  /**
   * Percent: what a beginning may use at once, and a kernel that ends late on a busy machine, come on top; without a
   * limit it is all.
   */
  private static final double MOST_OF_A_QUARTER = 40;

  private final Stage stage;
  private final List<BoundPod> pods;
  private final Map<Workload, Container> containers = new LinkedHashMap<>();
  private final List<ContainerProcess> running = new ArrayList<>();

  /**
   * @param pods trainer, notebook, server
   */
  ContainersRun(Stage stage, List<BoundPod> pods) {
    this.stage = stage;
    this.pods = List.copyOf(pods);
  }

  void prepareAndStart() throws Exception {
    stage.screen().chapter("kubelet has the claims prepared; containers start with the CDI edits");
    stage.screen().say(
        "The plugin writes a quota and a CDI file; the container runtime adds what the file says to the container.");
    for (BoundPod pod : pods) {
      PreparedPod prepared =
          pod.node().kubelet().prepare(Driver.NAME, pod.pod(), stage.cluster().claims().claimsOf(pod.pod()));
      List<String> ids = prepared.cdiDevices(pod.workload().name());
      stage.screen().say("%-10s NodePrepareResources -> %s".formatted(pod.workload().name(),
          CdiQuote.shortened(String.join(", ", ids))));
      if (pod.workload().equals(Workload.NOTEBOOK) && !ids.isEmpty()) {
        stage.screen()
            .quote(CdiQuote.of(CdiRegistry.read(pod.node().folders().cdi()), ids, pod.node().folders().root()));
      }
      readiness(pod).ifPresent(message -> stage.screen().quote("claim status: Ready, \"" + message + "\""));
      containers.put(pod.workload(), pod.node().createContainer(prepared));
      stage.cluster().setPhase(pod.pod(), "Running");
    }
    int files = 0;
    for (SimulatedNode node : stage.cluster().nodes()) {
      files += CdiRegistry.specFiles(node.folders().cdi()).size();
    }
    stage.observations().require(Observation.CDI_WRITTEN, files == pods.size(), "There are " + files + " files");
    start();
  }

  /** What the plugin says of the claim's device in the claim's status. */
  private Optional<String> readiness(BoundPod pod) throws Exception {
    return Waiting.forAnswer(
        TIMEOUT,
        () -> stage.cluster().claimOf(pod.pod()).getStatus().getDevices().stream()
            .flatMap(device -> device.getConditions().stream())
            .filter(condition -> condition.getType().equals("Ready") && condition.getStatus().equals("True"))
            .map(Condition::getMessage)
            .findFirst());
  }

  private void start() throws Exception {
    List<String> trouble = new ArrayList<>();
    hold(Workload.TRAINER, TRAINER_HOLDS_GIB, trouble);
    hold(Workload.SERVER, 16, trouble);
    stage.observations().require(Observation.CONTAINERS_STARTED, trouble.isEmpty(), String.join("; ", trouble));
  }

  private void hold(Workload workload, int gib, List<String> trouble) throws Exception {
    ContainerProcess process = container(workload).start("partita-probe", "hold", gib + "Gi", "--seconds", "300");
    running.add(process);
    stage.screen().command(workload.name(), "partita-probe hold " + gib + "Gi");
    try {
      stage.screen().quote(process.awaitLine("holding", TIMEOUT));
    } catch (IOException e) {
      trouble.add(String.valueOf(e.getMessage()));
    }
  }

  private Container container(Workload workload) {
    Container container = containers.get(workload);
    if (container == null) {
      throw new IllegalStateException("no container of " + workload.name());
    }
    return container;
  }

  void look() throws Exception {
    stage.screen().chapter("Inside the notebook's container");
    Container notebook = container(Workload.NOTEBOOK);
    long quota = Workload.NOTEBOOK.memoryBytes();

    Outcome smi = show(notebook, "nvidia-smi");
    Outcome cards = show(notebook, "partita-probe", "info");
    boolean quotaShown = smi.text().contains("/   8192MiB |") || smi.text().contains(" 8192MiB |");
    boolean oneCard = cards.lines().stream().filter(line -> line.startsWith("device ")).count() == 1;
    boolean total = cards.text().contains("total=" + quota);
    stage.observations().note(Observation.SMI_SHOWS_QUOTA, quotaShown && oneCard && total, cards.text());

    Outcome within = show(notebook, "partita-probe", "alloc", "4Gi");
    stage
        .observations()
        .note(Observation.WITHIN_QUOTA, within.status() == 0 && within.text().contains("CUDA_SUCCESS"), within.text());

    BoundPod trainer = pods.getFirst();
    long before = trainerHolds(trainer);
    Outcome beyond = show(notebook, "partita-probe", "alloc", "12Gi");
    long after = trainerHolds(trainer);
    stage
        .observations()
        .note(Observation.BEYOND_QUOTA, beyond.status() == 3 && beyond.text().contains("CUDA_ERROR_OUT_OF_MEMORY"),
            beyond.text());
    DriverState.Card card = sharedCard(trainer);
    stage
        .screen()
        .say(
            "The card itself has %s free; it was the quota that said no."
                .formatted(Bytes.words(card.totalBytes() - card.usedBytes())));
    long expected = (long) TRAINER_HOLDS_GIB << 30;
    boolean unharmed = before == expected && after == expected && running.getFirst().isRunning();
    stage
        .observations()
        .note(
            Observation.NEIGHBOUR_UNHARMED, unharmed,
            "It held %s before and %s after".formatted(Bytes.words(before), Bytes.words(after)));

    Outcome busy = show(notebook, "partita-probe", "spin", "3s");
    double share = partOfTheCard(busy);
    stage.observations().note(Observation.CORES_HELD, share > 0 && share < MOST_OF_A_QUARTER, busy.text());
  }

  /** In percent of its time; 0 if the program does not say so. */
  private static double partOfTheCard(Outcome spin) {
    Matcher share = SHARE.matcher(spin.text());
    return share.find() ? Double.parseDouble(share.group(1)) : 0;
  }

  private Outcome show(Container container, String... command) throws Exception {
    stage.screen().command(container.name(), String.join(" ", command));
    Outcome outcome = container.run(TIMEOUT, command);
    // Of nvidia-smi's two tables, the first.
    stage.screen().quote(outcome.lines().stream().takeWhile(line -> !line.isEmpty()).collect(Collectors.joining("\n")));
    return outcome;
  }

  /** Bytes that the simulated driver says the trainer's program holds. */
  private static long trainerHolds(BoundPod trainer) throws Exception {
    return sharedCard(trainer).holdings().stream().mapToLong(bytes -> bytes).max().orElse(0);
  }

  private static DriverState.Card sharedCard(BoundPod trainer) throws Exception {
    int index = DeviceName.parse(trainer.result().getDevice()).orElseThrow().index();
    return trainer.node().driverState().cards().get(index);
  }

  /** Ends the containers' programs as kubelet would; what went wrong, if anything. */
  List<String> stop() throws Exception {
    List<String> trouble = new ArrayList<>();
    for (ContainerProcess process : running) {
      Outcome outcome = process.stop(TIMEOUT);
      if (outcome.status() != 0 || !outcome.text().contains("released")) {
        trouble.add("exit status " + outcome.status() + ": " + outcome.text());
      }
    }
    return trouble;
  }

  /** Kills what still runs. */
  @Override
  public void close() {
    running.forEach(ContainerProcess::close);
  }
}
