package dev.partita.plugin.usage.measure;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import java.util.ArrayList;
import java.util.List;

/**
 * A prepared share.
 *
 * @param prepared the claim that it is of
 */
public record WatchedShare(ShareRef ref, PreparedClaim prepared, Grant grant, Share share) {
  /** The shares of the claims that are ready. */
  public static List<WatchedShare> of(List<PreparedClaim> records) {
    List<WatchedShare> shares = new ArrayList<>();
    for (PreparedClaim record : records) {
      if (record.phase() == PreparedClaim.Phase.COMPLETED) {
        for (Grant grant : record.grants()) {
          ShareRef ref = new ShareRef(record.claim().uid(), grant.shareKey());
          grant.share().ifPresent(share -> shares.add(new WatchedShare(ref, record, grant, share)));
        }
      }
    }
    return shares;
  }

  public ClaimRef claim() {
    return prepared.claim();
  }

  public String card() {
    return grant.card().uuid();
  }
}
