package dev.partita.controller.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import dev.partita.controller.stream.StreamGenerator.Shape;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StreamGeneratorTest {
  private static final Shape SHAPE = new Shape(20_000, 100, 8, 80, Duration.ofHours(2), 7);

  @Test
  void theSameSeedGivesTheSameStreamAndAnotherOneAnother() {
    assertThat(StreamGenerator.of(SHAPE)).isEqualTo(StreamGenerator.of(SHAPE));
    assertThat(StreamGenerator.of(new Shape(20_000, 100, 8, 80, Duration.ofHours(2), 8)).pods())
        .isNotEqualTo(StreamGenerator.of(SHAPE).pods());
  }

  @Test
  void arrivalsAreThoseOfTheLoadAndDurationsOfTheMean() {
    ClusterStream stream = StreamGenerator.of(SHAPE);
    List<StreamPod> pods = stream.pods();
    double duration = pods.stream().mapToDouble(pod -> pod.duration().orElseThrow()).average().orElseThrow();
    assertThat(duration).isCloseTo(7200, within(7200 * 0.03));
    double cores = pods.stream().mapToDouble(pod -> switch (pod.cards()) {
      case Cards.None() -> 0;
      case Cards.Whole whole -> whole.count() * 100;
      case Cards.Share share -> share.count() * share.cores();
    } * pod.duration().orElseThrow()).sum();
    assertThat(cores / stream.lastArrival()).as("percent of cards in use if none waited")
        .isCloseTo(800 * 100 * 0.8, within(800 * 100 * 0.8 * 0.05));
    double[] gaps = IntStream.range(1, pods.size())
        .mapToDouble(i -> pods.get(i).arrival() - pods.get(i - 1).arrival()).toArray();
    double mean = stream.lastArrival() / gaps.length;
    double longer = IntStream.range(0, gaps.length).filter(i -> gaps[i] > mean).count() / (double) gaps.length;
    assertThat(longer).as("of a Poisson process 1/e are longer than the mean").isCloseTo(1 / Math.E, within(0.02));
  }

  @Test
  void aQuarterOfThePodsAsksForAThirdOfACard() {
    List<StreamPod> pods = StreamGenerator.of(SHAPE).pods();
    long thirds = pods.stream().filter(pod -> pod.cards() instanceof Cards.Share share && share.cores() == 33).count();
    assertThat(thirds / (double) pods.size()).isCloseTo(0.25, within(0.01));
    assertThat(pods.stream().filter(pod -> pod.cards() instanceof Cards.Whole whole && whole.count() == 4)).isNotEmpty()
        .allMatch(pod -> pod.needs().milliCpu() == 32_000);
    assertThat(LargestShare.of(StreamGenerator.of(SHAPE)).orElseThrow())
        .isEqualTo(new LargestShare(70_000L << 20, 50, List.of("large")));
  }
}
