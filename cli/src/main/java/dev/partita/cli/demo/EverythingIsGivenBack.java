package dev.partita.cli.demo;

import dev.partita.api.Driver;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.demo.cluster.BoundPod;
import dev.partita.cli.demo.cluster.SimulatedNode;
import dev.partita.cli.demo.cluster.Workload;
import dev.partita.cli.demo.kubelet.CdiRegistry;
import dev.partita.cli.demo.screen.CardPictures;
import dev.partita.cli.demo.screen.Observation;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Chapter 7: the pods are done, everything of their claims goes, and whoever waited gets the room. */
final class EverythingIsGivenBack {
  private static final Duration TIMEOUT = Duration.ofSeconds(15);

  private final Stage stage;
  private final List<BoundPod> pods;

  EverythingIsGivenBack(Stage stage, List<BoundPod> pods) {
    this.stage = stage;
    this.pods = List.copyOf(pods);
  }

  /**
   * @param latecomer the pod that waits
   */
  void tell(ContainersRun containers, Pod latecomer) throws Exception {
    stage.screen().chapter("The pods are done: everything is given back");
    List<String> trouble = containers.stop();
    boolean idle = Waiting.until(TIMEOUT, this::cardsAreIdle);
    stage.observations().note(Observation.MEMORY_GIVEN_BACK, trouble.isEmpty() && idle, String.join("; ", trouble));

    for (BoundPod pod : pods) {
      stage.cluster().setPhase(pod.pod(), "Succeeded");
      pod.node().kubelet().unprepare(Driver.NAME, List.of(pod.claim()));
      stage.screen().say("%-10s NodeUnprepareResources, claim %s deleted".formatted(pod.workload().name(),
          pod.claim().getMetadata().getName()));
    }
    List<Path> left = leftFiles();
    stage.observations().note(Observation.FILES_GONE, left.isEmpty(), "Left: " + left);

    for (BoundPod pod : pods) {
      stage.cluster().claims().endClaims(pod.pod());
      stage.cluster().client().resource(pod.pod()).delete();
    }
    List<String> leftClaims =
        stage.cluster().allClaims().stream()
            .map(claim -> claim.getMetadata().getName())
            .filter(name -> pods.stream().anyMatch(pod -> pod.claim().getMetadata().getName().equals(name)))
            .toList();
    stage.observations().note(Observation.ALLOCATIONS_GIVEN_BACK, leftClaims.isEmpty(), "Left: " + leftClaims);
    reuse(latecomer);
  }

  private void reuse(Pod latecomer) throws Exception {
    Optional<BoundPod> bound = stage.cluster().bind(Workload.LATECOMER, latecomer, TIMEOUT);
    CardPictures.of(stage.cluster().slices(), stage.cluster().allClaims())
        .forEach(picture -> stage.screen().say(picture.line()));
    stage.observations().note(Observation.ROOM_IS_REUSED, bound.isPresent(),
        "It was not allocated within " + TIMEOUT.toSeconds() + " s");
    stage.cluster().client().resource(latecomer).delete();
    stage.cluster().claims().endClaims(latecomer);
  }

  private boolean cardsAreIdle() throws Exception {
    for (SimulatedNode node : stage.cluster().nodes()) {
      if (!node.driverState().isIdle()) {
        return false;
      }
    }
    return true;
  }

  private List<Path> leftFiles() throws Exception {
    List<Path> left = new ArrayList<>();
    for (SimulatedNode node : stage.cluster().nodes()) {
      left.addAll(CdiRegistry.specFiles(node.folders().cdi()));
      for (BoundPod pod : pods) {
        left.addAll(node.folders().tracesOf(pod.uid()));
      }
    }
    return left;
  }
}
