package dev.partita.plugin.cardreport;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.store.OperationLock;
import dev.partita.plugin.usage.measure.SampledTimes;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.region.LaunchTimes;
import dev.partita.plugin.usage.region.RegionFile;
import dev.partita.plugin.usage.verdict.CoreLimits;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a card report for every share whose launches depend on what others use: one on a card with several claims, and
 * one with a core limit, since what its own clock is wrong by is corrected. It writes in place, so that several reports
 * a second need no new file; a share that is being released gets none, nor does one of whose card NVML does not tell.
 * Of cards with a hard limit, too, it has the samples asked for ({@link CardSampling}), since whoever checks the limits
 * needs them.
 */
public final class CardReports implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CardReports.class);

  /** A little less than the shortest period of samples, 1/6 s: NVML tells of the newest one only. */
  private static final Duration PERIOD = Duration.ofMillis(150);

  /** While several use a card: regions forget after 218 ms when launches were pending, of which 70 are waited for. */
  private static final Duration CONTENDED_PERIOD = Duration.ofMillis(75);

  /** While no process uses a card that has shares: short enough to count as watching ({@link SampledTimes}). */
  private static final Duration IDLE_PERIOD = Duration.ofMillis(250);

  /** The first report of a share waits for the operation that is under way. */
  private static final Duration ALLOWED = Duration.ofMinutes(4);

  private final Supplier<Map<ShareRef, ShareUse>> uses;
  private final CardSampling sampling;
  private final ShareFolders folders;
  private final OperationLock lock;
  private final YieldRule rule;
  private final NewProcesses newProcesses;
  private final Supplier<CardLoad.Moment> clock;
  private final Map<String, CardLoad> loads = new HashMap<>();
  private final Map<ShareRef, ReportFile> files = new HashMap<>();
  private final Map<ShareRef, LaunchTimes> pending = new HashMap<>(); // as they were read last
  private final Set<String> told = new HashSet<>(); // cards whose reports say that nobody uses them
  // of these, the ones all of whose shares have such a report, until shares are grouped anew
  private final Set<String> through = new HashSet<>();
  private final BooleanSupplier seesAll;
  private Map<ShareRef, ShareUse> grouped = Map.of();
  private Map<String, List<ShareUse>> shared = Map.of(); // grouped, by card
  private List<String> needed = List.of(); // cards with shares that need reports
  private List<String> asked = List.of(); // cards whose samples are asked for
  private Set<String> used = Set.of(); // cards that processes use, or may use
  private boolean failed;

  /**
   * @param uses the shares, with the processes that use them
   * @param sampling asks for samples, and is told how cards are divided
   * @param seesAll whether uses has every process; if not, cards without one may be in use
   * @param lock under which the first report's file is made
   * @param rule when shares of lower priority pause
   * @param newProcesses is asked about processes that uses does not have yet
   */
  public CardReports(
      Supplier<Map<ShareRef, ShareUse>> uses,
      BooleanSupplier seesAll,
      CardSampling sampling,
      ShareFolders folders,
      OperationLock lock,
      YieldRule rule,
      NewProcesses newProcesses) {
    this(uses, seesAll, sampling, folders, lock, rule, newProcesses, CardReports::now);
  }

  CardReports(
      Supplier<Map<ShareRef, ShareUse>> uses,
      BooleanSupplier seesAll,
      CardSampling sampling,
      ShareFolders folders,
      OperationLock lock,
      YieldRule rule,
      NewProcesses newProcesses,
      Supplier<CardLoad.Moment> clock) {
    this.clock = clock;
    this.newProcesses = newProcesses;
    this.rule = rule;
    this.uses = uses;
    this.seesAll = seesAll;
    this.sampling = sampling;
    this.folders = folders;
    this.lock = lock;
  }

  /** Writes now and from now on. */
  public void start(Loops loops) {
    loops
        .makeAskingDriver(
            "card-reports",
            ALLOWED,
            () -> {
              reportOrExplain();
              return period();
            })
        .start();
  }

  private Duration period() {
    if (loads.values().stream().anyMatch(CardLoad::isContended)) {
      return CONTENDED_PERIOD;
    }
    return used.isEmpty() ? IDLE_PERIOD : PERIOD;
  }

  /** Closes the files; to be called when the loop has ended. */
  @Override
  public void close() {
    try {
      retain(Set.of());
    } catch (IOException e) {
      LOG.warn("cannot close a card report: {}", e.toString());
    }
  }

  private void reportOrExplain() {
    try {
      report();
      failed = false;
    } catch (IOException | RuntimeException e) {
      if (!failed) {
        LOG.warn(
            "cannot write card reports, so each share knows its own use alone; trying again: {}",
            e.toString());
      }
      failed = true;
    }
  }

  /** Writes once all reports that are needed. Those of a card that nobody uses say so once, and NVML is not asked. */
  void report() throws IOException {
    group();
    if (sampling.forgetIfSetBack(clock.get())) {
      loads.clear();
    }
    // before anything is written, so that a report that cannot be written makes nobody miss samples
    Map<String, CardSamples> newer = sampling.ask(asked, used, clock);
    newProcesses.beginLook(clock.get().nanos());
    List<IOException> failures = new ArrayList<>();
    for (String card : needed) {
      switch (newer.getOrDefault(card, CardSampling.NOBODY)) {
        case CardSamples.Told samplesOf -> reportOn(card, samplesOf.samples(), failures);
        case CardSamples.NotTold _ -> {} // a report would say that nobody uses the card, and all of it would be lent
      }
    }
    if (!failures.isEmpty()) {
      throw failures.getFirst();
    }
  }

  // each look has a map of its own, and to compare two takes as long as to group one
  @SuppressWarnings("ReferenceEquality")
  private void group() throws IOException {
    Map<ShareRef, ShareUse> now = uses.get();
    if (now == grouped) {
      return;
    }
    grouped = now;
    through.clear();
    shared =
        now.values().stream()
            .collect(
                Collectors.groupingBy(use -> use.share().grant().card().uuid(), TreeMap::new, Collectors.toList()));
    boolean all = seesAll.getAsBoolean();
    used =
        shared.entrySet().stream()
            .filter(card -> !all || card.getValue().stream().anyMatch(use -> !use.processes().isEmpty()))
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    needed = shared.keySet().stream().filter(card -> isNeeded(sharesOf(card))).toList();
    asked = shared.keySet().stream().filter(card -> needed.contains(card) || isLimited(sharesOf(card))).toList();
    loads.keySet().retainAll(needed);
    sampling.retainDivided(needed);
    told.retainAll(needed);
    told.removeAll(used);
    pending.keySet().retainAll(now.keySet());
    retain(now.keySet());
  }

  private void reportOn(String card, List<ProcessSample> newer, List<IOException> failures) {
    List<ShareUse> ofCard = sharesOf(card);
    CardLoad load = loads.computeIfAbsent(card, c -> new CardLoad(rule));
    if (through.contains(card)) {
      load.pass(clock.get());
      sampling.correct(card, Map.of(), Map.of());
      return;
    }
    List<CardLoad.Member> members = ofCard.stream().map(this::member).toList();
    Map<ShareRef, CardReport> reports = load.take(newer, members, containers(newer, members, ofCard), clock.get());
    sampling.correct(card, load.takeOverNamed(), load.isContended() ? load.percents(members) : Map.of());
    boolean said = told.contains(card);
    for (Map.Entry<ShareRef, CardReport> report : reports.entrySet()) {
      if (said && files.containsKey(report.getKey())) {
        continue;
      }
      try {
        write(report.getKey(), report.getValue());
      } catch (IOException e) {
        // for a new share, for example, while the disk is full: that is no reason to leave the others without
        failures.add(e);
      }
    }
    if (!used.contains(card) && failures.isEmpty()) {
      told.add(card);
      if (ofCard.stream().allMatch(use -> files.containsKey(use.share().ref()))) {
        through.add(card);
      }
    }
  }

  /** Which of the card's shares the containers of processes have that samples name and no share has yet. */
  private Map<Long, Set<ShareRef>> containers(
      List<ProcessSample> newer,
      List<CardLoad.Member> members,
      List<ShareUse> ofCard) {
    Set<Long> pids = newer.stream().map(ProcessSample::pid).collect(Collectors.toSet());
    members.forEach(member -> pids.removeAll(member.pids()));
    return pids.isEmpty() ? Map.of() : newProcesses.of(pids, ofCard.stream().map(ShareUse::share).toList());
  }

  private List<ShareUse> sharesOf(String card) {
    return shared.getOrDefault(card, List.of());
  }

  /**
   * {@link System#nanoTime} is CLOCK_MONOTONIC; a reader for whom it is not sees a time that cannot be, and does
   * without.
   */
  private static CardLoad.Moment now() {
    return new CardLoad.Moment(System.nanoTime(), ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()));
  }

  private static boolean isLimited(List<ShareUse> ofCard) {
    return ofCard.stream().anyMatch(use -> use.share().share().coreLimit() == CoreLimit.HARD);
  }

  private static boolean isNeeded(List<ShareUse> ofCard) {
    return ofCard.stream().map(use -> use.share().ref().uid()).distinct().count() > 1
        || ofCard.stream().anyMatch(use -> isCorrected(use.share().share()));
  }

  /** A share that is alone may take all of its card at 100 percent, so there is nothing to correct. */
  private static boolean isCorrected(Share share) {
    return switch (share.coreLimit()) {
      case SOFT -> true;
      case HARD -> share.limitsCores() && share.cores() < 100;
      case NONE -> false;
    };
  }

  private CardLoad.Member member(ShareUse use) {
    ShareRef ref = use.share().ref();
    Set<Long> pids = use.processes().stream().map(ProcessUse::pid).collect(Collectors.toSet());
    boolean timed = CoreLimits.isTimed(use, grouped);
    LaunchTimes read = pending.getOrDefault(ref, LaunchTimes.NONE);
    if (timed && used.contains(use.share().card())) {
      read =
          new RegionFile(folders.regions(), folders.usageFile(ref.uid(), ref.key()))
              .launchTimes(read.busyNanos(), pids.size()).orElse(read);
      pending.put(ref, read);
    }
    return new CardLoad.Member(ref, use.share().share().priority(), pids, timed, read);
  }

  private void write(ShareRef ref, CardReport report) throws IOException {
    ReportFile file = files.get(ref);
    if (file == null) {
      Path folder = folders.quotaFolder(ref.uid(), ref.key());
      lock.onClaim(
          ref.uid(),
          () -> {
            if (Files.isDirectory(folder)) { // else it was released
              files.put(ref, ReportFile.make(folder.resolve(CardReport.NAME), report.text()));
            }
            return true;
          });
    } else if (!file.write(report.text())) {
      files.remove(ref);
      file.close();
    }
  }

  /** Closes the reports of all other shares. */
  private void retain(Set<ShareRef> shares) throws IOException {
    for (ShareRef ref : Set.copyOf(files.keySet())) {
      if (!shares.contains(ref)) {
        Objects.requireNonNull(files.remove(ref)).close();
      }
    }
  }
}
