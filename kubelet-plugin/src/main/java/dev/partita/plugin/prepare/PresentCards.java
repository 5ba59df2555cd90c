package dev.partita.plugin.prepare;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import java.util.List;
import java.util.Optional;

/** Looks for the cards of a claim among those that answer now: a reboot or a reload of the driver may change them. */
record PresentCards(Inventory.Cards cards) {
  /** The same grants on the cards' present device nodes: a reboot or a reload of the driver may renumber them. */
  PreparedClaim onPresentNodes(PreparedClaim earlier) {
    List<Grant> grants =
        earlier.grants().stream()
            .map(
                grant -> new Grant(
                    grant.requests(),
                    grant.device(),
                    grant.shareId(),
                    cards.byUuid(grant.card().uuid()).map(CardIdentity::of).orElse(grant.card()),
                    grant.use()))
            .toList();
    return earlier.with(grants);
  }

  /** Whether a container that begins with these grants would get a card that is another one by now. */
  boolean areOnAnothersNode(List<Grant> grants) {
    return grants.stream().filter(grant -> !grant.isOpaque())
        .anyMatch(grant -> cards.gpus().stream().anyMatch(gpu -> !gpu.isOpaque()
            && gpu.health().state() == GpuHealth.State.Healthy && gpu.minor() == grant.card().minor()
            && !gpu.uuid().equals(grant.card().uuid())));
  }

  /**
   * Why a device is lost: its card does not answer, and its device node may be another card's by now. Nothing would
   * limit that one, since quotas go by the UUID.
   */
  Optional<String> lost(List<Grant> grants) {
    return grants.stream()
        .filter(grant -> cards.byUuid(grant.card().uuid()).filter(cards::hasNode).isEmpty())
        .findFirst()
        .map(grant -> "card " + grant.card().uuid() + " (gpu-" + grant.card().index() + ")" + (grant.isOpaque()
            ? " is opaque, and no file of the node lists it any more; see condition CardFilesValid of its GpuNode"
            : " does not answer, and its device node may be another card's by now; see dmesg and nvidia-smi on the node"));
  }
}
