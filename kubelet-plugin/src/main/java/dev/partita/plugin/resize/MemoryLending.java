package dev.partita.plugin.resize;

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
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lends memory that no claim has to shares that may grow ({@link LoanPlan}), and has it come back for claims that are
 * to be prepared ({@link LoanReturns}). What a share has been lent stands in its claim's record, and counts there until
 * it has come back.
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
  private final LoanReturns returns;
  private final SizeOwners owners;
  private final boolean lends;
  private final Clock clock;
  private final ConcurrentMap<String, Wanted> wanted = new ConcurrentHashMap<>(); // by the claim's UID
  private final Set<String> written = new HashSet<>(); // claims whose files are as their records say, likewise
  private volatile Runnable wake = () -> {};

  /**
   * A claim that cannot be prepared, or resized, before loans come back.
   *
   * @param claim as it is to be
   * @param asked when it was last asked for
   */
  private record Wanted(PreparedClaim claim, Instant asked) {}

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
      return claim.grants().stream().filter(grant -> grant.growing().isPresent())
          .map(grant -> new ShareRef(claim.claim().uid(), grant.shareKey()))
          .anyMatch(share -> toCome.contains(share) || !loans.containsKey(share));
    }
  }

  /**
   * @param held what takes memory without a record
   * @param returns takes back what is not lent any more
   * @param owners keeps others from a claim whose loan comes back
   * @param lends whether anything is lent; else what was lent before is taken back
   * @param monotonicClock for how long something lasts
   */
  public MemoryLending(
      ShareResizer.NodeState node,
      Checkpoint checkpoint,
      HeldClaims held,
      ClaimReports reports,
      LoanReturns returns,
      SizeOwners owners,
      boolean lends,
      Clock monotonicClock) {
    this.node = node;
    this.checkpoint = checkpoint;
    this.held = held;
    this.reports = reports;
    this.returns = returns;
    this.owners = owners;
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

  @Override
  public void released(String uid) {
    wanted.remove(uid);
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
    returns.forgetOthers(byUid.keySet()).forEach(uid -> owners.leave(uid, this));
    written.retainAll(byUid.keySet());
    if (records.stream().flatMap(record -> record.grants().stream()).allMatch(grant -> grant.growing().isEmpty())) {
      return IDLE;
    }
    Plan plan = plan(records, cards);
    boolean busy = !wanted.isEmpty();
    for (PreparedClaim record : records) {
      if (record.phase() == Phase.COMPLETED
          && record.grants().stream().anyMatch(grant -> grant.growing().isPresent())) {
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

  /** Brings a claim's loans nearer to what they are to be; whether something is still to be done soon. */
  private boolean settle(ClaimRewriter rewriter, PreparedClaim record, Plan plan) throws IOException {
    String uid = record.claim().uid();
    PreparedClaim less = lent(record, plan, true);
    PreparedClaim all = lent(record, plan, false);
    if (all.equals(record) && !returns.areUnderWay(uid) && written.contains(uid)) {
      return false;
    }
    if (!owners.take(uid, this)) {
      return true;
    }
    try {
      written.remove(uid); // until both files and record are
      if (!less.equals(record)) {
        returns.takeBack(rewriter, record, less, plan.mustComeBack(record));
        return true;
      }
      boolean same = all.equals(record); // what was asked back may stay after all, also by the plugin before this one
      boolean done = (same ? rewriter.writeSizes(record, record) : rewriter.resize(record, all)).isEmpty();
      if (done) {
        written.add(uid);
        if (returns.withdraw(uid) && same) {
          reports.lent(record);
        }
      } // else others have not given it back yet
      if (done && !same) {
        LOG.info("claim {}: it is lent memory that no claim has: {}", record.claim(), LoanReturns.words(all));
        reports.lent(all);
      }
      return !done;
    } finally {
      if (!returns.areUnderWay(uid)) {
        owners.leave(uid, this);
      }
    }
  }

  /** @param onlyLess whether shares that are to have more keep what they have */
  private static PreparedClaim lent(PreparedClaim record, Plan plan, boolean onlyLess) {
    return record.with(record.grants().stream().map(grant -> {
      Optional<Share> share = grant.growing();
      if (share.isEmpty()) {
        return grant;
      }
      long now = share.get().lentBytes();
      long then = plan.of(record.claim().uid(), grant);
      return grant.lent(onlyLess ? Math.min(now, then) : then);
    }).toList());
  }
}
