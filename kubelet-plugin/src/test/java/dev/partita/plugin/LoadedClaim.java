package dev.partita.plugin;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import org.jspecify.annotations.Nullable;

/** A claim of a random load, and what kubelet knows of it. */
final class LoadedClaim {
  final ResourceClaim claim;
  final List<Part> parts;
  /** Whether its shares are lent what no claim of their cards has. */
  final boolean grows;
  Known known = Known.RELEASED;
  /** What kubelet was told first. */
  @Nullable NodePrepareResourceResponse answer;
  /** Whether the API server has it no more. */
  boolean gone;
  /** Bytes that its only share was granted after it was allocated; 0 if it was not. */
  long granted;
  /** Whether its record was damaged, so that the plugin has to make it anew before it counts. */
  boolean damaged;

  LoadedClaim(ResourceClaim claim, List<Part> parts, boolean grows) {
    this.claim = claim;
    this.parts = parts;
    this.grows = grows;
  }

  /** The same as the API server has it. */
  LoadedClaim in(ResourceClaim created) {
    return new LoadedClaim(created, parts, grows);
  }

  /** What kubelet knows. */
  enum Known {
    /** Nothing was prepared, or it was released. */
    RELEASED,
    /** A call has had no good answer. */
    ASKED_TO_PREPARE, ASKED_TO_RELEASE, PREPARED
  }

  /** How a claim has a card. */
  enum Way {
    WHOLE, SHARE, MPS, TURN, INSTANCE;

    /** Whether it has so many bytes of the card, and a quota file that says so. */
    boolean isByMemory() {
      return this == SHARE || this == MPS;
    }
  }

  /**
   * What it has of a card.
   *
   * @param memory bytes, of a share, also of one by MPS
   * @param slot of an instance
   */
  record Part(int card, Way way, long memory, String slot) {}

  String uid() {
    return claim.getMetadata().getUid();
  }

  boolean mayBeOnNode() {
    return known != Known.RELEASED;
  }

  /** Bytes that its first share is to be held to. */
  long size() {
    return granted == 0 ? parts.getFirst().memory : granted;
  }

  private long most(Part part) {
    return Math.max(part.memory, granted);
  }

  /** Whether a claim can be on a node beside others, where each card has so many bytes. */
  static boolean fit(LoadedClaim wanted, List<LoadedClaim> there, long memoryOfCard) {
    for (Part part : wanted.parts) {
      List<Part> others = there.stream().filter(other -> other != wanted)
          .flatMap(other -> other.parts.stream().map(its -> new Part(its.card, its.way, other.most(its), its.slot)))
          .filter(other -> other.card == part.card).toList();
      boolean fits = switch (part.way) {
        case WHOLE -> others.isEmpty();
        case TURN, INSTANCE -> others.stream().allMatch(
            other -> other.way == part.way && (part.way == Way.TURN || !other.slot.equals(part.slot)));
        case SHARE, MPS -> others.stream().allMatch(other -> other.way == part.way)
            && others.stream().mapToLong(Part::memory).sum() + wanted.most(part) <= memoryOfCard;
      };
      if (!fits) {
        return false;
      }
    }
    return true;
  }

  @Override
  public String toString() {
    return claim.getMetadata().getName() + " " + uid() + " " + known + (gone ? " gone" : "")
        + (damaged ? " damaged" : "")
        + (grows ? " grows" : "") + (granted == 0 ? "" : " resized to " + granted) + " " + parts;
  }
}
