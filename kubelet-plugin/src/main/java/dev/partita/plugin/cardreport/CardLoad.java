package dev.partita.plugin.cardreport;

import dev.partita.plugin.cardreport.DividedTime.Interval;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.region.LaunchTimes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Makes one card's reports. Its time is divided by when shares had launches pending ({@link DividedTime}). NVML's
 * samples say how busy the card was ({@link CardTotal}), whose regions hide something ({@link HiddenUse}), and what is
 * used by processes that belong to no share.
 *
 * <p>Each sample is an average over a period that ends with it; periods differ from card to card. What a process uses
 * that is not yet among those of a share counts for every share as others' use, and as its own use for the shares that
 * its container has; as long as nobody knows its container, for every share.
 */
final class CardLoad {
  /** Samples of one period carry times this close to each other, in microseconds; the shortest period is 1/6 s. */
  private static final long SAME_PERIOD = 100_000;

  /** Samples that are further apart were not made one after the other: the card was idle in between. */
  private static final int PERIODS_AT_ONCE = 3;

  /** What is kept of what was divided, in ns: periods of up to a second are compared with it. */
  private static final long KEPT = 2_500_000_000L;

  /** Over this time it is judged whether shares of higher priority use the card, in ns: as long as NVML's periods. */
  private static final long OF_LATE = 200_000_000;

  private static final int ALL = 100;

  /**
   * A share of the card.
   *
   * @param priority 0 is the higher one
   * @param timed whether its launches are timed, since it has a core limit
   * @param times when they were pending
   */
  record Member(ShareRef ref, int priority, Set<Long> pids, boolean timed, LaunchTimes times) {
    Member {
      pids = Set.copyOf(pids);
    }
  }

  /**
   * One moment by two clocks.
   *
   * @param nanos of the machine's monotonic clock, as containers read it
   * @param epochMicros of the time of day, as NVML's samples have it
   */
  record Moment(long nanos, long epochMicros) {}

  /**
   * What NVML's samples say of one period.
   *
   * @param begin by the monotonic clock, in ns
   * @param used by pid, in ns
   */
  private record Told(long begin, long end, Map<Long, Long> used) {}

  /** An interval, and what each share had of it. */
  private record Parts(Interval interval, Map<ShareRef, Long> nanos) {
    /** The part of it from one moment to another. */
    double within(long from, long to) {
      return (double) Math.max(0, Math.min(to, interval.to()) - Math.max(from, interval.from())) / interval.passed();
    }
  }

  private final YieldRule rule;
  private final DividedTime division = new DividedTime();
  private final CardTotal total = new CardTotal();
  private final HiddenUse hiddenUse = new HiddenUse();
  private final Map<ShareRef, Long> busy = new HashMap<>();
  // by the priority of who pauses: since when the higher ones have used enough, by the monotonic clock
  private final Map<Integer, Long> wantedSince = new HashMap<>();
  private final Deque<Told> periods = new ArrayDeque<>(); // that go beyond what was divided
  private final Deque<Parts> divided = new ArrayDeque<>();
  private final Map<Long, Long> overNamed = new HashMap<>(); // since that was asked for
  private Map<Long, Integer> percents = Map.of(); // of the newest sample
  private long newest; // the time of the newest sample, in microseconds as NVML has it
  private long period = 1_000_000; // microseconds from one sample to the next
  private long heard = Long.MIN_VALUE; // when there was a newer sample, or none for two periods, by the monotonic clock
  private boolean contended;
  private long number;

  CardLoad(YieldRule rule) {
    this.rule = rule;
  }

  /**
   * The next reports.
   *
   * @param samples newer than those taken before, at most one a process
   * @param containers which of the shares the containers of other processes than the members' have, as far as known
   */
  Map<ShareRef, CardReport> take(
      List<ProcessSample> samples,
      List<Member> members,
      Map<Long, Set<ShareRef>> containers,
      Moment now) {
    number++;
    Set<Long> known = members.stream().flatMap(member -> member.pids().stream()).collect(Collectors.toSet());
    Map<Long, Long> unknown = listen(samples, known, now);
    Parts parts = divide(members, now.nanos());
    Map<ShareRef, Long> hidden = compare(members, parts.interval().to());
    Set<Integer> yielding = yielding(members, now.nanos());
    busy.keySet().retainAll(members.stream().map(Member::ref).collect(Collectors.toSet()));
    // Whoever it is of will pay for it, and nobody can run ahead of being found by starting processes anew.
    int unknownPercent = percents.entrySet().stream().filter(sample -> !known.contains(sample.getKey()))
        .mapToInt(Map.Entry::getValue).sum();
    long all = parts.nanos().values().stream().mapToLong(Long::longValue).sum();
    long to = parts.interval().to();
    Map<ShareRef, CardReport> reports = new TreeMap<>();
    for (Member member : members) {
      long own = parts.nanos().getOrDefault(member.ref(), 0L);
      long more = own + hidden.getOrDefault(member.ref(), 0L) + ofIts(member.ref(), unknown, containers);
      long sum = Objects.requireNonNull(busy.merge(member.ref(), more, Long::sum));
      long others = percent(all - own, parts.interval().passed()) + unknownPercent;
      boolean wanted = yielding.contains(member.priority());
      reports.put(member.ref(), new CardReport(number, to, sum, Math.clamp(others, 0, ALL), wanted, to));
    }
    return reports;
  }

