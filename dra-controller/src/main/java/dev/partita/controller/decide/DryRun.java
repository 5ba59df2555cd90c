package dev.partita.controller.decide;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.inventory.GpuHost;
import java.util.Optional;

/**
 * Answers whether a pod that waits would have a place on one host, as cards and loads are at that moment. Nothing is
 * changed.
 */
@FunctionalInterface
public interface DryRun {
  Optional<Outcome.Allocated> on(GpuHost host);
}
