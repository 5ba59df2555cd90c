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
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Of a pod that is deleted by force nothing is left in the API at once, while its containers run on for as long as their
 * grace period lets them. Whoever gets its cards starts within 5 s of the first moment at which that can be: the pod's
 * deletion, or the end of that period. Runs alone, for it measures time.
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
    new Daemons(cluster.client()).awaitFreeCards(cluster.brokenNode());
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
    PodTraits traits = PodTraits.on(cluster.brokenNode());
    PodUnderTest first = workspace.pod("first", traits.grace(grace), WHOLE_NODE, GOES_ON).awaitLine("holding");
    Instant deleted = Instant.now();
    first.deleteByForce();
    PodUnderTest next = workspace.pod("next", traits, WHOLE_NODE, "exec sleep 600");
    assertStartedInTime(next, deleted, grace);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10})
  void aPodThatWaitsForItsCardsStartsWithin5s(int grace, RealCluster cluster, Workspace workspace) {
    PodTraits traits = PodTraits.on(cluster.brokenNode());
    PodUnderTest first = workspace.pod("first", traits.grace(grace), WHOLE_NODE, GOES_ON).awaitLine("holding");
    PodUnderTest next = workspace.pod("next", traits, WHOLE_NODE, "exec sleep 600");
    workspace.awaitEvent("ResourceClaim", next.claim().name(), "Unallocatable");
    Instant deleted = Instant.now();
    first.deleteByForce();
    assertStartedInTime(next, deleted, grace);
  }

  /** One after the other, so that what one leaves behind on its node delays the next. */
  @Test
  void eachOfARowOfPodsThatAreDeletedByForceStartsWithin5s(RealCluster cluster, Workspace workspace) {
    PodTraits traits = PodTraits.on(cluster.brokenNode());
    List<Duration> waits = new ArrayList<>();
    PodUnderTest last = workspace.pod("pod-0", traits, WHOLE_NODE, GOES_ON).awaitLine("holding");
    for (int i = 1; i < 5; i++) {
      Instant deleted = Instant.now();
      last.deleteByForce();
      last = workspace.pod("pod-" + i, traits, WHOLE_NODE, GOES_ON);
      waits.add(assertStartedInTime(last, deleted, 1));
    }
    assertThat(waits).hasSize(4);
  }

  /** By the clock of the one who deleted; it ends when the API says that the container runs. */
  private static Duration assertStartedInTime(PodUnderTest next, Instant deleted, int grace) {
    await("the container of pod " + next.name())
        .pollInterval(Duration.ofMillis(50))
        .atMost(Workspace.PATIENCE)
        .until(() -> "Running".equals(next.phase()));
    Duration wait = Duration.between(deleted, Instant.now());
    System.out.println("deleted by force, %d s of grace: the next pod ran after %d ms".formatted(grace, wait.toMillis()));
    assertThat(wait).as("from the deletion until the next pod ran").isLessThan(SOON.plusSeconds(grace));
    return wait;
  }
}
