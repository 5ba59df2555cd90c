package dev.partita.plugin.step;

import dev.partita.api.MigSlot;
import dev.partita.plugin.checkpoint.ForeignRecord;
import dev.partita.plugin.checkpoint.MadeInstance;
import dev.partita.plugin.claim.PreparedClaim;
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
 * Tells which MIG instances claims have: by their records, and by notes and CDI specs of claims whose record is lost.
 *
 * @param store where all of these are
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
    Set<String> lost = store.withSpecOrNote();
    lost.removeAll(withRecord);
    for (String uid : lost) {
      madeWithoutRecord(uid).forEach(its -> made.computeIfAbsent(its.card(), _ -> new HashSet<>()).add(its.slot()));
    }
    return new ClaimedInstances(made, given, unknown);
  }

  /**
   * The instances that were made for a claim whose record is lost, by its spec and what was noted of it; none if
   * neither says anything that can be read. One that another claim has by its record is that one's.
   */
  Set<MadeInstance> madeWithoutRecord(String uid) throws IOException {
    Set<MadeInstance> made = new HashSet<>(store.cdi().readIfValid(uid)
        .map(spec -> MadeInstance.parse(spec.annotations().getOrDefault(ClaimSpec.MADE_INSTANCES_ANNOTATION, "")))
        .orElse(List.of()));
    store.checkpoint().notes().of(uid).ifPresent(note -> made.addAll(note.made()));
    for (PreparedClaim record : made.isEmpty() ? List.<PreparedClaim>of() : store.checkpoint().readAll()) {
      record.grants().stream().filter(InstancesOfClaims::takes).forEach(grant -> grant.mig()
          .ifPresent(instance -> made.remove(new MadeInstance(grant.card().uuid(), instance.slot()))));
    }
    return made;
  }

  /** Whether it is not only looked at. */
  private static boolean takes(Grant grant) {
    return grant.use().held(grant.card()).isPresent();
  }

  private static void add(Grant grant, Map<String, Set<MigSlot>> made, Map<String, List<MigInstance>> given) {
    String card = grant.card().uuid();
    if (grant.use().made().isPresent()) {
      made.computeIfAbsent(card, _ -> new HashSet<>()).add(grant.use().made().get().slot());
    } else if (takes(grant)) {
      grant.mig().ifPresent(instance -> given.computeIfAbsent(card, _ -> new ArrayList<>()).add(instance));
    }
  }
}
