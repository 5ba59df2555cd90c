package dev.partita.plugin.resize;

import dev.partita.api.node.Gpu;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.claim.Grant;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claim.Share;
import dev.partita.plugin.usage.measure.ShareRef;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Says how much memory each share that may grow is lent. What no claim has of a card is lent, in equal parts; who may
 * take less than its part leaves the rest to the others (max-min fairness).
 *
 * <p>For example, of a card of 80 GiB claims have 50, 10 of them for a claim that may grow to 15 and 10 for one that
 * may grow to 80: of the 30 GiB that are left the first is lent 5 and the second 25.
 */
final class LoanPlan {
  /** What is lent are whole granules of device memory. */
  private static final long GRANULE = 2L << 20;

  private LoanPlan() {}

  /**
   * The loans of one card.
   *
   * @param prepared what claims have on the node
   * @param wanted what claims are to have that wait for memory which is lent, as they are to be
   */
  static Map<ShareRef, Long> of(
      Gpu card,
      GpuNodeSpec node,
      Collection<PreparedClaim> prepared,
      Collection<PreparedClaim> wanted) {
    List<Borrower> borrowers = new ArrayList<>();
    Map<String, Long> guaranteed = new HashMap<>(); // by claim
    for (PreparedClaim claim : prepared) {
      for (Grant grant : on(card, claim)) {
        if (grant.use().held(grant.card()).isPresent() && grant.share().isEmpty()) {
          return Map.of(); // a whole card, an instance or a turn: nothing is left
        }
        grant.share().ifPresent(share -> {
          guaranteed.merge(claim.claim().uid(), share.guaranteedBytes(), Long::sum);
          if (share.growth().isPresent()) {
            borrowers.add(new Borrower(new ShareRef(claim.claim().uid(), grant.shareKey()), share.lendableBytes()));
          }
        });
      }
    }
    for (PreparedClaim claim : wanted) {
      long bytes = on(card, claim).stream().mapToLong(grant -> bytes(card, grant)).sum();
      guaranteed.merge(claim.claim().uid(), bytes, Math::max);
    }
    long taken = guaranteed.values().stream().mapToLong(Long::longValue).sum();
    long free = Math.max(0, Math.min(card.memoryBytes(), card.sellableBytes(node)) - taken);
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

  private record Borrower(ShareRef share, long most) {}

  private static Map<ShareRef, Long> split(long bytes, List<Borrower> borrowers) {
    Map<ShareRef, Long> loans = new HashMap<>();
    List<Borrower> modestFirst = borrowers.stream()
        .sorted(Comparator.comparingLong(Borrower::most).thenComparing(Borrower::share)).toList();
    long left = bytes;
    for (int i = 0; i < modestFirst.size(); i++) {
      Borrower borrower = modestFirst.get(i);
      long part = Math.min(borrower.most(), left / (modestFirst.size() - i)) / GRANULE * GRANULE;
      loans.put(borrower.share(), part);
      left -= part;
    }
    return loans;
  }
}
