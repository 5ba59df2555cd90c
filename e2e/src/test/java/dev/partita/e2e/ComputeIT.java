package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * What part of a card's time containers get. Each test but that of two cards has a card to itself, as far as kernels
 * go. A container that gets no processor launches nothing, so that too little at times proves nothing; a limit that
 * does not hold gives too much, or the half of two equals, at all times.
 */
@OnRealCluster
class ComputeIT {
  private static final Pattern PERIOD = Pattern.compile("(?m)^spinning .* share=([0-9.]+)%$");

  /** Keeps the card busy and says twice a second how much of it that was. */
  private static final String SPIN = "exec partita-probe spin 600s --every 0.5s";

  private static Ask share(int cores, String config, String card) {
    return Ask.share("1Gi").cores(cores).config(config).onCardOf(card);
  }

  private static List<Double> shares(Pattern line, PodUnderTest pod) {
    return line.matcher(pod.log()).results().map(found -> found.group(1)).map(Double::valueOf).toList();
  }

  /** Waits until a period's share lies between, not counting the first ones; gives how many periods that took. */
  private static int awaitShare(PodUnderTest pod, int skipped, double least, double most) {
    return await("pod " + pod.name() + " to get " + least + " to " + most + " % of the card")
        .atMost(Workspace.PATIENCE)
        .until(
            () -> {
              List<Double> shares = shares(PERIOD, pod);
              return IntStream.range(skipped, shares.size())
                  .filter(i -> shares.get(i) >= least && shares.get(i) <= most).map(i -> i - skipped + 1).findFirst();
            },
            OptionalInt::isPresent)
        .orElseThrow();
  }

  @Test
  void aHardShareGetsNoMoreThanItsPartOfAnIdleCardAndOneWithoutALimitAllOfIt(RealCluster cluster, Workspace workspace) {
    PodUnderTest hard = workspace
        .pod("hard", cluster.quietNodes().getFirst(), share(25, "coreLimit: Hard", "gpu-3"), SPIN).awaitRunning();
    PodUnderTest none = workspace
        .pod("none", cluster.quietNodes().getLast(), share(25, "coreLimit: None", "gpu-1"), SPIN).awaitRunning();
    awaitShare(none, 0, 60, 101);
    awaitShare(hard, 0, 18, 32);
    List<Double> tenSeconds = await("twenty periods of " + hard.name()).atMost(Workspace.PATIENCE)
        .until(() -> shares(PERIOD, hard), has -> has.size() >= 20);
    assertThat(tenSeconds.stream().mapToDouble(Double::doubleValue).average().orElseThrow()).isLessThan(40);
  }

  /** If nothing were given back, each would have half of the card: that is how it shares its time. */
  @Test
  void aSoftShareUsesIdleTimeGivesItBackToWhomItBelongsAndGetsItAgain(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    PodUnderTest soft = workspace.pod("soft", node, share(20, "coreLimit: Soft", "gpu-2"), SPIN).awaitRunning();
    awaitShare(soft, 0, 50, 101);
    Card alone = Card.await(soft, "of a card that nobody else uses", card -> card.othersPercent() < 40);

    PodUnderTest owner = workspace.pod("owner", node, share(80, "coreLimit: Hard", "gpu-2"), SPIN).awaitRunning();
    int before = shares(PERIOD, soft).size();
    awaitShare(owner, 0, 62, 101);
    assertThat(awaitShare(soft, before, 1, 30)).as("half seconds until what was lent is back").isLessThanOrEqualTo(20);
    Card crowded = Card.await(soft, "of a card that its owner uses", card -> card.othersPercent() > 50);
    assertThat(crowded.report()).isGreaterThan(alone.report());
    assertThat(crowded.busyNanos()).isGreaterThan(alone.busyNanos());

    owner.deleteAndAwait();
    awaitShare(soft, shares(PERIOD, soft).size(), 50, 101);
  }

  /**
   * A program on each of two cards, on which the other tests leave room: those limits let launches through together.
   */
  @Test
  void aContainerWithSharesOfTwoCardsHasItsPartOfEach(RealCluster cluster, Workspace workspace) {
    String spinBoth = "partita-probe spin 600s --every 0.5s --device 0 & " + SPIN + " --device 1";
    PodUnderTest both = workspace.pod("both", cluster.quietNodes().getFirst(),
        Ask.share("1Gi").cores(25).cards(2).config("coreLimit: Hard").onCardOf("gpu-1", "gpu-3"), spinBoth)
        .awaitRunning();
    awaitShare(both, 0, 18, 32);
    List<Double> tenSeconds = await("twenty periods on each card").atMost(Workspace.PATIENCE)
        .until(() -> shares(PERIOD, both), has -> has.size() >= 40);
    assertThat(tenSeconds.stream().mapToDouble(Double::doubleValue).average().orElseThrow()).isLessThan(35);
  }

  @Test
  void aShareOfTheSecondPriorityPausesWhileOneOfTheFirstUsesTheCard(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    PodUnderTest second =
        workspace.pod("second", node, share(10, "coreLimit: None, priority: 1", "gpu-0"), SPIN).awaitRunning();
    awaitShare(second, 0, 50, 101);

    PodUnderTest first =
        workspace.pod("first", node, share(10, "coreLimit: None, priority: 0", "gpu-0"), SPIN).awaitRunning();
    Card.await(second, "that tells it to pause", Card::wanted);
    assertThat(Card.of(first).wanted()).isFalse();
    int meanwhile = shares(PERIOD, second).size();
    awaitShare(first, shares(PERIOD, first).size() + 4, 60, 101);

    first.deleteAndAwait();
    awaitShare(second, meanwhile, 0, 12);
    awaitShare(second, meanwhile, 50, 101);
  }

  /** The card report in a container: what the node's plugin says of the rest of the card. */
  private record Card(long report, long busyNanos, long othersPercent, boolean wanted) {
    private static final Pattern TEXT =
        Pattern.compile(
            "partita-card 1\nreport (\\d+)\nat \\d+\nbusy (\\d+)\nothers (\\d+)\nwanted ([01])\nsampled \\d+\nend (\\d+)\n");

    /** The report that is there, once there is one. */
    static Card of(PodUnderTest pod) {
      return await(pod, "of any kind", card -> true);
    }

    /** The first report that is so. */
    static Card await(PodUnderTest pod, String what, Predicate<Card> wanted) {
      return Awaitility.await("a card report in pod " + pod.name() + " " + what)
          .atMost(Workspace.PATIENCE)
          .until(() -> TEXT.matcher(pod.exec("cat /etc/partita/shares/*/card")).results().map(Card::read).filter(wanted)
              .findFirst(), Optional::isPresent)
          .orElseThrow();
    }

    private static Card read(MatchResult text) {
      return new Card(Long.parseLong(text.group(1)), Long.parseLong(text.group(2)), Long.parseLong(text.group(3)),
          text.group(4).equals("1"));
    }
  }
}