  /** What is used by processes that a share's container may have, in ns. */
  private static long ofIts(ShareRef ref, Map<Long, Long> unknown, Map<Long, Set<ShareRef>> containers) {
    return unknown.entrySet().stream()
        .filter(use -> containers.getOrDefault(use.getKey(), Set.of(ref)).contains(ref))
        .mapToLong(Map.Entry::getValue).sum();
  }

  /** The same while no process uses the card, but makes no reports: what was told before still holds. */
  void pass(Moment now) {
    division.pass(now.nanos());
    percents = Map.of();
    periods.clear();
    divided.clear();
    wantedSince.clear();
    contended = false;
  }

  /** Whether several use the card, so that what was pending must be read before regions forget it. */
  boolean isContended() {
    return contended;
  }

  /** What each process of a share had of late, by pid, in percent of the card; evenly among those of one share. */
  Map<Long, Integer> percents(List<Member> members) {
    Map<Long, Integer> percents = new HashMap<>();
    for (Member member : members) {
      // what was told late, or was made up, counts in one look though it took longer
      int all = Math.clamp(percentOfLate(member.ref()), 0, ALL);
      int each = member.pids().isEmpty() ? 0 : all / member.pids().size();
      member.pids().forEach(pid -> percents.merge(pid, each, Integer::sum));
    }
    return percents;
  }

  /**
   * What samples gave to processes of shares that others' processes had by division, in ns; below 0 what others were
   * given of theirs. Since it was last asked for.
   */
  Map<Long, Long> takeOverNamed() {
    Map<Long, Long> taken = Map.copyOf(overNamed);
    overNamed.clear();
    return taken;
  }

