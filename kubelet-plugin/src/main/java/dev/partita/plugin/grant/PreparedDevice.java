package dev.partita.plugin.grant;

/** A device that a claim has prepared, or is about to. */
public record PreparedDevice(ClaimRef claim, Grant grant) {
  /**
   * Says which claim has the device prepared. Kubelet puts errors into events of the pod, whose owner sees no other
   * namespace. So a claim of another namespace is named by its UID alone.
   *
   * @param asking whom that is told
   */
  public String has(PreparedDevice asking) {
    return owner(asking) + " has " + grant.device() + " prepared";
  }

  /** The claim whose it is, named as in {@link #has}. */
  public String owner(PreparedDevice asking) {
    return "claim " + (claim.namespace().equals(asking.claim.namespace()) ? claim.toString() : claim.uid());
  }

  /** Its card, for people: {@code card GPU-… (gpu-0)}. */
  public String card() {
    return "card " + grant.card().uuid() + " (gpu-" + grant.card().index() + ")";
  }

  /** Whether both are of one card. */
  public boolean isOnCardOf(PreparedDevice other) {
    return grant.card().uuid().equals(other.grant.card().uuid());
  }
}
