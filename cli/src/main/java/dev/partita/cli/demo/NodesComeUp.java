package dev.partita.cli.demo;

import dev.partita.api.node.GpuNode;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.demo.cluster.SimulatedNode;
import dev.partita.cli.demo.screen.CardPictures;
import dev.partita.cli.demo.screen.Observation;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Chapters 1 and 2: plugins find the cards of their nodes, and the controller offers them to the cluster. */
final class NodesComeUp {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final Stage stage;

  NodesComeUp(Stage stage) {
    this.stage = stage;
  }

  void tell() throws Exception {
    registration();
    gpuNodes();
    slices();
  }

  private void registration() throws Exception {
    List<String> missing = new ArrayList<>();
    for (SimulatedNode node : stage.cluster().nodes()) {
      if (!node.registerPlugin()) {
        missing.add(node.name());
      }
    }
    stage.observations().require(Observation.PLUGINS_REGISTERED, missing.isEmpty(), "No registration on " + missing);
  }

  private void gpuNodes() throws Exception {
    boolean ready = Waiting.until(TIMEOUT, () -> readyNodes().size() == stage.cluster().nodes().size());
    for (GpuNode node : readyNodes()) {
      stage
          .screen()
          .say(
              "%s: %s; driver %s, CUDA %s"
                  .formatted(
                      node.getMetadata().getName(),
                      node.getStatus().models(),
                      node.getStatus().driverVersion(),
                      node.getStatus().cudaDriverVersion()));
    }
    stage.observations().require(Observation.NODES_REPORT, ready, "Ready are only " + names(readyNodes()));
  }

  private List<GpuNode> readyNodes() {
    return stage.cluster().client().resources(GpuNode.class).list().getItems().stream()
        .filter(node -> node.getStatus() != null && node.getStatus().isReady())
        .sorted(Comparator.comparing((GpuNode node) -> node.getMetadata().getName()))
        .toList();
  }

  private static String names(List<GpuNode> nodes) {
    return nodes.stream().map(node -> node.getMetadata().getName()).collect(Collectors.joining(", ", "[", "]"));
  }

  private void slices() throws Exception {
    stage.screen().chapter("The controller offers the cards to the cluster (ResourceSlices)");
    stage.screen().say("gpu-0 is a card as a whole, gpu-0-shared the same card to take shares of.");
    int cards = readyNodes().stream().mapToInt(node -> node.getStatus().gpuCount()).sum();
    Optional<List<ResourceSlice>> complete =
        Waiting.forAnswer(TIMEOUT,
            () -> Optional.of(stage.cluster().slices()).filter(slices -> devices(slices).size() == 2 * cards));
    List<ResourceSlice> slices = stage.cluster().slices();
    for (ResourceSlice slice : slices) {
      String devices = slice.getSpec().getDevices().stream().map(Device::getName).collect(Collectors.joining(", "));
      stage.screen().say("pool %s: %s".formatted(slice.getSpec().getPool().getName(), devices));
    }
    CardPictures.of(slices, List.of()).forEach(picture -> stage.screen().say(picture.line()));
    stage
        .observations()
        .require(Observation.SLICES_PUBLISHED, complete.isPresent(),
            cards + " cards, but the devices " + devices(slices));
  }

  private static List<String> devices(List<ResourceSlice> slices) {
    return slices.stream().flatMap(slice -> slice.getSpec().getDevices().stream()).map(Device::getName).toList();
  }
}
