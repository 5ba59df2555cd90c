package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.Daemons;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodTraits;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Of a pod that is deleted by force nothing is left in the API at once, while kubelet still ends its containers, which
 * may take as long as their grace period. Whoever gets its cards runs at most 5 s later than a pod does that gets free
 * cards, counted from the first moment at which that can be: the pod's deletion, or the end of that period. How long a
 * pod takes that gets free cards is measured each time, for on a busy machine that is more than 5 s. Runs alone, for it
 * measures time.
 */
@OnRealCluster
@Isolated("it measures time")
class ForceDeletedPodIT {
  private static final Duration SOON = Duration.ofSeconds(5);

  /** It goes on when it is told to end: the kernel lets a container's first process ignore that. */
  private static final String GOES_ON = "exec partita-probe hold 1Gi";

  private static final Ask WHOLE_NODE = Ask.wholeCards(RealCluster.CARDS);

  @BeforeEach
  void allCardsAreFree(RealCluster cluster) {
    new Daemons(cluster.client()).awaitFreeCards(cluster.ownNode());
  }

  @AfterEach
  void noPreparationWasRefused(Workspace workspace) {
    assertThat(workspace.events())
        .extracting(Workspace.EventLine::reason)
        .contains("Prepared")
        .doesNotContain("FailedPrepareDynamicResources");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10})
  void aPodThatComesAfterItAndClaimsItsCardsStartsWithin5s(int grace, RealCluster cluster, Workspace workspace) {
    Holder first = Holder.start(workspace, "first", PodTraits.on(cluster.ownNode()).grace(grace));
    Instant deleted = first.deleteByForce();
    PodUnderTest next = workspace.pod("next", PodTraits.on(cluster.ownNode()), WHOLE_NODE, "exec sleep 600");
    assertStartedInTime(next, deleted, first.usual().plusSeconds(grace));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10})
  void aPodThatWaitsForItsCardsStartsWithin5s(int grace, RealCluster cluster, Workspace workspace) {
    Holder first = Holder.start(workspace, "first", PodTraits.on(cluster.ownNode()).grace(grace));
    PodUnderTest next = workspace.pod("next", PodTraits.on(cluster.ownNode()), WHOLE_NODE, "exec sleep 600");
    workspace.awaitEvent("ResourceClaim", next.claim().name(), "Unallocatable");
    Instant deleted = first.deleteByForce();
    assertStartedInTime(next, deleted, first.usual().plusSeconds(grace));
  }

  /** One after the other, so that what one leaves behind on its node delays the next. */
  @Test
  void eachOfARowOfPodsThatAreDeletedByForceStartsWithin5s(RealCluster cluster, Workspace workspace) {
    PodTraits traits = PodTraits.on(cluster.ownNode());
    Holder first = Holder.start(workspace, "pod-0", traits);
    Instant deleted = first.deleteByForce();
    for (int i = 1; i < 5; i++) {
      PodUnderTest next = workspace.pod("pod-" + i, traits, WHOLE_NODE, GOES_ON);
      assertStartedInTime(next, deleted, first.usual().plusSeconds(1));
      deleted = Instant.now();
      next.deleteByForce();
    }
  }

  /**
   * A pod that has got free cards.
   *
   * @param usual how long it took to run
   */
  private record Holder(PodUnderTest pod, Duration usual) {
    static Holder start(Workspace workspace, String name, PodTraits traits) {
      Instant asked = Instant.now();
      PodUnderTest pod = workspace.pod(name, traits, WHOLE_NODE, GOES_ON).awaitRunning();
      Duration usual = Duration.between(asked, Instant.now());
      return new Holder(pod.awaitLine("holding"), usual);
    }

    /** When it was deleted. */
    Instant deleteByForce() {
      Instant deleted = Instant.now();
      pod.deleteByForce();
      return deleted;
    }
  }

  /** By the clock of the one who deleted; it ends when the API says that the container runs. */
  private static void assertStartedInTime(PodUnderTest next, Instant deleted, Duration atLeast) {
    await("the container of pod " + next.name())
        .pollInterval(Duration.ofMillis(50))
        .atMost(Workspace.PATIENCE)
        .until(() -> "Running".equals(next.phase()));
    Duration wait = Duration.between(deleted, Instant.now());
    System.out.println(
        "deleted by force: the next pod ran after %d ms; with the grace period a pod on free cards takes %d ms"
            .formatted(wait.toMillis(), atLeast.toMillis()));
    assertThat(wait).as("from the deletion until the next pod ran").isLessThan(SOON.plus(atLeast));
  }
}
