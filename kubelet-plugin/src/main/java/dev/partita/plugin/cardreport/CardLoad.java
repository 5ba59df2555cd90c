package dev.partita.plugin.cardreport;

import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.usage.ShareRef;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Makes one card's reports of NVML's samples. Each sample is an average over a period that ends with it; periods differ by card. What
 * a process uses of which nobody knows yet whose it is counts for every share as its own, and for each as others' use as well.
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

  private final Map<Long, Long> seen = new HashMap<>(); // by pid: microseconds of its last sample
  private final Map<ShareRef, Long> busy = new HashMap<>();
  private long newest;
  private long at;
  private long number;

  /** The time of the newest sample, in microseconds as NVML has it; later samples are asked for. */
  long newest() {
    return newest;
  }

  /**
   * The next reports.
   *
   * @param samples newer than {@link #newest}, at most one a process
   * @param passedNanos since the last call
   */
  Map<ShareRef, CardReport> take(List<ProcessSample> samples, List<Member> members, long passedNanos) {
    long before = newest;
    newest = Math.max(before, samples.stream().mapToLong(ProcessSample::timestampMicros).max().orElse(0));
    at += newest > before && before > 0 ? (newest - before) * 1000 : passedNanos;
    number++;
    Map<Long, Integer> percents = new HashMap<>();
    Map<Long, Long> used = new HashMap<>();
    for (ProcessSample sample : samples) {
      long time = sample.timestampMicros();
      if (time + SAME_PERIOD < newest) {
        continue; // it was idle in the newest period
      }
      // A process without a share in the samples before this one is not in them.
      long since = Math.max(before, Objects.requireNonNullElse(seen.put(sample.pid(), time), 0L));
      percents.put(sample.pid(), sample.smPercent());
      if (since > 0 && time > since) {
        used.put(sample.pid(), sample.smPercent() * (time - since) * 10);
      }
    }
    seen.values().removeIf(time -> time + 10_000_000 < newest);
    return reports(members, percents, used);
  }

  private Map<ShareRef, CardReport> reports(List<Member> members, Map<Long, Integer> percents, Map<Long, Long> used) {
    busy.keySet().retainAll(members.stream().map(Member::ref).toList());
    int all = percents.values().stream().mapToInt(Integer::intValue).sum();
    Set<Long> known = members.stream().flatMap(member -> member.pids().stream()).collect(Collectors.toSet());
    // Whoever it is of will pay for it, and nobody can run ahead of being found by starting processes anew.
    long unknown = used.entrySet().stream().filter(use -> !known.contains(use.getKey())).mapToLong(Map.Entry::getValue).sum();
    Map<ShareRef, CardReport> reports = new TreeMap<>();
    for (Member member : members) {
      int own = percent(member, percents);
      long more = member.pids().stream().mapToLong(pid -> used.getOrDefault(pid, 0L)).sum();
      boolean wanted =
          members.stream().anyMatch(other -> other.priority() < member.priority() && percent(other, percents) > 0);
      long total = Objects.requireNonNull(busy.merge(member.ref(), more + unknown, Long::sum));
      reports.put(member.ref(), new CardReport(number, at, total, Math.clamp(all - own, 0, 100), wanted));
    }
    return reports;
  }

  private static int percent(Member member, Map<Long, Integer> percents) {
    return member.pids().stream().mapToInt(pid -> percents.getOrDefault(pid, 0)).sum();
  }
}
