package dev.partita.plugin.prepare;

import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.step.Step;
import dev.partita.plugin.store.OperationLock;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Carries out steps one after the other, those that touch what belongs to cards under the cards' locks.
 *
 * @param steps carries out one
 */
record LockedSteps(OperationLock lock, Step.Executor steps) {
  void execute(List<Step> all) throws IOException {
    for (Step step : all) {
      steps.execute(step);
    }
  }

  /** Carries them out while nobody else touches what belongs to the cards of these grants. */
  void onCards(List<Grant> grants, List<Step> all) throws IOException {
    lock.onCards(
        cardsOf(grants),
        () -> {
          execute(all);
          return true;
        });
  }

  /** UUIDs of the grants' cards. */
  static Set<String> cardsOf(List<Grant> grants) {
    return grants.stream().map(grant -> grant.card().uuid()).collect(Collectors.toSet());
  }
}
