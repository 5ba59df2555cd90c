package dev.partita.plugin.resize;

import dev.partita.api.Bytes;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.prepare.ClaimRewriter;
import dev.partita.plugin.usage.excess.ProcessEnd;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.verdict.ProcessUse;
import dev.partita.plugin.usage.verdict.ShareUse;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes back what claims have been lent, in steps. First the containers' quota is lowered, so that their programs get
 * out of memory for new allocations: a share of 8 GiB that was lent 4 more, and has used 11 of the 12, gets nothing new
 * until it is below 8. Once the share is seen to hold no more ({@link ShareResizer.NodeState#isSeenSince}), its record
 * says so. Where there is less to lend than is lent, the claim is told until when the rest is to be given back, and
 * processes that still hold more then are killed, the largest first. By then NVML alone counts, since a container can
 * write into its ledger what it likes.
 *
 * <p>For one thread.
 */
public final class LoanReturns {
  private static final Logger LOG = LoggerFactory.getLogger(LoanReturns.class);

  private final ShareResizer.NodeState node;
  private final ClaimReports reports;
  private final ProcessEnd end;
  private final Recalls asked;
  private final long plausible;
  private final Clock clock;
  private final Map<String, Recall> recalls = new HashMap<>(); // by the claim's UID

  /**
   * A claim whose containers are held to less than its record says.
   *
   * @param to what it is to become
   * @param since when they are
   * @param until when its processes may hold more; empty if nobody needs it at once
   */
  private record Recall(PreparedClaim to, Instant since, Optional<Instant> until) {}

  /**
   * @param end kills processes that keep what they were lent
   * @param asked is told what is asked back, and what becomes of it
   * @param plausible bytes that contexts and modules of one process are believed to take
   * @param monotonicClock for how long something lasts
   */
  public LoanReturns(
      ShareResizer.NodeState node,
      ClaimReports reports,
      ProcessEnd end,
      Recalls asked,
      long plausible,
      Clock monotonicClock) {
    this.node = node;
    this.reports = reports;
    this.end = end;
    this.asked = asked;
    this.plausible = plausible;
    this.clock = monotonicClock;
  }

  /** Whether something of what the claim has been lent is being taken back. */
  boolean areUnderWay(String uid) {
    return recalls.containsKey(uid);
  }

  /** Leaves a claim what it has after all; whether something was being taken back. */
  boolean withdraw(String uid) {
    asked.withdrawn(uid);
    return recalls.remove(uid) != null;
  }

  /** Ends it for all other claims, which are gone; gives those for which it was under way. */
  Set<String> forgetOthers(Set<String> uids) {
    Set<String> gone = recalls.keySet().stream().filter(uid -> !uids.contains(uid)).collect(Collectors.toSet());
    gone.forEach(uid -> {
      recalls.remove(uid);
      asked.returned(uid);
    });
    return gone;
  }

  /**
   * Goes on with taking back what a claim has been lent; to be called again until its record says what it is to become.
   *
   * @param rewriter writes the claim's files
   * @param record as it is prepared, with what it has been lent
   * @param to what it is to become
   * @param must whether processes may not keep it
   */
  void takeBack(ClaimRewriter rewriter, PreparedClaim record, PreparedClaim to, boolean must)
      throws IOException {
    String uid = record.claim().uid();
    Instant now = clock.instant();
    // kubelet may have had the claim's files written anew meanwhile, as its record says
    boolean isHeld = rewriter.isHeldToLess(record);
    Optional<String> wait = rewriter.writeSizes(record, to);
    if (wait.isPresent()) {
      LOG.warn("claim {}: cannot take back what it was lent: {}", record.claim(), wait.get());
      return;
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
      return;
    }
    if (!node.isSeenSince(recall.since(), to)) {
      return;
    }
    boolean isOver = must && until.isPresent() && !now.isBefore(until.get());
    boolean holdsMore = false;
    Set<ShareRef> killedFor = new HashSet<>();
    for (Grant grant : to.grants()) {
      @Nullable ShareUse use = node.uses().get().get(new ShareRef(uid, grant.shareKey()));
      if (use == null || grant.growing().isEmpty()) {
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
  }

  /** Bytes that shares have been lent and are not to keep. */
  private static Map<ShareRef, Long> toComeBack(PreparedClaim record, PreparedClaim to) {
    Map<ShareRef, Long> bytes = new HashMap<>();
    for (Grant grant : record.grants()) {
      grant.growing().ifPresent(share -> bytes.merge(new ShareRef(record.claim().uid(), grant.shareKey()),
          share.lentBytes(), Long::sum));
    }
    for (Grant grant : to.grants()) {
      grant.growing().ifPresent(share -> bytes.merge(new ShareRef(record.claim().uid(), grant.shareKey()),
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
        .mapToLong(its -> onlyNvml ? its.cardBytes(plausible) : its.chargedBytes(plausible)).sum() - allowed;
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
        .sorted(Comparator.comparingLong(LoanReturns::bytes).reversed()).toList();
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
  static String words(PreparedClaim claim) {
    return claim.grants().stream().filter(grant -> grant.growing().isPresent())
        .map(grant -> Bytes.words(grant.use().memoryBytes(grant.card())) + " of " + grant.card().uuid())
        .collect(Collectors.joining(", "));
  }
}
