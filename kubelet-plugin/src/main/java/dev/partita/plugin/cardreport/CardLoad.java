package dev.partita.plugin.cardreport;

import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.usage.measure.ShareRef;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes one card's reports from NVML's samples. Each sample is an average over a period that ends with it; periods
 * differ from card to card. As long as nobody knows whose a process is, what it uses counts for every share both as its
 * own use and as others' use.
 */
final class CardLoad {
  /** Samples of one period carry times this close to each other, in microseconds; the shortest period is 1/6 s. */
  private static final long SAME_PERIOD = 100_000;

  /**
   * A share of the card.
   *
   * @param priority 0 is the higher one
   */
  record Member(ShareRef ref, int priority, Set<Long> pids) {
    Member {
      pids = Set.copyOf(pids);
    }
  }

  /** Samples that are further apart were not made one after the other: the card was idle in between. */
  private static final int PERIODS_AT_ONCE = 3;

  /**
   * One moment by two clocks.
   *
   * @param nanos of the machine's monotonic clock, as containers read it
   * @param epochMicros of the time of day, as NVML's samples have it
   */
  record Moment(long nanos, long epochMicros) {}

  private final YieldRule rule;
  private final Map<ShareRef, Long> busy = new HashMap<>();
  // by the priority of who pauses: since when the higher ones have used enough, by the monotonic clock
  private final Map<Integer, Long> wantedSince = new HashMap<>();
  private Map<Long, Integer> percents = Map.of();
  private long newest; // the time of the newest sample, in microseconds as NVML has it
  private long period = 1_000_000; // microseconds from one sample to the next
  private @Nullable Moment last; // when there was news
  private long at;
  private long number;

  CardLoad(YieldRule rule) {
    this.rule = rule;
  }

  /**
   * The next reports. Between two samples there is no news, and what was told before still holds.
   *
   * @param samples newer than those taken before, at most one a process
   */
  Map<ShareRef, CardReport> take(List<ProcessSample> samples, List<Member> members, Moment now) {
    long before = newest;
    newest = Math.max(before, samples.stream().mapToLong(ProcessSample::timestampMicros).max().orElse(0));
    number++;
    Map<Long, Long> used = new HashMap<>();
    Moment former = last;
    if (newest > before || former == null || now.nanos() - former.nanos() >= 2 * period * 1000) {
      if (newest > before && before > 0) {
        period = Math.clamp(newest - before, SAME_PERIOD, period);
        at += (newest - begin(newest, before)) * 1000;
      } else if (former != null) {
        at += now.nanos() - former.nanos();
      }
      last = now;
      percents = new HashMap<>();
      for (ProcessSample sample : samples) {
        takeSample(sample, before, used);
      }
    }
    return reports(members, used, now);
  }

  /** The same while no process uses the card, but makes no reports: what was told before still holds. */
  void pass(Moment now) {
    Moment former = last;
    if (former == null || now.nanos() - former.nanos() >= 2 * period * 1000) {
      at += former == null ? 0 : now.nanos() - former.nanos();
      last = now;
      percents = Map.of();
      wantedSince.clear();
    }
  }

  private void takeSample(ProcessSample sample, long before, Map<Long, Long> used) {
    long time = sample.timestampMicros();
    if (time + SAME_PERIOD >= newest) { // else it was idle in the newest period
      percents.put(sample.pid(), sample.smPercent());
    }
    if (before > 0 && time > before) {
      used.put(sample.pid(), sample.smPercent() * (time - begin(time, before)) * 10);
    }
  }

  private long begin(long time, long before) {
    return time - before > PERIODS_AT_ONCE * period ? time - period : before;
  }

  /** The newest sample's time by the containers' clock; 0 where NVML's is not the time of day. */
  private long sampled(Moment now) {
    long ago = now.epochMicros() - newest;
    return newest > 0 && ago >= 0 ? Math.max(0, now.nanos() - ago * 1000) : 0;
  }

  private Map<ShareRef, CardReport> reports(List<Member> members, Map<Long, Long> used, Moment now) {
    Set<Integer> yielding = yielding(members, now.nanos());
    long sampled = sampled(now);
    busy.keySet().retainAll(members.stream().map(Member::ref).collect(Collectors.toSet()));
    int all = percents.values().stream().mapToInt(Integer::intValue).sum();
    Set<Long> known = members.stream().flatMap(member -> member.pids().stream()).collect(Collectors.toSet());
    // Whoever it is of will pay for it, and nobody can run ahead of being found by starting processes anew.
    long unknown =
        used.entrySet().stream().filter(use -> !known.contains(use.getKey())).mapToLong(Map.Entry::getValue).sum();
    Map<ShareRef, CardReport> reports = new TreeMap<>();
    for (Member member : members) {
      int own = percent(member);
      long more = member.pids().stream().mapToLong(pid -> used.getOrDefault(pid, 0L)).sum();
      boolean wanted = yielding.contains(member.priority());
      long total = Objects.requireNonNull(busy.merge(member.ref(), more + unknown, Long::sum));
      reports.put(member.ref(), new CardReport(number, at, total, Math.clamp(all - own, 0, 100), wanted, sampled));
    }
    return reports;
  }

  /** The priorities whose shares pause. */
  private Set<Integer> yielding(List<Member> members, long now) {
    Set<Integer> priorities = members.stream().map(Member::priority).collect(Collectors.toSet());
    wantedSince.keySet().retainAll(priorities);
    for (int priority : priorities) {
      int higher = members.stream().filter(other -> other.priority() < priority).mapToInt(this::percent).sum();
      if (higher < rule.percent()) {
        wantedSince.remove(priority);
      } else {
        wantedSince.putIfAbsent(priority, now);
      }
    }
    return wantedSince.entrySet().stream().filter(since -> now - since.getValue() >= rule.holdOff().toNanos())
        .map(Map.Entry::getKey).collect(Collectors.toSet());
  }

  private int percent(Member member) {
    return member.pids().stream().mapToInt(pid -> percents.getOrDefault(pid, 0)).sum();
  }
}
