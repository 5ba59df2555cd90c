package dev.partita.controller.stream;

import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.StreamReport.Allocated;
import dev.partita.controller.stream.StreamReport.Demand;
import dev.partita.controller.stream.StreamReport.Sample;
import dev.partita.controller.stream.StreamReport.Use;
import dev.partita.controller.stream.StreamReport.Waits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** Adds up over time what a stream's pods have of the cards, and how long they wait. For one thread. */
final class StreamMeasure {
  private static final int SAMPLES = 240;

  private final Map<CardKey, Measured> cards = new HashMap<>();
  private final Optional<LargestShare> largest;
  private final TimeMean memory;
  private final TimeMean cores;
  private final TimeMean begun;
  private final TimeMean waiting;
  private final TimeMean fragmentation;
  private final List<Double> waits = new ArrayList<>();
  private long allMemory;
  private long suitableMemory;
  private long usedMemory;
  private long usedCores;
  private long unusableMemory;
  private int begunCards;
  private int placed;
  private int waitingNow;
  private long askedMilli;
  private long usedMilli;
  private Optional<Long> firstFailure = Optional.empty();
  private boolean isOver;

  /**
   * A card as it was last measured.
   *
   * @param used bytes
   * @param cores percent
   * @param unusable free bytes that the largest share cannot use
   */
  private record Measured(Card card, boolean isBegun, long used, int cores, long unusable) {}

  /** @param end seconds from the begin to the last arrival */
  StreamMeasure(Inventory inventory, Optional<LargestShare> largest, double end) {
    this.largest = largest;
    this.memory = new TimeMean(end, SAMPLES);
    this.cores = new TimeMean(end, SAMPLES);
    this.begun = new TimeMean(end, SAMPLES);
    this.waiting = new TimeMean(end, SAMPLES);
    this.fragmentation = new TimeMean(end, SAMPLES);
    for (GpuHost host : inventory.hosts().values()) {
      for (Card card : host.cards()) {
        allMemory += card.allocatableMemory();
        suitableMemory += suits(card) ? card.allocatableMemory() : 0;
        cards.put(card.key(), new Measured(card, false, 0, 0, 0));
      }
    }
  }

  private boolean suits(Card card) {
    return largest.isEmpty() || (card.allocatableMemory() >= largest.get().memory()
        && (largest.get().models().isEmpty() || largest.get().models().contains(card.model())));
  }

  /** Until that second everything stays as it is. */
  void advance(double now) {
    if (!isOver) {
      memory.advance(now);
      cores.advance(now);
      begun.advance(now);
      waiting.advance(now);
      fragmentation.advance(now);
    }
  }

  /** The last pod has arrived: what follows does not count as use. */
  void lastArrived() {
    isOver = true;
  }

  /** A pod arrives that asks for this. */
  void arrived(Cards asked) {
    askedMilli += asked.milli();
  }

  /** A pod has a place, for which it waited so many seconds. */
  void started(Cards asked, double waited) {
    waits.add(waited);
    placed += asked.count() > 0 ? 1 : 0;
    usedMilli += asked.milli();
  }

  /** A pod is gone. */
  void left(Cards asked) {
    usedMilli -= asked.milli();
  }

  /** So many pods wait. */
  void waits(int pods) {
    if (pods > waitingNow && firstFailure.isEmpty()) {
      firstFailure = Optional.of(askedMilli);
    }
    waitingNow = pods;
    waiting.set(pods);
  }

  /** What is taken of these bookings' cards is another amount than before. */
  void changed(List<Booking> bookings, Accounts accounts) {
    for (Booking booking : bookings) {
      Measured before = Objects.requireNonNull(cards.get(booking.card()));
      Measured after = measured(before.card(), accounts.of(booking.card()));
      cards.put(booking.card(), after);
      usedMemory += after.used() - before.used();
      usedCores += after.cores() - before.cores();
      unusableMemory += after.unusable() - before.unusable();
      begunCards += (after.isBegun() ? 1 : 0) - (before.isBegun() ? 1 : 0);
    }
    if (!isOver) {
      memory.set(part(usedMemory, allMemory));
      cores.set(part(usedCores, (long) Account.CORES * cards.size()));
      begun.set(part(begunCards, cards.size()));
      fragmentation.set(part(unusableMemory, suitableMemory));
    }
  }

  private Measured measured(Card card, Account account) {
    if (account.wholes() > 0 || account.turns() > 0) {
      return new Measured(card, true, card.allocatableMemory(), Account.CORES, 0);
    }
    long free = card.allocatableMemory() - account.memory();
    boolean fits = largest
        .map(share -> share.memory() <= free && share.cores() <= Account.CORES - account.cores())
        .orElse(account.isUntouched());
    return new Measured(card, !account.isUntouched(), account.memory(), account.cores(),
        suits(card) && !fits ? free : 0);
  }

  private static double part(long some, long all) {
    return all == 0 ? 0 : (double) some / all;
  }

  /** What came of it; {@code failed} pods still wait. */
  StreamReport report(StreamPolicy policy, int failed, long nsPerDecision) {
    double[] sorted = waits.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    List<Sample> samples = new ArrayList<>();
    for (int i = 0; i < SAMPLES; i++) {
      samples.add(new Sample(memory.middle(i), memory.of(i), waiting.of(i), fragmentation.of(i)));
    }
    return new StreamReport(
        policy,
        new Demand(cards.size(), placed, failed, askedMilli, usedMilli, firstFailure),
        new Allocated(memory.use(), cores.use(), begun.use()),
        new Waits(percentile(sorted, 50), percentile(sorted, 99), (int) waiting.use().peak()),
        fragmentation.use(),
        samples,
        nsPerDecision);
  }

  /** The smallest value that so many percent of the values do not exceed; 0 if there are none. */
  private static double percentile(double[] sorted, int percent) {
    return sorted.length == 0 ? 0 : sorted[(int) Math.ceilDiv((long) sorted.length * percent, 100L) - 1];
  }

  /** An amount that changes at times: its mean and its peak, over all and over equal parts of the time. */
  static final class TimeMean {
    private final double end;
    private final double[] sums;
    private double now;
    private double value;
    private double peak;

    /** @param end of the time, from 0 */
    TimeMean(double end, int parts) {
      this.end = end;
      this.sums = new double[parts];
    }

    void set(double amount) {
      value = amount;
      peak = Math.max(peak, amount);
    }

    void advance(double until) {
      double length = end / sums.length;
      while (now < Math.min(until, end)) {
        int part = (int) Math.min(sums.length - 1L, (long) (now / length));
        double to = part == sums.length - 1 ? end : Math.max(Math.nextUp(now), (part + 1) * length);
        double next = Math.min(to, Math.min(until, end));
        sums[part] += value * (next - now);
        now = next;
      }
    }

    /** The mean of a part; the amount itself where there was no time. */
    double of(int part) {
      return end == 0 ? value : sums[part] / (end / sums.length);
    }

    double middle(int part) {
      return (part + 0.5) * end / sums.length;
    }

    Use use() {
      return new Use(end == 0 ? value : Arrays.stream(sums).sum() / end, peak);
    }
  }
}
