package dev.partita.controller.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.controller.replay.ClusterStream.StreamNode;
import dev.partita.controller.replay.ClusterStream.StreamPod;
import dev.partita.controller.replay.StreamRun.Answer;
import dev.partita.controller.replay.StreamRun.Others;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StreamRunTest {
  @ParameterizedTest
  @EnumSource(Others.class)
  void everyPodThatFitsIsPlacedAndNoneThatDoesNot(Others others) {
    ClusterStream stream = random(3);
    Map<String, int[]> free = new HashMap<>();
    Map<String, long[]> room = new HashMap<>();
    Map<String, String> models = new HashMap<>();
    for (StreamNode node : stream.nodes()) {
      int[] cards = new int[node.gpus()];
      Arrays.fill(cards, 1000);
      free.put(node.node(), cards);
      room.put(node.node(), new long[]{node.cpuMilli(), node.memoryMiB()});
      models.put(node.node(), node.model());
    }
    List<Integer> failed = new ArrayList<>();
    StreamRun.play(
        stream,
        others,
        (answer, number) -> {
          StreamPod pod = stream.pods().get(number);
          if (answer.node().isEmpty()) {
            failed.add(number);
            for (String node : free.keySet()) {
              long fitting = Arrays.stream(of(free, node)).filter(milli -> milli >= pod.milli()).count();
              boolean model = pod.gpus() == 0 || pod.models().isEmpty() || pod.models().contains(models.get(node));
              boolean fits = model && fitting >= pod.gpus() && of(room, node)[0] >= pod.cpuMilli()
                  && of(room, node)[1] >= pod.memoryMiB();
              assertThat(fits).as("%s would have fitted on %s", pod, node).isFalse();
            }
            return;
          }
          String node = answer.node().orElseThrow();
          assertThat(answer.gpus()).doesNotHaveDuplicates().hasSize(pod.gpus());
          assertThat(pod.models().isEmpty() || pod.gpus() == 0 || pod.models().contains(models.get(node))).isTrue();
          for (int gpu : answer.gpus()) {
            assertThat(of(free, node)[gpu] -= pod.milli()).isNotNegative();
          }
          assertThat(of(room, node)[0] -= pod.cpuMilli()).isNotNegative();
          assertThat(of(room, node)[1] -= pod.memoryMiB()).isNotNegative();
        });
    assertThat(failed).isNotEmpty().hasSizeLessThan(stream.pods().size());
  }

  @Test
  void theSameStreamGivesTheSameAnswers() {
    assertThat(answers(random(7))).isEqualTo(answers(random(7)));
  }

  /** Cards of b are what every second pod names; there are a's for all others. */
  @Test
  void cardsThatOthersNameAreLeftToThem() {
    List<StreamNode> nodes = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      nodes.add(
          new StreamNode("n%02d".formatted(i), i % 2 == 0 ? "a" : "b", 4, i % 2 == 0 ? 40_000 : 400_000, 1_000_000));
    }
    List<StreamPod> pods = new ArrayList<>();
    for (int i = 0; i < 80; i++) {
      pods.add(new StreamPod("p" + i, 1, 1000, 10_000, 1_000, i % 2 == 0 ? List.of() : List.of("b")));
    }
    var summary = StreamRun.play(new ClusterStream("named", nodes, pods), Others.ALLOCATOR, (answer, number) -> {});
    assertThat(summary.failed()).as("those that came before anything was known of the mix may cost some")
        .isLessThanOrEqualTo(8);
  }

  @Test
  void linesThatMakeNoSenseAreNamed() {
    assertBroken("{\"node\":\"a\",\"gpus\":2,\"cpuMilli\":1,\"memoryMiB\":1}\n{\"pod\":\"p\",\"gpus\":2,\"milli\":500}",
        "line 2", "parts of more than one GPU");
    assertBroken("{\"node\":\"a\",\"gpus\":-1,\"cpuMilli\":1,\"memoryMiB\":1}", "line 1", "gpus must be 0 to 64");
    assertBroken("{\"node\":\"a\",\"gpus\":1}\n{\"node\":\"a\",\"gpus\":1}", "line 2", "twice");
    assertBroken("{\"stream\":\"x\"}\nnonsense", "line 2");
    assertBroken("{\"stream\":\"x\"}", "no nodes");
  }

  private static <T> T of(Map<String, T> byNode, String node) {
    return Objects.requireNonNull(byNode.get(node), node);
  }

  private static void assertBroken(String text, String... words) {
    assertThatThrownBy(() -> ClusterStream.read(new BufferedReader(new StringReader(text))))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(words);
  }

  private static List<Answer> answers(ClusterStream stream) {
    List<Answer> answers = new ArrayList<>();
    StreamRun.play(stream, Others.ALLOCATOR, (answer, number) -> answers.add(answer));
    return answers;
  }

  private static ClusterStream random(long seed) {
    Random random = new Random(seed);
    List<StreamNode> nodes = new ArrayList<>();
    for (int i = 0; i < 25; i++) {
      String model = List.of("a", "b", "c").get(random.nextInt(3));
      nodes.add(new StreamNode("n%02d".formatted(i), model, 1 + random.nextInt(8), 8_000L * (1 + random.nextInt(12)),
          64_000L * (1 + random.nextInt(8))));
    }
    List<StreamPod> pods = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      int gpus = random.nextInt(10) == 0 ? 0 : random.nextInt(10) == 0 ? 1 + random.nextInt(8) : 1;
      int milli = gpus == 1 && random.nextInt(2) == 0 ? 10 * (1 + random.nextInt(99)) : 1000;
      List<String> models = random.nextInt(4) == 0 ? List.of("a", "b").subList(0, 1 + random.nextInt(2)) : List.of();
      pods.add(new StreamPod("p" + i, gpus, milli, 1_000L * (1 + random.nextInt(16)), 4_000L * (1 + random.nextInt(8)),
          models));
    }
    return new ClusterStream("random", nodes, pods);
  }
}
