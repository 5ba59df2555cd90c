package dev.partita.controller.stream;

import dev.partita.controller.replay.PodSizes;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.stream.ClusterStream.Among;
import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamNode;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Makes a stream by chance: pods arrive as a Poisson process and stay for exponentially distributed times. The same
 * values give the same stream everywhere. Sizes and cards are those of the benchmarks' mix, and so is what pods request
 * of their nodes: see {@link #MIX}.
 */
public final class StreamGenerator {
  private static final long MIB = 1L << 20;
  private static final int CORES_OF_CARD = 100;

  /** Nodes have, in turns, cards of these. */
  private static final List<Model> MODELS =
      List.of(new Model("large", 143_771 * MIB), new Model("middle", 81_920 * MIB), new Model("small", 24_564 * MIB));

  private static final Among NEAR = new Among(List.of(), Optional.of("numaNode"));

  /** What pods ask for; the weights add up to 100. */
  private static final List<Weighted> MIX =
      List.of(
          new Weighted(40, new Cards.Share(1, 5_000 * MIB, 15, Among.ALL)),
          new Weighted(25, new Cards.Share(1, 12_000 * MIB, 33, Among.ALL)),
          new Weighted(10, new Cards.Share(1, 70_000 * MIB, 50, new Among(List.of("large"), Optional.empty()))),
          new Weighted(5, new Cards.Share(2, 8_000 * MIB, 20, NEAR)),
          new Weighted(14, new Cards.Whole(1, Among.ALL)),
          new Weighted(6, new Cards.Whole(4, NEAR)));

  private static final PodSizes SIZES = PodSizes.USUAL;

  private record Model(String name, long memory) {}

  private record Weighted(int weight, Cards cards) {}

  /**
   * What to make.
   *
   * @param pods how many
   * @param nodes how many
   * @param gpus cards of each node, half of them on each of two NUMA nodes
   * @param load percent of all cards' cores that pods would have on average if none had to wait
   * @param duration how long a pod runs on average
   * @param seed another one gives other pods
   */
  public record Shape(int pods, int nodes, int gpus, int load, Duration duration, long seed) {}

  private StreamGenerator() {}

  /** Makes the stream. */
  public static ClusterStream of(Shape shape) {
    List<StreamNode> nodes = new ArrayList<>();
    for (int i = 0; i < shape.nodes(); i++) {
      Model model = MODELS.get(i % MODELS.size());
      nodes.add(
          new StreamNode("node-%05d".formatted(i), model.name(), shape.gpus(), model.memory(),
              Math.ceilDiv(shape.gpus(), 2), SIZES.host()));
    }
    RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(shape.seed());
    double seconds = shape.duration().toMillis() / 1000.0;
    double between = seconds * meanCores() / ((double) shape.nodes() * shape.gpus() * shape.load());
    List<StreamPod> pods = new ArrayList<>();
    double now = 0;
    for (int i = 0; i < shape.pods(); i++) {
      now += exponential(random, between);
      Cards cards = draw(random);
      pods.add(
          new StreamPod("pod-" + i, cards, needs(cards), millis(now),
              OptionalDouble.of(millis(exponential(random, seconds)))));
    }
    return new ClusterStream("generated", nodes, pods);
  }

  /** Percent of a card's cores that a pod asks for on average. */
  private static double meanCores() {
    return MIX.stream().mapToDouble(kind -> kind.weight() * cores(kind.cards())).sum() / 100;
  }

  private static double cores(Cards cards) {
    return switch (cards) {
      case Cards.None() -> 0;
      case Cards.Whole whole -> whole.count() * CORES_OF_CARD;
      case Cards.Share share -> share.count() * share.cores();
    };
  }

  private static Cards draw(RandomGenerator random) {
    int left = random.nextInt(MIX.stream().mapToInt(Weighted::weight).sum());
    for (Weighted kind : MIX) {
      left -= kind.weight();
      if (left < 0) {
        return kind.cards();
      }
    }
    throw new IllegalStateException("the mix has no weights");
  }

  private static PodNeeds needs(Cards cards) {
    PodNeeds each = cards instanceof Cards.Whole ? SIZES.wholeCard() : SIZES.share();
    return new PodNeeds(each.milliCpu() * cards.count(), each.memory() * cards.count());
  }

  /** Of that mean. The logarithm is the same on every machine. */
  private static double exponential(RandomGenerator random, double mean) {
    return -mean * StrictMath.log(1 - random.nextDouble());
  }

  /** To thousandths, as a file would have it. */
  private static double millis(double seconds) {
    return Math.round(seconds * 1000) / 1000.0;
  }
}