  /** Takes samples in; gives what processes have used, in ns, that are not known. */
  private Map<Long, Long> listen(List<ProcessSample> samples, Set<Long> known, Moment now) {
    long before = newest;
    newest = Math.max(before, samples.stream().mapToLong(ProcessSample::timestampMicros).max().orElse(0));
    if (newest == before && heard != Long.MIN_VALUE && now.nanos() - heard < 2 * period * 1000) {
      return Map.of(); // between two samples, what was told before still holds
    }
    Map<Long, Long> used = new HashMap<>();
    percents = new HashMap<>();
    for (ProcessSample sample : samples) {
      long time = sample.timestampMicros();
      if (time + SAME_PERIOD >= newest) { // else it was idle in the newest period
        percents.put(sample.pid(), sample.smPercent());
      }
    }
    if (newest > before && before > 0) {
      period = Math.clamp(newest - before, SAME_PERIOD, period);
      samples.stream().filter(sample -> sample.timestampMicros() > before).forEach(
          sample -> used.put(sample.pid(),
              sample.smPercent() * (sample.timestampMicros() - begin(sample.timestampMicros(), before)) * 10));
      long end = sampled(now);
      periods.add(new Told(end - (newest - begin(newest, before)) * 1000, end, used));
    } else if (newest == before && heard != Long.MIN_VALUE) {
      periods.add(new Told(heard, now.nanos(), used));
    }
    heard = now.nanos();
    return used.entrySet().stream().filter(use -> !known.contains(use.getKey()))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private long begin(long time, long before) {
    return time - before > PERIODS_AT_ONCE * period ? time - period : before;
  }

  /** The newest sample's time by the containers' clock; now where NVML's is not the time of day. */
  private long sampled(Moment now) {
    long ago = now.epochMicros() - newest;
    return ago >= 0 && ago <= 2 * period ? now.nanos() - ago * 1000 : now.nanos();
  }

  private Parts divide(List<Member> members, long now) {
    List<Member> untimed = members.stream().filter(member -> !member.timed() && !member.pids().isEmpty()).toList();
    DividedTime.Untimed use = untimed.isEmpty() ? DividedTime.Untimed.NONE : total.untimed();
    List<DividedTime.User> users = members.stream().filter(Member::timed)
        .map(member -> new DividedTime.User(member.ref(), member.times(), member.pids().size())).toList();
    Interval interval = division.take(users, use, now);
    long active = division.active();
    contended = active > 1 || (active == 1 && use.part() > 0);
    double scale = total.scale();
    Map<ShareRef, Long> nanos = new HashMap<>();
    interval.nanos().forEach((ref, part) -> nanos.put(ref, Math.round(part * scale)));
    Map<Long, Double> named = total.named();
    double all = untimed.stream().mapToDouble(member -> sum(member, named)).sum();
    for (Member member : untimed) {
      double part = all > 0 ? sum(member, named) / all : 1.0 / untimed.size();
      nanos.put(member.ref(), Math.round(interval.untimedNanos() * part));
    }
    Parts parts = new Parts(interval, nanos);
    if (interval.passed() > 0) {
      divided.add(parts);
      divided.removeIf(old -> old.interval().to() < interval.to() - KEPT);
    }
    return parts;
  }

  private static double sum(Member member, Map<Long, Double> named) {
    return member.pids().stream().mapToDouble(pid -> named.getOrDefault(pid, 0.0)).sum();
  }

  /** Compares periods of samples with what was divided, as far as that goes; gives what shares have hidden, in ns. */
  private Map<ShareRef, Long> compare(List<Member> members, long to) {
    Map<ShareRef, Long> hidden = new HashMap<>();
    Set<ShareRef> timed = members.stream().filter(Member::timed).map(Member::ref).collect(Collectors.toSet());
    while (!periods.isEmpty() && periods.getFirst().end() <= to) {
      Told told = periods.removeFirst();
      SampledPeriod sampled = period(told, members);
      Map<ShareRef, Long> more = hiddenUse.take(sampled, timed);
      more.forEach((ref, nanos) -> hidden.merge(ref, nanos, Long::sum));
      Map<Long, Long> untimed = new HashMap<>();
      for (Member member : members) {
        if (!member.timed()) {
          member.pids().stream().filter(told.used()::containsKey)
              .forEach(pid -> untimed.put(pid, told.used().getOrDefault(pid, 0L)));
        } else if (sampled.isContended(member.ref())) {
          long own = sampled.dividedTo(member.ref()) + more.getOrDefault(member.ref(), 0L);
          nameAnew(member, told, sampled.sampledBy(member.ref()) - own);
        }
      }
      total.take(sampled, untimed);
    }
    return hidden;
  }

  private SampledPeriod period(Told told, List<Member> members) {
    Map<ShareRef, Long> sampled = new HashMap<>();
    members.forEach(member -> sampled.put(member.ref(),
        member.pids().stream().mapToLong(pid -> told.used().getOrDefault(pid, 0L)).sum()));
    Map<ShareRef, Long> had = new HashMap<>();
    Map<ShareRef, Long> most = new HashMap<>();
    double covered = 0;
    double undivided = told.end() - told.begin();
    for (Parts parts : divided) {
      double within = parts.within(told.begin(), told.end());
      parts.nanos().forEach((ref, nanos) -> had.merge(ref, Math.round(nanos * within), Long::sum));
      parts.interval().mostNanos().forEach((ref, nanos) -> most.merge(ref, Math.round(nanos * within), Long::sum));
      covered += parts.interval().coveredNanos() * within;
      undivided -= parts.interval().passed() * within;
    }
    long rest = Math.max(0, Math.round(undivided));
    most.replaceAll((_, nanos) -> nanos + rest);
    return new SampledPeriod(told.end() - told.begin(), sampled, had, most, Math.round(covered));
  }

  /** Spreads what samples gave a share too much over those that they gave it to, or too little over all. */
  private void nameAnew(Member member, Told told, long tooMuch) {
    Set<Long> named = member.pids().stream().filter(told.used()::containsKey).collect(Collectors.toSet());
    Set<Long> pids = named.isEmpty() ? member.pids() : named;
    pids.stream().filter(_ -> tooMuch != 0)
        .forEach(pid -> overNamed.merge(pid, tooMuch / pids.size(), Long::sum));
  }

  /** The priorities whose shares pause. */
  private Set<Integer> yielding(List<Member> members, long now) {
    Set<Integer> priorities = members.stream().map(Member::priority).collect(Collectors.toSet());
    wantedSince.keySet().retainAll(priorities);
    for (int priority : priorities) {
      long higher = members.stream().filter(other -> other.priority() < priority)
          .mapToLong(other -> percentOfLate(other.ref())).sum();
      if (higher < rule.percent()) {
        wantedSince.remove(priority);
      } else {
        wantedSince.putIfAbsent(priority, now);
      }
    }
    return wantedSince.entrySet().stream().filter(since -> now - since.getValue() >= rule.holdOff().toNanos())
        .map(Map.Entry::getKey).collect(Collectors.toSet());
  }

  private long percentOfLate(ShareRef ref) {
    long nanos = 0;
    long passed = 0;
    for (var newer = divided.descendingIterator(); newer.hasNext() && passed < OF_LATE;) {
      Parts parts = newer.next();
      nanos += parts.nanos().getOrDefault(ref, 0L);
      passed += parts.interval().passed();
    }
    return percent(nanos, passed);
  }

  private static long percent(long nanos, long passed) {
    return passed == 0 ? 0 : Math.round((double) ALL * nanos / passed);
  }
}
