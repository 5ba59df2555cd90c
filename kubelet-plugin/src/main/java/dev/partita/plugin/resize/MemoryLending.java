package dev.partita.plugin.resize;

import dev.partita.api.Bytes;
import dev.partita.api.gpu.Gpu;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import dev.partita.plugin.prepare.ClaimRewriter;
import dev.partita.plugin.prepare.Loans;
import dev.partita.plugin.usage.excess.ProcessEnd;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends memory that no claim has to shares that may grow ({@link LoanPlan}), and takes it back for claims that are to
 * be prepared. What a share has been lent stands in its claim's record, and counts there until it has come back.
 *
 * <p>A loan comes back in steps: first the containers' quota is lowered, so that their programs get out of memory for
 * new allocations. Once the share is seen to hold no more ({@link ShareResizer.NodeState#isSeenSince}), its record says
 * so. Where there is less to lend than is lent, the claim is told until when the rest is to be given back, and
 * processes that still hold more then are killed, the largest first. By then NVML alone counts, since a container can
 * write into its ledger what it likes.
 */
public final class MemoryLending implements Loans {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryLending.class);

  private static final Duration ALLOWED = Duration.ofMinutes(10); // files of all claims
  private static final Duration IDLE = Duration.ofMinutes(1); // who changes something wakes it
  private static final Duration WHILE_RECALLING = Duration.ofMillis(500);

  /** Kubelet asks again for a claim that it still wants. */
  private static final Duration WANTED_FOR = Duration.ofMinutes(3);

  private final ShareResizer.NodeState node;
  private final Checkpoint checkpoint;
  private final HeldClaims held;
  private final ClaimReports reports;
  private final ProcessEnd end;
  private final SizeOwners owners;
  private final Recalls asked;
  private final boolean lends;
  private final Clock clock;
  private final ConcurrentMap<String, Wanted> wanted = new ConcurrentHashMap<>(); // by the claim's UID
  private final Set<String> written = new HashSet<>(); // claims whose files are as their records say, likewise
  private final Map<String, Recall> recalls = new HashMap<>(); // likewise; by its loop alone
  private volatile Runnable wake = () -> {};

  /**
   * A claim that cannot be prepared, or resized, before loans come back.
   *
   * @param claim as it is to be
   * @param asked when it was last asked for
   */
  private record Wanted(PreparedClaim claim, Instant asked) {}

  /**
   * A claim whose containers are held to less than its record says.
   *
   * @param to what it is to become
   * @param since when they are
   * @param until when its processes may hold more; empty if nobody needs it at once
   */
  private record Recall(PreparedClaim to, Instant since, Optional<Instant> until) {}

  /**
   * What the shares of the node are to be lent.
   *
   * @param toCome shares of cards of which something must come back
   */
  private record Plan(Map<ShareRef, Long> loans, Set<ShareRef> toCome) {
    long of(String uid, Grant grant) {
      return loans.getOrDefault(new ShareRef(uid, grant.shareKey()), 0L);
    }

    boolean mustComeBack(PreparedClaim claim) {
      return claim.grants().stream().filter(grant -> growth(grant).isPresent())
          .map(grant -> new ShareRef(claim.claim().uid(), grant.shareKey()))
          .anyMatch(share -> toCome.contains(share) || !loans.containsKey(share));
    }
  }

  /**
   * @param held what takes memory without a record
   * @param end kills processes that keep what they were lent
   * @param owners keeps others from a claim whose loan comes back
   * @param asked is told what is asked back, and what becomes of it
   * @param lends whether anything is lent; else what was lent before is taken back
   * @param monotonicClock for how long something lasts
   */
  public MemoryLending(
      ShareResizer.NodeState node,
      Checkpoint checkpoint,
      HeldClaims held,
      ClaimReports reports,
      ProcessEnd end,
      SizeOwners owners,
      Recalls asked,
      boolean lends,
      Clock monotonicClock) {
    this.node = node;
    this.checkpoint = checkpoint;
    this.held = held;
    this.reports = reports;
    this.end = end;
    this.owners = owners;
    this.asked = asked;
    this.lends = lends;
    this.clock = monotonicClock;
  }

  /**
   * Begins.
   *
   * @param rewriter writes claims' files
   */
  public void start(Loops loops, ClaimRewriter rewriter) {
    PeriodicLoop loop = loops.make("lending", ALLOWED, () -> turn(rewriter)).start();
    wake = loop::soon;
  }

  @Override
  public void changed() {
    wake.run();
  }

  @Override
  public void recall(PreparedClaim claim) {
    wanted.put(claim.claim().uid(), new Wanted(claim, clock.instant()));
    wake.run();
  }

  private Duration turn(ClaimRewriter rewriter) throws IOException {
    if (!(node.inventory().get() instanceof Inventory.Cards cards) || node.told().get().isEmpty()) {
      return IDLE; // neither the cards nor the node's settings may be guessed
    }
    List<PreparedClaim> records = checkpoint.readAll();
    Map<String, PreparedClaim> byUid = new HashMap<>();
    records.forEach(record -> byUid.put(record.claim().uid(), record));
    wanted.values().removeIf(its -> isOver(its, byUid.get(its.claim().claim().uid())));
    Set<String> gone = recalls.keySet().stream().filter(uid -> !byUid.containsKey(uid)).collect(Collectors.toSet());
    gone.forEach(uid -> {
      recalls.remove(uid);
      asked.returned(uid);
      owners.leave(uid, this);
    });
    written.retainAll(byUid.keySet());
    if (records.stream().flatMap(record -> record.grants().stream()).allMatch(grant -> growth(grant).isEmpty())) {
      return IDLE;
    }
    Plan plan = plan(records, cards);
    boolean busy = !wanted.isEmpty();
    for (PreparedClaim record : records) {
      if (record.phase() == Phase.COMPLETED && record.grants().stream().anyMatch(grant -> growth(grant).isPresent())) {
        busy |= settleOrSay(rewriter, record, plan);
      }
    }
    return busy ? WHILE_RECALLING : IDLE;
  }

  private Plan plan(List<PreparedClaim> records, Inventory.Cards cards) throws IOException {
    Map<ShareRef, Long> loans = new HashMap<>();
    Set<ShareRef> toCome = new HashSet<>();
    List<PreparedClaim> there = new ArrayList<>(records);
    there.addAll(held.allWithoutRecord(records, cards));
    List<PreparedClaim> waiting = wanted.values().stream().map(Wanted::claim).toList();
    for (Gpu card : lends ? cards.gpus() : List.<Gpu>of()) {
      LoanPlan ofCard = LoanPlan.of(card, node.spec().get(), there, waiting,
          share -> Optional.ofNullable(node.uses().get().get(share)).map(ShareUse::heldBytes).orElse(0L));
      loans.putAll(ofCard.loans());
      if (ofCard.isShort()) {
        toCome.addAll(ofCard.loans().keySet());
      }
    }
    return new Plan(loans, toCome);
  }

  private boolean settleOrSay(ClaimRewriter rewriter, PreparedClaim record, Plan plan) {
    try {
      return settle(rewriter, record, plan);
    } catch (IOException | IllegalStateException e) {
      LOG.warn("claim {}: cannot write what it is lent; trying again: {}", record.claim(), e.toString());
      return true;
    }
  }

  /** Whether a claim that waited has what it wanted, or is wanted no more. */
  private boolean isOver(Wanted its, @Nullable PreparedClaim record) {
    return clock.instant().isAfter(its.asked().plus(WANTED_FOR))
        || (record != null && record.withoutLoans().grants().equals(its.claim().withoutLoans().grants()));
  }

  private static Optional<Share> growth(Grant grant) {
    return grant.share().filter(share -> share.growth().isPresent());
  }

  /** Brings a claim's loans nearer to what they are to be; whether something is still to be done soon. */
  private boolean settle(ClaimRewriter rewriter, PreparedClaim record, Plan plan) throws IOException {
    String uid = record.claim().uid();
    PreparedClaim less = lent(record, plan, true);
    PreparedClaim all = lent(record, plan, false);
    if (all.equals(record) && !recalls.containsKey(uid) && written.contains(uid)) {
      return false;
    }
    if (!owners.take(uid, this)) {
      return true;
    }
    try {
      if (!less.equals(record)) {
        return takeBack(rewriter, record, less, plan.mustComeBack(record));
      }
      written.remove(uid); // until both files and record are
      boolean same = all.equals(record); // what was asked back may stay after all, also by the plugin before this one
      boolean done = (same ? rewriter.writeSizes(record, record) : rewriter.resize(record, all)).isEmpty();
      if (done) {
        written.add(uid);
        asked.withdrawn(uid);
        if (recalls.remove(uid) != null && same) {
          reports.lent(record);
        }
      } // else others have not given it back yet
      if (done && !same) {
        LOG.info("claim {}: it is lent memory that no claim has: {}", record.claim(), words(all));
        reports.lent(all);
      }
      return !done;
    } finally {
      if (!recalls.containsKey(uid)) {
        owners.leave(uid, this);
      }
    }
  }

  /** @param onlyLess whether shares that are to have more keep what they have */
  private static PreparedClaim lent(PreparedClaim record, Plan plan, boolean onlyLess) {
    return record.with(record.grants().stream().map(grant -> {
      Optional<Share> share = growth(grant);
      if (share.isEmpty()) {
        return grant;
      }
      long now = share.get().lentBytes();
      long then = plan.of(record.claim().uid(), grant);
      return grant.lent(onlyLess ? Math.min(now, then) : then);
    }).toList());
  }

  /** @param must whether processes may not keep it */
  private boolean takeBack(ClaimRewriter rewriter, PreparedClaim record, PreparedClaim to, boolean must)
      throws IOException {
    String uid = record.claim().uid();
    Instant now = clock.instant();
    // kubelet may have had the claim's files written anew meanwhile, as its record says
    boolean isHeld = rewriter.isHeldToLess(record);
    Optional<String> wait = rewriter.writeSizes(record, to);
    if (wait.isPresent()) {
      LOG.warn("claim {}: cannot take back what it was lent: {}", record.claim(), wait.get());
      return true;
    }
    @Nullable Recall recall = recalls.get(uid);
    // who may keep what it holds for a while has all of the grace when it is asked again
    Optional<Instant> until = recall == null || !must ? Optional.empty() : recall.until();
    if (must && until.isEmpty()) {
      Duration grace = node.spec().get().loans().grace();
      until = Optional.of(now.plus(grace));
      LOG.info("claim {}: what it was lent is asked back within {} s: {}", record.claim(), grace.toSeconds(),
          words(to));
      reports.recalled(to, "memory that this claim was lent is needed: it has " + words(to)
          + " for new allocations from now on, and processes that hold more in " + grace.toSeconds() + " s are killed");
    }
    if (must) {
      asked.asked(uid, toComeBack(record, to), until.orElseThrow());
    } else {
      asked.withdrawn(uid);
    }
    if (!isHeld || recall == null || !recall.to().grants().equals(to.grants()) || !recall.until().equals(until)) {
      recalls.put(uid, new Recall(to, now, until));
      return true;
    }
    if (!node.isSeenSince(recall.since(), to)) {
      return true;
    }
    boolean isOver = must && until.isPresent() && !now.isBefore(until.get());
    boolean holdsMore = false;
    Set<ShareRef> killedFor = new HashSet<>();
    for (Grant grant : to.grants()) {
      @Nullable ShareUse use = node.uses().get().get(new ShareRef(uid, grant.shareKey()));
      if (use == null || growth(grant).isEmpty()) {
        continue;
      }
      long excess = excess(use, to, isOver);
      if (excess > 0) {
        holdsMore = true;
        if (isOver) {
          if (!killedFor.contains(use.share().ref()) && kill(use, excess)) {
            asked.killed(uid);
            killedFor.addAll(use.beside()); // what they hold too much is the same
            // who waits for the same programs looks again first
            use.beside().forEach(other -> recalls.computeIfPresent(other.uid(),
                (_, its) -> new Recall(its.to(), now, its.until())));
          }
          recalls.put(uid, new Recall(to, now, until));
        }
      }
    }
    if (!holdsMore && rewriter.resize(record, to).isEmpty()) {
      recalls.remove(uid);
      asked.returned(uid);
      LOG.info("claim {}: it has given back what it was lent: {}", record.claim(), words(to));
      reports.lent(to);
    }
    return true;
  }

  /** Bytes that shares have been lent and are not to keep. */
  private static Map<ShareRef, Long> toComeBack(PreparedClaim record, PreparedClaim to) {
    Map<ShareRef, Long> bytes = new HashMap<>();
    for (Grant grant : record.grants()) {
      growth(grant).ifPresent(share -> bytes.merge(new ShareRef(record.claim().uid(), grant.shareKey()),
          share.lentBytes(), Long::sum));
    }
    for (Grant grant : to.grants()) {
      growth(grant).ifPresent(share -> bytes.merge(new ShareRef(record.claim().uid(), grant.shareKey()),
          -share.lentBytes(), Long::sum));
    }
    bytes.values().removeIf(left -> left <= 0);
    return bytes;
  }

  /** Shares of the same card that a container has together with it: to its programs they are one. */
  private Stream<ShareUse> beside(ShareUse use) {
    Map<ShareRef, ShareUse> uses = node.uses().get();
    return use.beside().stream().map(uses::get).filter(Objects::nonNull);
  }

  /**
   * Bytes that a share's processes, and those of the shares beside it, hold beyond what these are to become together.
   *
   * @param to what its claim is to become
   * @param onlyNvml whether NVML alone counts
   */
  private long excess(ShareUse use, PreparedClaim to, boolean onlyNvml) {
    List<ShareUse> together = Stream.concat(Stream.of(use), beside(use)).toList();
    long allowed = together.stream().mapToLong(its -> become(its, to).physicalBytes()).sum();
    return together.stream()
        .mapToLong(its -> onlyNvml ? its.bytes() - its.unchargedOverheadBytes() : its.chargedBytes()).sum() - allowed;
  }

  /** What a share is to become; of another claim than that one, too, if something is asked back of it. */
  private Share become(ShareUse use, PreparedClaim to) {
    ShareRef ref = use.share().ref();
    @Nullable Recall recall = recalls.get(ref.uid());
    Optional<PreparedClaim> claim = ref.uid().equals(to.claim().uid())
        ? Optional.of(to)
        : Optional.ofNullable(recall).map(Recall::to);
    return claim.stream().flatMap(its -> its.grants().stream()).filter(grant -> grant.shareKey().equals(ref.key()))
        .flatMap(grant -> grant.share().stream()).findFirst().orElse(use.share().share());
  }

  /**
   * Kills the largest processes of a share and of those of its claim beside it, as many as hold that; whether any was.
   */
  private boolean kill(ShareUse use, long bytes) {
    Map<ProcessIdentity, List<ProcessUse>> processes =
        Stream.concat(Stream.of(use), beside(use).filter(other -> other.share().claim().equals(use.share().claim())))
            .flatMap(its -> its.processes().stream()).collect(Collectors.groupingBy(ProcessUse::identity));
    boolean any = false;
    long left = bytes;
    List<List<ProcessUse>> largestFirst = processes.values().stream()
        .sorted(Comparator.comparingLong(MemoryLending::bytes).reversed()).toList();
    for (List<ProcessUse> process : largestFirst) {
      if (left > 0) {
        any |= end.kill(use.share().claim(), process.getFirst(),
            "its share held memory that it was lent, after it was asked back");
        left -= bytes(process);
      }
    }
    return any;
  }

  private static long bytes(List<ProcessUse> ofProcess) {
    return ofProcess.stream().mapToLong(ProcessUse::bytes).sum();
  }

  /** {@code 8 GiB of GPU-…}, of each share that may grow. */
  private static String words(PreparedClaim claim) {
    return claim.grants().stream().filter(grant -> growth(grant).isPresent())
        .map(grant -> Bytes.words(grant.use().memoryBytes(grant.card())) + " of " + grant.card().uuid())
        .collect(Collectors.joining(", "));
  }
}
