package dev.partita.controller.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamNode;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import dev.partita.controller.stream.StreamRun.Answer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * An account of a stream's cards and nodes apart from the run's own: refuses what cannot be, and finds what was missed.
 */
final class PaperAccount implements StreamEvents {
  private final ClusterStream stream;
  private final Map<String, Free> free = new HashMap<>();
  private final Map<Integer, Answer> running = new HashMap<>();
  private final Map<Integer, StreamPod> waiting = new LinkedHashMap<>();
  private int startedLater;

  private static final class Free {
    private final StreamNode node;
    private final long[] memory;
    private final int[] cores;
    private final int[] users;
    private final long[] needs;

    Free(StreamNode node) {
      this.node = node;
      this.memory = new long[node.gpus()];
      this.cores = new int[node.gpus()];
      this.users = new int[node.gpus()];
      this.needs = new long[]{node.capacity().milliCpu(), node.capacity().memory()};
      Arrays.fill(memory, node.gpuMemory());
      Arrays.fill(cores, 100);
    }

    boolean suits(Cards cards) {
      return switch (cards) {
        case Cards.None() -> true;
        case Cards.Whole whole -> whole.among().models().isEmpty() || whole.among().models().contains(node.model());
        case Cards.Share share -> share.among().models().isEmpty() || share.among().models().contains(node.model());
      };
    }

    boolean fits(int gpu, Cards cards) {
      return switch (cards) {
        case Cards.None() -> true;
        case Cards.Whole _ -> users[gpu] == 0;
        case Cards.Share share -> memory[gpu] >= share.memory() && cores[gpu] >= share.cores();
      };
    }

    boolean fits(StreamPod pod) {
      long cards = 0;
      for (int gpu = 0; gpu < node.gpus(); gpu++) {
        cards += fits(gpu, pod.cards()) ? 1 : 0;
      }
      return suits(pod.cards()) && cards >= pod.cards().count() && needs[0] >= pod.needs().milliCpu()
          && needs[1] >= pod.needs().memory();
    }

    void book(StreamPod pod, List<Integer> gpus, int sign) {
      needs[0] -= sign * pod.needs().milliCpu();
      needs[1] -= sign * pod.needs().memory();
      for (int gpu : gpus) {
        users[gpu] += sign;
        memory[gpu] -= sign * (pod.cards() instanceof Cards.Share share ? share.memory() : node.gpuMemory());
        cores[gpu] -= sign * (pod.cards() instanceof Cards.Share share ? share.cores() : 100);
      }
    }
  }

  PaperAccount(ClusterStream stream) {
    this.stream = stream;
    stream.nodes().forEach(node -> free.put(node.node(), new Free(node)));
  }

  @Override
  public void arrived(int pod, Answer answer) {
    if (answer.node().isEmpty()) {
      waiting.put(pod, stream.pods().get(pod));
    } else {
      starts(pod, answer);
    }
    for (Free node : free.values()) {
      waiting.values()
          .forEach(waits -> assertThat(node.fits(waits)).as("%s fits on %s", waits, node.node.node()).isFalse());
    }
  }

  @Override
  public void startedLater(int pod, Answer answer, double waited) {
    assertThat(waiting.remove(pod)).isNotNull();
    assertThat(waited).isNotNegative();
    startedLater++;
    starts(pod, answer);
  }

  private void starts(int number, Answer answer) {
    StreamPod pod = stream.pods().get(number);
    Free node = Objects.requireNonNull(free.get(answer.node().orElseThrow()));
    assertThat(answer.gpus()).doesNotHaveDuplicates().hasSize(pod.cards().count());
    assertThat(node.suits(pod.cards())).isTrue();
    answer.gpus().forEach(gpu -> assertThat(node.fits(gpu, pod.cards())).as("%s on %s", pod, answer).isTrue());
    node.book(pod, answer.gpus(), 1);
    assertThat(node.needs[0]).isNotNegative();
    assertThat(node.needs[1]).isNotNegative();
    running.put(number, answer);
  }

  @Override
  public void left(int pod) {
    Answer had = Objects.requireNonNull(running.remove(pod));
    Objects.requireNonNull(free.get(had.node().orElseThrow())).book(stream.pods().get(pod), had.gpus(), -1);
  }

  /** Pods that wait in the end. */
  int waiting() {
    return waiting.size();
  }

  /** Pods that waited and started. */
  int startedLater() {
    return startedLater;
  }
}
