package dev.partita.controller.schedule;

import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.inventory.GpuHost;
import java.util.Optional;

/** Whether there would be a place on one host for a pod that waits, by the ledger and the loads as they are when it is asked. */
@FunctionalInterface
interface Trial {
  Optional<Outcome.Allocated> on(GpuHost host);
}
