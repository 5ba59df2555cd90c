package dev.partita.controller.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.stream.ClusterStream.Among;
import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamNode;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import dev.partita.controller.stream.StreamRun.Answer;
import dev.partita.controller.stream.StreamRun.Others;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StreamRunTest {
  private static final long MIB = 1L << 20;
  private static final PodNeeds ROOM = new PodNeeds(64_000, 512L << 30);
  private static final PodNeeds SMALL = new PodNeeds(1_000, 1L << 30);

  @ParameterizedTest
  @CsvSource({"ALLOCATOR,auto,false", "LEAST_ALLOCATED,auto,false", "ALLOCATOR,auto,true", "ALLOCATOR,binpack,true",
    "ALLOCATOR,spread,true", "LEAST_ALLOCATED,binpack/spread,true"})
  void everyPodThatFitsIsPlacedAndNoneThatDoesNot(Others others, String policy, boolean leave) {
    ClusterStream stream = random(3, leave);
    PaperAccount account = new PaperAccount(stream);
    StreamReport report = StreamRun.play(stream, StreamPolicy.parse(policy), others, account);
    assertThat(report.demand().failed()).isEqualTo(account.waiting());
    if (leave) {
      assertThat(account.startedLater()).isPositive();
      assertThat(report.waits().p99()).isPositive();
    } else {
      assertThat(account.waiting()).isPositive().isLessThan(stream.pods().size());
    }
  }

  @Test
  void theSameStreamGivesTheSameAnswers() {
    assertThat(answers(random(7, true))).isEqualTo(answers(random(7, true)));
  }

  /** Cards of b are what every second pod names; there are a's for all others. */
  @Test
  void cardsThatOthersNameAreLeftToThem() {
    List<StreamNode> nodes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      nodes.add(
          new StreamNode("n%02d".formatted(i), i % 2 == 0 ? "a" : "b", 4,
              new PodNeeds(i % 2 == 0 ? 40_000 : 400_000, 1_000_000 * MIB)));
    }
    List<StreamPod> pods = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      Among among = new Among(i % 2 == 0 ? List.of() : List.of("b"), Optional.empty());
      pods.add(new StreamPod("p" + i, new Cards.Whole(1, among), new PodNeeds(10_000, 1_000 * MIB), i));
    }
    var report = StreamRun.play(new ClusterStream("named", nodes, pods), StreamPolicy.AUTO, Others.ALLOCATOR,
        new PaperAccount(new ClusterStream("named", nodes, pods)));
    assertThat(report.demand().failed()).as("those that came before anything was known of the mix may cost some")
        .isLessThanOrEqualTo(8);
  }

  @Test
  void aPodThatWaitsStartsWhenOneLeaves() {
    List<StreamPod> pods =
        List.of(whole("first", 0, 100), whole("second", 10, 50), whole("third", 20, 1), whole("late", 300, 1));
    ClusterStream stream = new ClusterStream("", List.of(new StreamNode("n", "a", 1, ROOM)), pods);
    List<String> told = new ArrayList<>();
    StreamReport report = StreamRun.play(stream, StreamPolicy.AUTO, Others.ALLOCATOR, new StreamEvents() {
      @Override
      public void arrived(int pod, Answer answer) {
        told.add(pods.get(pod).pod() + (answer.node().isEmpty() ? " waits" : " runs"));
      }

      @Override
      public void startedLater(int pod, Answer answer, double waited) {
        told.add(pods.get(pod).pod() + " waited " + waited);
      }

      @Override
      public void left(int pod) {
        told.add(pods.get(pod).pod() + " left");
      }
    });
    assertThat(told).containsExactly("first runs", "second waits", "third waits", "first left", "second waited 90.0",
        "second left", "third waited 130.0", "third left", "late runs");
    assertThat(report.waits()).isEqualTo(new StreamReport.Waits(0, 130, 2));
    assertThat(report.allocated().memory().mean()).as("151 of 300 s").isCloseTo(151 / 300.0,
        org.assertj.core.data.Offset.offset(
            1e-9));
    assertThat(report.allocated().memory().peak()).isEqualTo(1);
    assertThat(report.demand().failed()).isZero();
  }

  @Test
  void aSmallerPodNeedNotWaitForALargerOneBeforeIt() {
    List<StreamPod> pods = List.of(whole("first", 0, 100),
        new StreamPod("two", new Cards.Whole(2, Among.ALL), SMALL, 1, OptionalDouble.of(5)), whole("one", 2, 5),
        new StreamPod("never", new Cards.Whole(3, Among.ALL), SMALL, 3, OptionalDouble.of(5)));
    ClusterStream stream = new ClusterStream("", List.of(new StreamNode("n", "a", 2, ROOM)), pods);
    PaperAccount account = new PaperAccount(stream);
    StreamReport report = StreamRun.play(stream, StreamPolicy.AUTO, Others.ALLOCATOR, account);
    assertThat(account.startedLater()).isEqualTo(1);
    assertThat(report.demand().failed()).as("no node has three").isEqualTo(1);
    assertThat(report.waits().p99()).isEqualTo(99);
  }

  private static StreamPod whole(String name, double arrival, double duration) {
    return new StreamPod(name, new Cards.Whole(1, Among.ALL), SMALL, arrival, OptionalDouble.of(duration));
  }

  private static List<String> answers(ClusterStream stream) {
    List<String> answers = new ArrayList<>();
    StreamRun.play(stream, StreamPolicy.AUTO, Others.ALLOCATOR, new StreamEvents() {
      @Override
      public void arrived(int pod, Answer answer) {
        answers.add(pod + " " + answer);
      }

      @Override
      public void startedLater(int pod, Answer answer, double waited) {
        answers.add(pod + " " + answer + " " + waited);
      }

      @Override
      public void left(int pod) {}
    });
    return answers;
  }

  private static ClusterStream random(long seed, boolean leave) {
    Random random = new Random(seed);
    List<StreamNode> nodes = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      String model = List.of("a", "b", "c").get(random.nextInt(3));
      nodes.add(new StreamNode("n%02d".formatted(i), model, 1 + random.nextInt(8),
          new PodNeeds(8_000L * (1 + random.nextInt(12)), 64_000L * (1 + random.nextInt(8)) * MIB)));
    }
    List<StreamPod> pods = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      Among among =
          new Among(random.nextInt(4) == 0 ? List.of("a", "b").subList(0, 1 + random.nextInt(2)) : List.of(),
              Optional.empty());
      pods.add(
          new StreamPod("p" + i, cards(random, among),
              new PodNeeds(1_000L * (1 + random.nextInt(16)), 4_000L * (1 + random.nextInt(8)) * MIB), 0.5 * i,
              leave ? OptionalDouble.of(1 + random.nextInt(150)) : OptionalDouble.empty()));
    }
    return new ClusterStream("random", nodes, pods);
  }

  private static Cards cards(Random random, Among among) {
    return switch (random.nextInt(10)) {
      case 0 -> new Cards.None();
      case 1 -> new Cards.Whole(1 + random.nextInt(8), among);
      case 2, 3, 4 -> new Cards.Whole(1, among);
      default ->
          new Cards.Share(1 + random.nextInt(2), 640 * MIB * (1 + random.nextInt(99)), random.nextInt(100), among);
    };
  }
}
