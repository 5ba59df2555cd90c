package dev.partita.plugin.usage;

import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.nvml.Samples;
import dev.partita.plugin.share.ShareFolders;
import dev.partita.plugin.store.ClaimStore;
import dev.partita.plugin.usage.excess.ExcessAction;
import dev.partita.plugin.usage.excess.ExcessPolicy;
import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.ContainerShares;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.LeastOverheads;
import dev.partita.plugin.usage.measure.OverheadBook;
import dev.partita.plugin.usage.measure.PodClaims;
import dev.partita.plugin.usage.measure.RegionsFolder;
import dev.partita.plugin.usage.measure.SampledTimes;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import dev.partita.plugin.usage.region.Ledger;
import dev.partita.plugin.usage.region.RegionFile;
import dev.partita.plugin.usage.verdict.CoreAccount;
import dev.partita.plugin.usage.verdict.CoreUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import dev.partita.plugin.usage.verdict.ShareVerdict;
import dev.partita.plugin.usage.verdict.UsageReckoning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares what containers say that they use with what NVML says, again and again. It writes into the quotas what
 * contexts and modules take. It tells claims whose processes hold more memory than they may, or use more of a card's
 * time, and does to those that hold too much what was asked for.
 */
public final class UsageWatch {
  /** Bytes that contexts and modules of one process are believed to take, if nobody has said otherwise. */
  public static final long PLAUSIBLE_OVERHEAD = OverheadBook.PLAUSIBLE;

  /**
   * The least that may be said. Contexts and modules of many programs take less, but with a smaller figure honest
   * programs would be found guilty.
   */
  public static final long LEAST_PLAUSIBLE_OVERHEAD = OverheadBook.USUAL;

  private static final Logger LOG = LoggerFactory.getLogger(UsageWatch.class);

  /**
   * How long after the last change or use everything is looked at every time. By then a state has lasted, a quota has
   * its lower figure, and what was held back has been told.
   */
  private static final Duration SETTLING = Duration.ofSeconds(10);

  /** How often everything is looked at from then on. In between, only whether anything has happened is looked at. */
  private static final Duration BETWEEN_WHOLE_LOOKS = Duration.ofSeconds(30);

  /** A look at many shares on a busy node takes seconds. */
  private static final Duration ALLOWED = Duration.ofMinutes(2);

  private final Checkpoint checkpoint;
  private final ShareFolders folders;
  private final Supplier<Map<String, List<ProcessMemory>>> nvml;
  private final HostProcesses host;
  private final PodClaims pods;
  private final UsageReader reader;
  private final SlotFigures slots;
  private final Supplier<ShareState> newState;
  private final UsageReports reports;
  private final Clock clock;
  private final Clock monotonicClock;
  private final LeastOverheads least;
  private final OverheadBook book;
  private final SampledTimes times = new SampledTimes();
  private final Map<ShareRef, ShareState> states = new HashMap<>();
  private volatile Map<ShareRef, ShareUse> current = Map.of();
  private volatile Map<ShareRef, CoreUse> coreUses = Map.of();
  private volatile Map<String, Instant> looked = Map.of(); // by card
  private volatile boolean shareWasUsed;
  private final UseTotals totals = new UseTotals();
  private Watched watched = new Watched(List.of(), List.of(), Set.of(), Set.of());
  private boolean idle; // whether nobody used a card that has shares at the last whole look
  private Instant settled; // when that will have been so for long enough
  private Instant nextWhole;
  private boolean hasLooked; // at all shares once
  private boolean failed;

  /**
   * A watch over what is prepared on this node.
   *
   * @param nvml what processes hold of each card that tells, by the card's UUID
   * @param samples what they use of it
   * @param pods which claims pods have
   * @param policy with a plausible overhead of {@link #LEAST_PLAUSIBLE_OVERHEAD} or more
   * @param clock the time of day
   * @param monotonicClock one for how long something lasts
   */
  public UsageWatch(
      ClaimStore store,
      Supplier<Map<String, List<ProcessMemory>>> nvml,
      Samples samples,
      PodClaims pods,
      ClaimReports reports,
      ExcessPolicy policy,
      Clock clock,
      Clock monotonicClock) {
    this.checkpoint = store.checkpoint();
    this.folders = store.folders();
    this.nvml = nvml;
    this.host = HostProcesses.SEEN;
    this.newState =
        () -> new ShareState(
            new QuotaOverhead(folders, store.lock()), new ShareEvents(reports),
            new ExcessAction(policy.action(), host, reports));
    this.reports = new UsageReports(reports::used, totals);
    this.clock = clock;
    this.monotonicClock = monotonicClock;
    this.least = new LeastOverheads(folders.stateRoot().resolve("overheads"));
    this.book = new OverheadBook(policy.plausibleOverhead(), least.kept());
    this.pods = pods;
    this.reader = new UsageReader(nvml, host, containers(), book, monotonicClock);
    this.slots = new SlotFigures(folders, samples, host, clock);
    this.settled = monotonicClock.instant();
    this.nextWhole = settled;
  }

