package dev.partita.controller.quota;

import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.watch.ClusterView;

/** Tells a ledger of quotas about changes of what quotas depend on. For one thread. */
public final class QuotaRefresh {
  private final ClusterView view;
  private final QuotaLedger ledger;
  private QuotaWorld world = QuotaWorld.EMPTY;
  private boolean stale;

  public QuotaRefresh(ClusterView view, QuotaLedger ledger) {
    this.view = view;
    this.ledger = ledger;
  }

  /** A quota, or something that quotas depend on, may have changed. */
  public void stale() {
    stale = true;
  }

  /**
   * Looks again if it should, and says whether anything changed that quotas depend on: a status that was written is
   * none.
   */
  public boolean changed(Inventory inventory) {
    if (!stale) {
      return false;
    }
    stale = false;
    QuotaWorld fresh = QuotaWorld.of(view, inventory);
    if (fresh.equals(world)) {
      return false;
    }
    world = fresh;
    ledger.refresh(fresh);
    return true;
  }
}
