package dev.partita.api.resize;

import java.util.List;

/**
 * What the controller tells a node's plugin of shares that are resized.
 *
 * @param granted by shareID
 * @param asked by claim
 */
public record NodeResizes(List<GrantedSize> granted, List<AskedSize> asked) {
  public static final NodeResizes NONE = new NodeResizes(List.of(), List.of());

  public NodeResizes {
    granted = List.copyOf(granted);
    asked = List.copyOf(asked);
  }

  /** Whether it says something of the claim with that UID. */
  public boolean isOf(String claimUid) {
    return granted.stream().anyMatch(size -> size.claimUid().equals(claimUid))
        || asked.stream().anyMatch(size -> size.claimUid().equals(claimUid));
  }
}