  /**
   * What is watched.
   *
   * @param records of the claims, as the checkpoint gave them
   * @param regions of the shares
   * @param cards of the shares
   */
  private record Watched(
      List<PreparedClaim> records,
      List<WatchedShare> shares,
      Set<Path> regions,
      Set<String> cards) {}

  /** Looks now and then every period. */
  public void start(Loops loops, Duration period) {
    if (!host.seesAll()) {
      LOG.info(
          "cannot see processes outside this pid namespace, so their overhead and what they hold beyond their limit go unnoticed; set hostPID");
    }
    loops
        .makeAskingDriver(
            "usage",
            ALLOWED.plus(period),
            () -> {
              lookOrExplain();
              return period;
            })
        .start();
  }

  /**
   * What collects the samples of cards with hard core limits. It must be given them several times a second, since looks
   * are far too seldom to see all that a share uses.
   */
  public SampledTimes times() {
    return times;
  }

  /** Tells which shares a process' container has, as looks are told; another one at each call. */
  public ContainerShares containers() {
    return new ContainerShares(host, pods, this::regions);
  }

  /** Whether it sees the processes of all containers. */
  public boolean seesAll() {
    return host.seesAll();
  }

  /** Whether a container has used a share: one of the ledgers read so far has been begun, maybe before the start. */
  public boolean shareWasUsed() {
    return shareWasUsed;
  }

  /** The last reading, by share. */
  public Map<ShareRef, ShareUse> current() {
    return current;
  }

  /**
   * When the last look began that came to its end and saw who uses the card, by the monotonic clock. While NVML does
   * not tell that, nobody knows what was allocated since.
   *
   * @param card its UUID
   */
  public Instant looked(String card) {
    return looked.getOrDefault(card, Instant.EPOCH);
  }

  /** Whether shares keep to their core limits, at the last reading. */
  public Map<ShareRef, CoreUse> coreUses() {
    return coreUses;
  }

  /** UIDs of the pods whose processes use a claim's shares, by the claim's UID, at the last reading. */
  public Map<String, Set<String>> pods() {
    Map<String, Set<String>> pods = new TreeMap<>();
    current.forEach((share, use) -> use.processes().stream().flatMap(process -> host.pod(process.pid()).stream())
        .forEach(pod -> pods.computeIfAbsent(share.uid(), uid -> new TreeSet<>()).add(pod)));
    return pods;
  }

  /** What all readings come to, by share. */
  public UseTotals totals() {
    return totals;
  }

  private void lookOrExplain() {
    try {
      look();
      failed = false;
    } catch (IOException | RuntimeException e) {
      if (!failed) {
        LOG.warn("cannot see now who uses the cards; trying again: {}", e.toString());
        LOG.debug("the look at who uses the cards has failed", e);
      }
      failed = true;
    }
  }

  /**
   * Looks once. While nobody uses a card that has shares, NVML is asked first, and the ledgers are not read. When that
   * and everything else has stayed so for a while, most looks only look whether it is still so.
   */
  void look() throws IOException {
    Instant now = monotonicClock.instant();
    boolean same = watchRecords();
    boolean restful = idle && isIdle();
    if (same && restful && now.isBefore(nextWhole)) {
      sawUsersOf(watched.cards(), now);
      return;
    }
    nextWhole = now; // should this one fail
    sawUsersOf(lookAtAll(restful, now), now);
    hasLooked = true;
    if (!same || !restful) {
      settled = now.plus(SETTLING);
    }
    nextWhole = now.isBefore(settled) ? now : now.plus(BETWEEN_WHOLE_LOOKS);
  }

  private void sawUsersOf(Set<String> cards, Instant now) {
    Map<String, Instant> seen = new HashMap<>(looked);
    seen.keySet().retainAll(watched.cards());
    watched.cards().stream().filter(cards::contains).forEach(card -> seen.put(card, now));
    looked = Map.copyOf(seen);
  }

