package dev.partita.cli.demo;

import dev.partita.cli.command.Waiting;
import dev.partita.cli.demo.cluster.BoundPod;
import dev.partita.cli.demo.cluster.Workload;
import dev.partita.cli.demo.screen.CardPictures;
import dev.partita.cli.demo.screen.Observation;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Chapters 3 and 4: three pods get shares, and a fourth must wait. */
final class ClaimsAreAllocated {
  private static final Duration TIMEOUT = Duration.ofSeconds(15);
  private static final List<Workload> WORKLOADS = List.of(Workload.TRAINER, Workload.NOTEBOOK, Workload.SERVER);

  private static final Pattern CARDS = Pattern.compile("(\\d+) cards? on ");

  private final Stage stage;

  ClaimsAreAllocated(Stage stage) {
    this.stage = stage;
  }

  /** The three pods that got what they asked for. */
  List<BoundPod> allocate() throws Exception {
    stage.screen().chapter("Three pods ask for shares of cards (ResourceClaims)");
    stage.screen().say(
        "Partita's controller picks node and card, on cards that are in use already if they fit, and the scheduler follows.");
    List<BoundPod> bound = new ArrayList<>();
    for (Workload workload : WORKLOADS) {
      Pod pod = stage.cluster().deploy(workload);
      Optional<BoundPod> placed = stage.cluster().bind(workload, pod, TIMEOUT);
      placed.ifPresent(bound::add);
      stage.screen().say(workload.wish() + "   ->  " + placed.map(BoundPod::card).orElse("nothing"));
    }
    pictures();
    stage.observations().require(Observation.SHARES_ALLOCATED, bound.size() == WORKLOADS.size(),
        "Allocated: " + bound.size());
    stage
        .observations()
        .require(Observation.TWO_ON_ONE_CARD, bound.get(0).card().equals(bound.get(1).card()),
            "They are on different cards");
    return bound;
  }

  /** The pod that has to wait. */
  Pod refuse() throws Exception {
    stage.screen().chapter("A fourth asks for more than any card has left");
    Pod pod = stage.cluster().deploy(Workload.LATECOMER);
    stage.screen().say(Workload.LATECOMER.wish());
    ResourceClaim claim = stage.cluster().claimOf(pod);
    int cards = CardPictures.of(stage.cluster().slices(), List.of()).size();
    Optional<String> note = Waiting.forAnswer(TIMEOUT, () -> stage.cluster().eventNote(claim, "Unallocatable"));
    note.ifPresent(text -> stage.screen()
        .quote("Warning  Unallocatable  " + text.replaceFirst(": ", ":\n  ").replace("; ", "\n  ")));
    boolean waits = stage.cluster().bind(Workload.LATECOMER, pod, Duration.ZERO).isEmpty();
    boolean explained = note.filter(text -> cardsExplained(text) == cards).isPresent();
    stage
        .observations()
        .note(
            Observation.FOURTH_EXPLAINED,
            waits && explained,
            waits
                ? "The event does not speak of all " + cards + " cards: " + note.orElse("there is no event")
                : "It was allocated");
    return pod;
  }

  /** How many cards the reasons of an event speak of: each begins like {@code 2 cards on node-b:}. */
  static int cardsExplained(String note) {
    return CARDS.matcher(note).results().mapToInt(match -> Integer.parseInt(match.group(1))).sum();
  }

  private void pictures() {
    CardPictures.of(stage.cluster().slices(), stage.cluster().allClaims())
        .forEach(picture -> stage.screen().say(picture.line()));
  }
}
