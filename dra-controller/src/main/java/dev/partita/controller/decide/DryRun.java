package dev.partita.controller.decide;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.inventory.GpuHost;
import java.util.Optional;

/**
 * Says whether a waiting pod would have a place on one host, as cards and loads are at that moment. It changes nothing.
 */
@FunctionalInterface
public interface DryRun {
  Optional<Outcome.Allocated> on(GpuHost host);
}
