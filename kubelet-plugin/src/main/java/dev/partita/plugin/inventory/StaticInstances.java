package dev.partita.plugin.inventory;

import dev.partita.api.MigSlot;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.plugin.diagnosis.CardReason;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.nvml.CardReading.Card;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Tells which MIG instances of a card somebody else than Partita made: all that are there and that were made for no
 * claim. One that a claim has is listed until the claim ends, also when somebody has ended it.
 *
 * @param offered those that claims can have
 * @param divided whether there are others, which have no compute instance of all of them
 */
record StaticInstances(List<StaticMigInstance> offered, boolean divided) {
  static final StaticInstances NONE = new StaticInstances(List.of(), false);

  /**
   * Those of a card.
   *
   * @param earlier what was told before, and still is where neither the driver nor the node can tell
   */
  static StaticInstances of(Card card, Optional<ClaimedInstances> claimed, List<StaticMigInstance> earlier) {
    if (card.mig().instances().isEmpty() || !claimed.map(its -> its.areKnownOf(card.uuid())).orElse(false)) {
      return new StaticInstances(earlier, false);
    }
    SortedMap<MigSlot, StaticMigInstance> offered = new TreeMap<>();
    boolean divided = false;
    for (GpuInstance there : card.mig().instances().get()) {
      Optional<MigProfile> profile = profile(there.profile(), card);
      if (profile.isEmpty() || profile.get().label().isEmpty() || there.placement().mask() == 0
          || claimed.get().madeOf(card.uuid()).contains(new MigSlot(profile.get().label(), there.start()))) {
        continue;
      }
      if (there.isUndivided()) {
        offered.put(new MigSlot(profile.get().label(), there.start()),
            new StaticMigInstance(there.computeInstances().getFirst().uuid(), there.profile(), there.placement()));
      } else {
        divided = true;
      }
    }
    for (MigInstance given : claimed.get().givenOf(card.uuid())) {
      offered.computeIfAbsent(given.slot(), _ -> gone(given, card));
    }
    return new StaticInstances(List.copyOf(offered.values()), divided);
  }

  private static StaticMigInstance gone(MigInstance given, Card card) {
    return new StaticMigInstance("", given.profile(), given.placement(),
        GpuHealth.unhealthy(CardReason.MigInstanceIsGone.name(),
            "MIG instance " + given.profile() + " at memory slice " + given.start()
                + " is not there any more, or has no compute instance of all of it: somebody has ended it on the node"
                + " (nvidia-smi mig -lgi -i " + card.index() + "); make it again at its place, or end the pod"));
  }

  private static Optional<MigProfile> profile(String name, Card card) {
    return card.mig().profiles().stream().filter(profile -> profile.name().equals(name)).findFirst();
  }
}
