package dev.partita.plugin.step;

import dev.partita.api.MigSlot;
import dev.partita.plugin.checkpoint.ForeignRecord;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.inventory.ClaimedInstances;
import dev.partita.plugin.store.ClaimStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Tells which MIG instances claims have: by their records, and by the CDI specs of claims whose record is lost.
 *
 * @param store where both are
 */
public record InstancesOfClaims(ClaimStore store) implements ClaimedInstances.Source {
  @Override
  public ClaimedInstances now() throws IOException {
    Map<String, Set<MigSlot>> made = new HashMap<>();
    Map<String, List<MigInstance>> given = new HashMap<>();
    Set<String> unknown = new HashSet<>();
    Set<String> withRecord = new HashSet<>();
    for (PreparedClaim record : store.checkpoint().readAll()) {
      withRecord.add(record.claim().uid());
      record.grants().forEach(grant -> add(grant, made, given));
    }
    for (ForeignRecord record : store.checkpoint().foreign()) {
      if (record.cards().isEmpty()) {
        throw new IOException("another version of the plugin has prepared claim " + record.uid()
            + ", and its record does not say which cards it has");
      }
      withRecord.add(record.uid());
      unknown.addAll(record.cards());
    }
    for (String uid : store.cdi().ids()) {
      if (!withRecord.contains(uid) && ClaimRef.isUid(uid)) {
        madeBySpec(uid).forEach(its -> made.computeIfAbsent(its.card(), _ -> new HashSet<>()).add(its.slot()));
      }
    }
    return new ClaimedInstances(made, given, unknown);
  }

  /** The instances that a claim's spec says were made for it; none if it says nothing that can be read. */
  List<MadeInstance> madeBySpec(String uid) throws IOException {
    return store.cdi().readIfValid(uid)
        .map(spec -> MadeInstance.parse(spec.annotations().getOrDefault(ClaimSpec.MADE_INSTANCES_ANNOTATION, "")))
        .orElse(List.of());
  }

  private static void add(Grant grant, Map<String, Set<MigSlot>> made, Map<String, List<MigInstance>> given) {
    String card = grant.card().uuid();
    if (grant.use().made().isPresent()) {
      made.computeIfAbsent(card, _ -> new HashSet<>()).add(grant.use().made().get().slot());
    } else {
      grant.mig().ifPresent(instance -> given.computeIfAbsent(card, _ -> new ArrayList<>()).add(instance));
    }
  }
}