  /** Whether there are the same shares as before. */
  @SuppressWarnings("ReferenceEquality") // the checkpoint gives the same list until a record changes
  private boolean watchRecords() throws IOException {
    List<PreparedClaim> records = checkpoint.readAll();
    if (records == watched.records()) {
      return true;
    }
    List<WatchedShare> shares = WatchedShare.of(records);
    Set<Path> regions = shares.stream().map(share -> usage(share.ref())).collect(Collectors.toSet());
    watched =
        new Watched(records, shares, regions, shares.stream().map(WatchedShare::card).collect(Collectors.toSet()));
    return false;
  }

  /** Whether no process is on a card that has shares, and no container lets a region grow, which takes no GPU. */
  private boolean isIdle() {
    if (watched.shares().isEmpty()) {
      return true;
    }
    Map<String, List<ProcessMemory>> held = nvml.get();
    return watched.cards().stream().allMatch(card -> List.of().equals(held.get(card)))
        && folders.regions().larger(watched.regions(), ShareFolders.USAGE_SIZE).isEmpty();
  }

  /** Looks at everything; gives the cards that tell who uses them. */
  private Set<String> lookAtAll(boolean restful, Instant now) {
    List<WatchedShare> shares = watched.shares();
    folders.regions().forgetRemoved(watched.regions());
    states.keySet().retainAll(shares.stream().map(WatchedShare::ref).collect(Collectors.toSet()));
    Map<String, CardTime> used = times.drain();
    Optional<UsageReader.Reading> reading =
        restful || shares.isEmpty() ? Optional.empty() : Optional.of(readLedgers(shares, used));
    Map<ShareRef, ShareUse> uses =
        reading.map(UsageReader.Reading::uses)
            .orElseGet(() -> UsageReckoning.of(shares, Map.of(), List.of(), book));
    Set<String> told = reading.map(UsageReader.Reading::told).orElse(watched.cards());
    idle = restful || (host.seesAll() && told.containsAll(watched.cards())
        && uses.values().stream().allMatch(use -> use.processes().isEmpty()));
    least.keep(book.least());
    current = uses;
    totals.take(uses, used);
    judge(uses, told, used, now);
    // After the quota files: a process that sees its slot gives back what another's overhead stands for there.
    reading.ifPresent(read -> slots.write(shares, read.uses().values(), read.ledgers()));
    return told;
  }

  /** @param told cards that tell who uses them: what was seen earlier of others is no reason to do anything */
  private void judge(Map<ShareRef, ShareUse> uses, Set<String> told, Map<String, CardTime> used, Instant now) {
    Instant timeOfDay = clock.instant();
    List<ShareVerdict> verdicts = new ArrayList<>();
    for (ShareUse use : uses.values().stream().filter(use -> told.contains(use.share().card())).toList()) {
      CardTime time = used.getOrDefault(use.share().card(), CardTime.NONE);
      ShareVerdict verdict =
          state(use.share()).judge(use, uses, new CoreAccount.Look(time, host.seesAll(), timeOfDay, now));
      state(use.share()).writeQuota(use, book.expected(use.share().grant().contextModel()), now);
      verdicts.add(verdict);
    }
    coreUses = verdicts.stream().collect(Collectors.toMap(verdict -> verdict.use().share().ref(), ShareVerdict::cores));
    verdicts.forEach(verdict -> state(verdict.use().share()).tell(verdict, now));
    reports.tell(
        verdicts.stream().filter(verdict -> state(verdict.use().share()).isToBeTold()).toList(),
        uses.keySet().stream().map(ShareRef::uid).collect(Collectors.toSet()), now);
    verdicts.forEach(verdict -> state(verdict.use().share()).act(verdict));
  }

  private ShareState state(WatchedShare share) {
    return states.computeIfAbsent(share.ref(), ref -> {
      ShareState state = newState.get();
      if (!hasLooked) {
        state.replaceEarlierReport();
      }
      return state;
    });
  }

  private UsageReader.Reading readLedgers(List<WatchedShare> shares, Map<String, CardTime> used) {
    UsageReader.Reading reading = reader.read(shares, share -> state(share).read(region(share.ref())), used);
    shareWasUsed |= reading.ledgers().byShare().values().stream().anyMatch(Ledger::usable);
    shares.forEach(
        share -> state(share).tell(share, reading.ledgers().of(share.ref()), monotonicClock.instant()));
    return reading;
  }

  private RegionFile region(ShareRef ref) {
    return new RegionFile(folders.regions(), usage(ref));
  }

  private Path usage(ShareRef ref) {
    return folders.usageFile(ref.uid(), ref.key());
  }

  private RegionsFolder regions() {
    try {
      return RegionsFolder.of(folders.runRoot());
    } catch (IOException e) {
      return RegionsFolder.NONE; // nothing was prepared since the machine started
    }
  }
}
