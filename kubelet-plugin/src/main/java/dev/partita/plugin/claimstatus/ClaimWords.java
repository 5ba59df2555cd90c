package dev.partita.plugin.claimstatus;

import dev.partita.api.Bytes;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.resize.ShareSize;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.grant.BookedShare;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Describes what a claim was given, as text and as flat data. */
final class ClaimWords {
  private static final int ALL_CORES = 100;

  private ClaimWords() {}

  /** {@code 8 GiB of NVIDIA H200 (GPU-…) on node-0, at most 25 % of its time}. */
  static String message(Grant grant, String nodeName) {
    return grant.use().words(grant.card().productName() + " (" + grant.card().uuid() + ") on " + nodeName);
  }

  static String message(List<Grant> grants, String nodeName) {
    return grants.stream().map(grant -> message(grant, nodeName)).collect(Collectors.joining("; "));
  }

  /** Scalars only, so that {@code kubectl describe} shows one a line. */
  static Map<String, String> data(ClaimRef claim, Grant grant, String nodeName) {
    Map<String, String> data = new TreeMap<>();
    data.put(DeviceStatusData.CARD.key(), grant.card().uuid());
    data.put(DeviceStatusData.PRODUCT_NAME.key(), grant.card().productName());
    data.put(DeviceStatusData.NODE.key(), nodeName);
    data.put(DeviceStatusData.CDI_DEVICE.key(), CdiName.idOf(claim, grant));
    grant.mig().ifPresent(mig -> data.put(DeviceStatusData.MIG_PROFILE.key(), mig.profile()));
    data.put(DeviceStatusData.MEMORY_LIMIT.key(), Bytes.quantity(grant.use().memoryBytes(grant.card())).toString());
    OptionalInt cores = grant.use().coreLimit();
    data.put(DeviceStatusData.CORE_LIMIT.key(), cores.isPresent() ? String.valueOf(cores.getAsInt()) : "none");
    guarantee(grant).ifPresent(size -> data.put(DeviceStatusData.GUARANTEE.key(), size.toString()));
    grant.share().flatMap(Share::resized)
        .ifPresent(size -> data.put(DeviceStatusData.SIZE_IN_FORCE.key(), size.toString()));
    return data;
  }

  /** What the card's state says of the device. */
  static Map<String, String> data(Grant grant, ClaimReports.CardNow card) {
    boolean healthy = card.health().state() == GpuHealth.State.Healthy;
    return Map.of(
        DeviceStatusData.ENFORCEMENT.key(), grant.use().enforcer(card.ofShares()).word(),
        DeviceStatusData.HEALTH.key(),
        healthy
            ? GpuHealth.State.Healthy.name()
            : Objects.requireNonNullElse(card.health().reason(), card.health().state().name()));
  }

  /** That nobody holds the containers to the memory that was promised; empty where somebody does. */
  static Optional<DeviceNotes.Note> unenforced(Grant grant) {
    return grant.use() instanceof BookedShare
        ? Optional.of(DeviceNotes.Note.fails(DeviceCondition.MemoryLimitEnforced, DeviceCondition.Reason.NotEnforced,
            "the card is opaque: its memory and time are only counted, nothing holds programs to them,"
                + " and what they use is not known"))
        : Optional.empty();
  }

  /** What a share that may grow is lent; empty for any other. */
  static Optional<DeviceNotes.Note> loan(Grant grant) {
    return grant.growing().map(share -> {
      String most = "up to " + Bytes.words(share.lendableBytes()) + " more than its own "
          + Bytes.words(share.guaranteedBytes()) + " of " + grant.card().uuid() + " while no claim needs them";
      return share.lentBytes() == 0
          ? DeviceNotes.Note.fails(DeviceCondition.MemoryLent, DeviceCondition.Reason.NothingLent,
              "it may have " + most + "; none are left now")
          : DeviceNotes.Note.holds(DeviceCondition.MemoryLent, DeviceCondition.Reason.Lent,
              "it is lent " + Bytes.words(share.lentBytes()) + "; it may have " + most);
    });
  }

  /**
   * What nobody else has meanwhile; a MIG instance is set aside as a whole, and nothing is for who has a card in turn,
   * only looks at it, or has some of an opaque card, of which others may take more than theirs.
   */
  private static Optional<ShareSize> guarantee(Grant grant) {
    if (grant.share().isPresent()) {
      Share share = grant.share().get();
      return Optional.of(new ShareSize(share.guaranteedBytes(), share.cores()));
    }
    return grant.mig().isPresent() || grant.isOpaque() || grant.use().timeSlicing().isPresent()
        || grant.use().held(grant.card()).isEmpty()
            ? Optional.empty()
            : Optional.of(new ShareSize(grant.use().memoryBytes(grant.card()), ALL_CORES));
  }
}
