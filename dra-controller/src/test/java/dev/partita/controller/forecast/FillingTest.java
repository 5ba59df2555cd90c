package dev.partita.controller.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds {@link Filling} against the same, done step by step and without any cleverness. */
class FillingTest {
  private static final int ALL = Demand.CARD;

  private record Card(int kind, int memory, int cores) {
    int left() {
      return memory + cores;
    }

    boolean fits(Demand pod) {
      return pod.canUse(kind) && pod.memoryOf(kind) <= memory && pod.coresOf(kind) <= cores;
    }

    Card after(Demand pod) {
      return new Card(kind, memory - pod.memoryOf(kind), cores - pod.coresOf(kind));
    }
  }

  private static final Comparator<Card> FULLEST =
      Comparator.comparingInt(Card::left).thenComparingInt(Card::kind).thenComparingInt(Card::memory);

  @Test
  void itFillsAsPodByPodWould() {
    Random random = new Random(7);
    for (int round = 0; round < 2_000; round++) {
      int kinds = 1 + random.nextInt(3);
      List<Demand> demands = Stream.generate(() -> pod(random, kinds)).limit(1 + random.nextInt(12)).toList();
      int[][] fills = new int[3][12 + random.nextInt(100)];
      for (int[] fill : fills) {
        Arrays.setAll(fill, i -> random.nextInt(demands.size()));
      }
      List<Card> cards = new ArrayList<>();
      int ofHost = random.nextInt(9);
      int only = random.nextInt(2 * kinds);
      for (int i = 0; i < ofHost; i++) {
        cards.add(card(random, only < kinds ? only : random.nextInt(kinds)));
      }
      FreeParts state = FreeParts.of(random.nextInt(40_000), random.nextInt(40_000),
          cards.stream().mapToLong(FillingTest::packed).toArray());
      int[] present = cards.stream().mapToInt(Card::kind).distinct().sorted().toArray();
      long expected = Arrays.stream(fills)
          .mapToLong(fill -> idleAfter(state, cards, Arrays.stream(fill).mapToObj(demands::get).toList())).sum();
      assertThat(new Filling(new Arrivals(demands, fills, present), state).idleAfterAll())
          .as("round %d: %s", round, cards)
          .isEqualTo(expected);
    }
  }

  private static long packed(Card card) {
    return FreeParts.card(card.kind(), card.memory(), card.cores());
  }

  private static Demand pod(Random random, int kinds) {
    int[] memory = new int[kinds];
    int[] cores = new int[kinds];
    boolean whole = random.nextInt(3) == 0;
    for (int kind = 0; kind < kinds; kind++) {
      boolean unusable = random.nextInt(4) == 0;
      memory[kind] = unusable ? -1 : whole ? ALL : random.nextInt(ALL);
      cores[kind] = unusable ? 0 : whole ? ALL : random.nextInt(3) * 1_000;
    }
    int cards = random.nextInt(8) == 0 ? 0 : random.nextInt(5) == 0 ? 2 + random.nextInt(3) : 1;
    return new Demand(random.nextInt(12_000), random.nextInt(12_000), cards, memory, cores);
  }

  private static Card card(Random random, int kind) {
    return switch (random.nextInt(4)) {
      case 0 -> new Card(kind, 0, 0);
      case 1 -> new Card(kind, random.nextInt(ALL), random.nextInt(10) * 1_000);
      default -> new Card(kind, ALL, ALL);
    };
  }

  private static long idleAfter(FreeParts state, List<Card> start, List<Demand> pods) {
    List<Card> cards = new ArrayList<>(start);
    int cpu = state.milliCpu();
    int memory = state.memory();
    for (Demand pod : pods) {
      List<Card> open = cards.stream().filter(card -> card.left() > 0 && card.fits(pod)).sorted(FULLEST).toList();
      if (pod.milliCpu() > cpu || pod.memory() > memory || open.size() < pod.cards()) {
        continue;
      }
      cpu -= pod.milliCpu();
      memory -= pod.memory();
      List<Card> taken = pod.cards() == 1 ? open.subList(0, 1) : open.reversed().subList(0, pod.cards());
      for (Card card : taken) {
        cards.remove(card);
        cards.add(card.after(pod));
      }
    }
    return cards.stream().mapToLong(Card::left).sum();
  }
}
