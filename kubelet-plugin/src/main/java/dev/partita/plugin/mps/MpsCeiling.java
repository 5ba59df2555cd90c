package dev.partita.plugin.mps;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.Mps;
import dev.partita.plugin.grant.Share;
import java.util.Collection;
import java.util.List;

/**
 * What a daemon gives each of its clients at most, whatever they ask for in their environment. It is the same for all
 * of them, so it is what the largest of their claims has.
 *
 * @param percent of the card's multiprocessors
 * @param mebibytes of device memory
 */
record MpsCeiling(int percent, long mebibytes) {
  private static final int ALL = 100;
  private static final long MIB = 1L << 20;

  /** Of a card that at least one of these claims has by MPS. */
  static MpsCeiling of(CardIdentity card, Collection<PreparedClaim> claims) {
    List<Share> shares = claims.stream().flatMap(claim -> claim.grants().stream())
        .filter(grant -> grant.card().uuid().equals(card.uuid())).flatMap(grant -> grant.use().mps().stream())
        .map(Mps::its).toList();
    boolean unlimited = shares.stream().anyMatch(share -> share.cores() == 0);
    return new MpsCeiling(unlimited ? ALL : shares.stream().mapToInt(Share::cores).max().orElse(ALL),
        shares.stream().mapToLong(MpsCeiling::mebibytes).max().orElse(1));
  }

  /** Of a share, as MPS counts: no less than one. */
  static long mebibytes(Share share) {
    return Math.max(1, share.memoryBytes() / MIB);
  }
}
