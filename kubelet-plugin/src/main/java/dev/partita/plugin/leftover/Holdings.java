package dev.partita.plugin.leftover;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.store.ClaimPods;
import dev.partita.plugin.usage.measure.ClaimUsers;
import dev.partita.plugin.usage.measure.DevicePods;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the search for leftovers tells about claims that are gone, and what it asks before it removes anything of a
 * claim.
 *
 * @param devices asked about claims that are reserved for a PodGroup
 * @param inventory reports what is held with the cards
 */
public record Holdings(
    HeldClaims held,
    ClaimPods pods,
    ClaimUsers users,
    DevicePods devices,
    NodeInventory inventory) {
  /** Takes in which claims are gone, though something of each is on the node. */
  void reportGone(Set<String> claimUids) {
    if (held.setGone(claimUids)) {
      inventory.readSoon();
    }
  }

  /** Takes in that something of a claim that is gone was released. */
  void released() {
    inventory.readSoon();
  }

  /** Forgets the pods of all claims but these. */
  void retain(Collection<String> claimUids) throws IOException {
    pods.retain(claimUids);
  }

  /**
   * Why what a claim has cannot be released; empty if nobody uses it.
   *
   * @param record empty if there is none
   */
  Optional<String> use(String uid, Optional<PreparedClaim> record) throws IOException {
    if (record.isPresent()) {
      return users.of(uid, record.get().grants(), pods.of(uid));
    }
    if (inventory.current() instanceof Inventory.Cards cards) {
      List<Grant> grants = held.grantsWithoutRecord(uid, cards);
      return users.of(uid, grants, pods.of(uid));
    }
    return Optional.of("there is no record of it, and no driver answers that could say what it has");
  }
}
