package dev.partita.plugin.memorylimit;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a pod may have of a card: all of the shares of its claims. With two claims of 4 and 2 GiB of one card that is 6
 * GiB for its containers together; which of them gets how much, the interception library holds. A claim that several
 * pods share counts in full for each: what they have together, its ledger holds.
 *
 * @param card its UUID
 * @param bytes what its claims may hold on the card itself
 */
public record PodLimit(String podUid, String card, long bytes) {
  /**
   * The limits of all pods that have shares of these cards.
   *
   * @param claims what is prepared
   * @param pods UIDs of the pods of each claim, by its UID
   * @param cards UUIDs
   * @param written bytes of the card that containers are held to, by the claim's UID and the share's key: less than the
   *        record says while a share becomes smaller
   */
  static List<PodLimit> of(
      Collection<PreparedClaim> claims,
      Map<String, Set<String>> pods,
      Set<String> cards,
      Map<String, Map<String, Long>> written) {
    Map<String, Map<String, Long>> bytes = new TreeMap<>();
    for (PreparedClaim claim : claims) {
      for (String pod : pods.getOrDefault(claim.claim().uid(), Set.of())) {
        for (Grant grant : claim.grants()) {
          String card = grant.card().uuid();
          grant.share().filter(_ -> cards.contains(card) && grant.mig().isEmpty()).ifPresent(share -> {
            long most = share.physicalBytes();
            long held = written.getOrDefault(claim.claim().uid(), Map.of()).getOrDefault(grant.shareKey(), most);
            bytes.computeIfAbsent(pod, _ -> new TreeMap<>()).merge(card, Math.min(held, most), Long::sum);
          });
        }
      }
    }
    List<PodLimit> limits = new ArrayList<>();
    bytes.forEach((pod, ofCards) -> ofCards.forEach((card, sum) -> limits.add(new PodLimit(pod, card, sum))));
    return limits;
  }
}
