package dev.partita.plugin.claimstatus;

import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ResizeAnswer;
import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Makes our entries of a claim's {@code status.devices}.
 */
final class DeviceStatuses {
  /** What is there only where a resize has been asked for. */
  private static final Set<DeviceStatusData> RESIZED =
      Set.of(DeviceStatusData.SIZE_ASKED, DeviceStatusData.SIZE_GRANTED, DeviceStatusData.SIZE_IN_FORCE);

  private final ResourceClaim claim;
  private final PreparedClaim prepared;
  private final String nodeName;
  private final ClaimReports.CardsNow cards;
  private final String pool;
  private final String now;

  DeviceStatuses(
      ResourceClaim claim,
      PreparedClaim prepared,
      String nodeName,
      ClaimReports.CardsNow cards,
      Instant now) {
    this.claim = claim;
    this.prepared = prepared;
    this.nodeName = nodeName;
    this.cards = cards;
    this.pool = Driver.poolOf(nodeName);
    this.now = now.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  /**
   * One entry a device of the claim.
   *
   * @param notes by share key; a device without any keeps those that it has
   */
  List<AllocatedDeviceStatus> wanted(Map<String, DeviceNotes> notes) {
    return prepared.grants().stream().map(grant -> status(grant, Optional.ofNullable(notes.get(grant.shareKey()))))
        .toList();
  }

  private AllocatedDeviceStatus status(Grant grant, Optional<DeviceNotes> notes) {
    Optional<String> shareId = AllocationDecoder.shareIdOf(claim, pool, grant); // compared as text by the API server
    AllocatedDeviceStatusBuilder status =
        new AllocatedDeviceStatusBuilder().withDriver(Driver.NAME).withPool(pool).withDevice(grant.device());
    shareId.ifPresent(status::withShareID);
    Optional<AllocatedDeviceStatus> before =
        earlier().stream().filter(d -> StatusPatch.isSame(d, status.build())).findFirst();

    Optional<ClaimReports.CardNow> card = cards.of(grant);
    Map<String, Object> earlier = before.map(DeviceStatuses::dataOf).orElse(Map.of());
    Map<String, Object> data = new TreeMap<>(notes.isEmpty() ? earlier : Map.of());
    RESIZED.forEach(field -> data.remove(field.key()));
    data.putAll(ClaimWords.data(prepared.claim(), grant, nodeName));
    card.ifPresent(known -> data.putAll(ClaimWords.data(grant, known)));
    grant.share().flatMap(share -> ResizeAnswer.of(claim)).flatMap(ResizeAnswer::size)
        .ifPresent(size -> data.put(DeviceStatusData.SIZE_ASKED.key(), size.toString()));
    GrantedSizes.of(claim).ofShare(shareId.orElse(null))
        .ifPresent(size -> data.put(DeviceStatusData.SIZE_GRANTED.key(), size.toString()));
    notes.ifPresent(n -> data.putAll(n.data()));
    keepPeak(earlier, data);

    Optional<GpuHealth> health = card.map(ClaimReports.CardNow::health);
    List<DeviceNotes.Note> now = new ArrayList<>(HealthWords.notes(grant, nodeName, health));
    notes.ifPresent(n -> now.addAll(n.conditions()));
    if (InstanceStatuses.isAwaited(claim, pool, status.build())) {
      now.add(DeviceNotes.Note.holds(DeviceCondition.InstanceMade, DeviceCondition.Reason.Made,
          "the MIG instance is there"));
    }
    ClaimWords.loan(grant).ifPresent(now::add);
    ClaimWords.unenforced(grant).ifPresent(now::add);
    List<Condition> conditions = new ArrayList<>();
    now.forEach(note -> conditions.add(condition(before, note)));
    before.stream().flatMap(d -> conditionsOf(d).stream())
        .filter(c -> notes.isEmpty() || (health.isEmpty() && DeviceCondition.Healthy.name().equals(c.getType())))
        .filter(c -> now.stream().noneMatch(note -> note.type().name().equals(c.getType())))
        .forEach(conditions::add);
    return status.withData(new RawExtension(data)).withConditions(conditions).build();
  }

  /** A plugin that has started anew has not seen the peak that the one before it has told. */
  private static void keepPeak(Map<String, Object> earlier, Map<String, Object> data) {
    String key = DeviceStatusData.MEMORY_PEAK.key();
    if (earlier.get(key) instanceof String told && data.get(key) instanceof String now
        && Bytes.parse(told).orElse(0) > Bytes.parse(now).orElse(0)) {
      data.put(key, told);
    }
  }

  /** A condition that says the same as before keeps its time of transition. */
  private Condition condition(Optional<AllocatedDeviceStatus> before, DeviceNotes.Note note) {
    String since =
        before.stream()
            .flatMap(device -> conditionsOf(device).stream())
            .filter(c -> note.type().name().equals(c.getType()) && note.status().equals(c.getStatus()))
            .map(Condition::getLastTransitionTime)
            .filter(Objects::nonNull)
            .findFirst()
            .orElse(now);
    return new ConditionBuilder()
        .withType(note.type().name())
        .withStatus(note.status())
        .withReason(note.reason().name())
        .withMessage(note.message())
        .withLastTransitionTime(since)
        .build();
  }

  private List<AllocatedDeviceStatus> earlier() {
    return claim.getStatus() == null || claim.getStatus().getDevices() == null
        ? List.of()
        : claim.getStatus().getDevices();
  }

  private static List<Condition> conditionsOf(AllocatedDeviceStatus device) {
    return device.getConditions() == null ? List.of() : device.getConditions();
  }

  private static Map<String, Object> dataOf(AllocatedDeviceStatus device) {
    Map<String, Object> data = new TreeMap<>();
    DeviceStatusData.of(device).forEach((key, value) -> data.put(String.valueOf(key), value));
    return data;
  }
}
