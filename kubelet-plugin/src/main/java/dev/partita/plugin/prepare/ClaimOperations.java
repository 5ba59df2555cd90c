package dev.partita.plugin.prepare;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.claim.ThisNode;
import dev.partita.plugin.claimread.AllocationReader;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.step.Step;
import dev.partita.plugin.store.ClaimStore;
import java.util.function.Supplier;

/** Prepares, releases and rewrites the claims of one store, whose locks keep the three from each other. */
public record ClaimOperations(ClaimPreparer preparer, ClaimReleaser releaser, ClaimRewriter rewriter) {
  /**
   * @param node the node's settings; throws IllegalStateException while they are not known
   * @param steps carries them out on the store
   * @param held what stands in the way of new claims without being prepared by this version
   * @param loans what stands in their way for a while
   */
  public static ClaimOperations of(
      ThisNode here,
      ClaimReader api,
      NodeInventory inventory,
      Supplier<GpuNodeSpec> node,
      ClaimStore store,
      Step.Executor steps,
      ClaimReports reports,
      HeldClaims held,
      Loans loans) {
    LockedSteps locked = new LockedSteps(store.lock(), steps);
    ClaimReleaser releaser = new ClaimReleaser(inventory, store, locked, reports, held, loans);
    AllocationReader reader = new AllocationReader(here.pool(), api, inventory, node);
    Obstacles obstacles = new Obstacles(store.checkpoint(), held,
        new ReleasesUnderWay(api, store.checkpoint(), here.pool()), loans);
    Preparation preparation = new Preparation(here, store, locked, releaser, obstacles, held, loans);
    return new ClaimOperations(
        new ClaimPreparer(here, inventory, reader, preparation, obstacles, store, releaser, reports),
        releaser,
        new ClaimRewriter(here, inventory, store, locked, loans));
  }
}
