package dev.partita.controller.loop;

import dev.partita.controller.decide.Beside;
import dev.partita.controller.decide.Decider;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.turns.AlikePods;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Decides as another one does, once a test has been told of the pod.
 *
 * @param before called on the deciding thread, before each decision
 */
record WatchedDecider(Decider decider, Consumer<Pod> before) implements Decider {
  @Override
  public Reading read(Pod pod, Map<String, String> placed) {
    return decider.read(pod, placed);
  }

  @Override
  public Decision decide(
      Pod pod,
      Inventory inventory,
      Instant now,
      Beside beside,
      Optional<AlikePods> alike) {
    before.accept(pod);
    return decider.decide(pod, inventory, now, beside, alike);
  }

  @Override
  public void forgetSearches() {
    decider.forgetSearches();
  }
}
