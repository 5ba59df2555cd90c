package dev.partita.plugin.resize;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import dev.partita.plugin.usage.measure.ShareRef;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Says how much memory of a card each share that may grow is lent. What no claim has is lent, in equal parts; who may
 * take less than its part leaves the rest to the others (max-min fairness).
 *
 * <p>For example, of a card of 80 GiB claims have 50, 10 of them for a claim that may grow to 15 and 10 for one that
 * may grow to 80: of the 30 GiB that are left the first is lent 5 and the second 25.
 *
 * <p>Nobody gives back what it holds so that another one is lent more. As long as there is enough for all loans, a
 * larger one shrinks only by what its programs do not hold.
 *
 * @param loans bytes, by share
 * @param isShort whether there is less to lend than is lent, so that it must come back
 */
record LoanPlan(Map<ShareRef, Long> loans, boolean isShort) {
  private static final LoanPlan NOTHING = new LoanPlan(Map.of(), true);

  /** What is lent are whole granules of device memory. */
  private static final long GRANULE = 2L << 20;

  /** What a program holds changes all the time; its loan does not follow by less than that. */
  private static final long STEP = 1L << 30;

  LoanPlan {
    loans = Map.copyOf(loans);
  }

  /**
   * The loans of one card.
   *
   * @param prepared what takes something of the node's cards
   * @param wanted what claims are to have that wait for memory which is lent, as they are to be
   * @param held bytes that a share's programs hold
   */
  static LoanPlan of(
      Gpu card,
      GpuNodeSpec node,
      Collection<PreparedClaim> prepared,
      Collection<PreparedClaim> wanted,
      ToLongFunction<ShareRef> held) {
    List<Borrower> borrowers = new ArrayList<>();
    Map<String, Long> guaranteed = new HashMap<>(); // by claim
    for (PreparedClaim claim : prepared) {
      for (Grant grant : on(card, claim)) {
        if (grant.use().held(grant.card()).isPresent() && (grant.share().isEmpty() || grant.mig().isPresent())) {
          return NOTHING; // a whole card, an instance or a share of one, or a turn
        }
        grant.share().ifPresent(share -> {
          guaranteed.merge(claim.claim().uid(), share.guaranteedBytes(), Long::sum);
          if (share.growth().isPresent()) {
            borrowers.add(borrower(new ShareRef(claim.claim().uid(), grant.shareKey()), share, held));
          }
        });
      }
    }
    for (PreparedClaim claim : wanted) {
      long bytes = on(card, claim).stream().mapToLong(grant -> bytes(card, grant)).sum();
      guaranteed.merge(claim.claim().uid(), bytes, Math::max);
    }
    long taken = guaranteed.values().stream().mapToLong(Long::longValue).sum();
    long free = Math.max(0, Math.min(card.memoryBytes(), node.allocatableBytes(card)) - taken);
    return split(node.loans().lent(free), borrowers);
  }

  /** Whoever wants more of a card than a share wants all of it. */
  private static long bytes(Gpu card, Grant grant) {
    return grant.share().map(Share::guaranteedBytes)
        .orElse(grant.use().held(grant.card()).isPresent() ? card.memoryBytes() : 0L);
  }

  private static List<Grant> on(Gpu card, PreparedClaim claim) {
    return claim.grants().stream().filter(grant -> grant.card().uuid().equals(card.uuid())).toList();
  }

  /**
   * A share that may grow.
   *
   * @param lent what it is lent now
   * @param inUse what of that its programs hold
   * @param most what it may be lent
   */
  private record Borrower(ShareRef share, long lent, long inUse, long most) {}

  private static Borrower borrower(ShareRef ref, Share share, ToLongFunction<ShareRef> held) {
    long lent = share.lentBytes();
    long inUse = Math.clamp((held.applyAsLong(ref) - share.guaranteedBytes() + STEP - 1) / STEP * STEP, 0, lent);
    return new Borrower(ref, lent, inUse, share.lendableBytes());
  }

  private static LoanPlan split(long bytes, List<Borrower> borrowers) {
    boolean isShort = borrowers.stream().mapToLong(Borrower::lent).sum() > bytes;
    // who gives back must not see another one take it
    List<Borrower> bounded = isShort
        ? borrowers.stream().map(its -> new Borrower(its.share(), its.lent(), 0, Math.min(its.lent(), its.most())))
            .toList()
        : borrowers;
    long low = 0;
    long high = bytes + 1; // the level that each loan is brought to, within its bounds
    while (high - low > 1) {
      long level = (low + high) >>> 1;
      if (bounded.stream().mapToLong(its -> loan(its, level)).sum() <= bytes) {
        low = level;
      } else {
        high = level;
      }
    }
    Map<ShareRef, Long> loans = new HashMap<>();
    for (Borrower borrower : bounded) {
      loans.put(borrower.share(), loan(borrower, low));
    }
    return new LoanPlan(loans, isShort);
  }

  private static long loan(Borrower borrower, long level) {
    return Math.clamp(level, Math.min(borrower.inUse(), borrower.most()), borrower.most()) / GRANULE * GRANULE;
  }
}
