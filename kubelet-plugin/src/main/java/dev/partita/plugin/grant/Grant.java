package dev.partita.plugin.grant;

import dev.partita.api.DeviceName;
import java.util.List;
import java.util.Optional;

/**
 * One device of a claim.
 *
 * @param requests the claim's requests that it answers, without subrequests
 * @param device the device's name in its pool
 * @param shareId the allocation's shareID, in lower case
 * @param card the card behind it
 * @param use what the claim may do with the card
 */
public record Grant(List<String> requests, String device, Optional<String> shareId, CardIdentity card, CardUse use) {
  public Grant {
    requests = List.copyOf(requests);
  }

  /** Names the share in paths and CDI names; unique in the claim. */
  public String shareKey() {
    return shareId.orElse(device);
  }

  /** The MIG instance, if it is one. */
  public Optional<MigInstance> mig() {
    return use.mig();
  }

  /**
   * Names devices on which a context takes as much as on this one: the product, or an instance of it.
   */
  public String contextModel() {
    return use.mig().map(mig -> card.productName() + " MIG " + mig.profile()).orElse(card.productName());
  }

  /**
   * The same with another loan.
   *
   * @param bytes of the card, no more than it may be lent
   */
  public Grant lent(long bytes) {
    return use instanceof HookedShare(Share share) && share.lentBytes() != bytes
        ? new Grant(requests, device, shareId, card, new HookedShare(share.lent(bytes)))
        : this;
  }

  /** Whether its card is opaque: containers get what the card's file says, and nothing of NVIDIA's driver. */
  public boolean isOpaque() {
    return DeviceName.parse(device).filter(DeviceName.Opaque.class::isInstance).isPresent();
  }

  /** What the hook library holds its containers to, if it holds them to anything. */
  public Optional<Share> share() {
    return use.share();
  }

  /** The same, if it may be lent memory beyond its own. */
  public Optional<Share> growing() {
    return share().filter(share -> share.growth().isPresent());
  }
}
