package dev.partita.plugin.grant;

import dev.partita.api.node.HeldDevice;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How a claim uses a card on this node. For every {@link dev.partita.api.sharing.SharingStrategy} there is one class
 * that answers for it. Besides these, only what reads an allocation ({@code AllocationDecoder}, {@code ShareDecoder})
 * and what reads a checkpoint record ({@code ClaimRecord}) tell strategies apart.
 */
public sealed interface CardUse
    permits HookedShare, ExclusiveShare, BookedShare, TimeSlicing, Mps, WholeCard, MigInstance, StaticInstance,
    InstanceShare, AdminAccess {
  /** Why it cannot stand beside what others have of its card; empty if it can. */
  Optional<String> clash(PreparedDevice own, List<PreparedDevice> others);

  /**
   * What the hook library holds containers to: they get the shadow libraries, a quota file and a usage region. Empty if
   * nothing is intercepted: they get the driver's own libraries.
   */
  default Optional<Share> share() {
    return Optional.empty();
  }

  /** UUID by which CUDA and NVML in the containers know what the library limits. */
  default String uuidInContainers(CardIdentity card) {
    return card.uuid();
  }

  /** Bytes of the card that it is counted with among its shares; 0 if it is none. */
  default long takenBytes() {
    return share().map(Share::physicalBytes).orElse(0L);
  }

  /** The MIG instance whose device nodes containers get. */
  default Optional<MigInstance> mig() {
    return Optional.empty();
  }

  /** The same where Partita makes it for the claim, and ends it with the claim. */
  default Optional<MigInstance> made() {
    return Optional.empty();
  }

  /** What is asked of the driver for those who have the card in turn; empty if they do not have it so. */
  default Optional<TimeSlicing> timeSlicing() {
    return Optional.empty();
  }

  /** What clients of the card's MPS daemon are told; empty if it is not shared by MPS. */
  default Optional<Mps> mps() {
    return Optional.empty();
  }

  /** Whether the card's MIG instances have to go first: it cannot be used while its MIG mode is on. */
  default boolean needsUncutCard() {
    return mig().isEmpty();
  }

  /** Whether only NVML can tell who uses it: no ledger does, and it is something that could be taken back. */
  default boolean isUsedWithoutLedger() {
    return share().isEmpty();
  }

  /** What of the card is kept from others; empty if nothing is. */
  Optional<HeldDevice> held(CardIdentity card);

  /** Device memory that containers have, in bytes: a share's, or else all of the card's. */
  default long memoryBytes(CardIdentity card) {
    return share().map(Share::memoryBytes).orElse(card.memoryBytes());
  }

  /** Percent of the card's time that containers are held to; empty if they are not held to any. */
  default OptionalInt coreLimit() {
    return share().filter(Share::limitsCores).map(share -> OptionalInt.of(share.cores())).orElse(OptionalInt.empty());
  }

  /**
   * Who holds containers to the memory that they have.
   *
   * @param ofShares who holds shares of the card
   */
  Enforcer enforcer(Enforcer ofShares);

  /**
   * What was given, for people: {@code 8 GiB of NVIDIA H200 (GPU-…) on node-0, at most 25 % of its time}.
   *
   * @param card which one, and where
   */
  String words(String card);
}
