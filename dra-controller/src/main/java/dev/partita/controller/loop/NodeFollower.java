package dev.partita.controller.loop;

import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.quota.QuotaRefresh;
import dev.partita.controller.schedule.AbandonedClaims;
import dev.partita.controller.state.NodeFacts;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.Node;

/**
 * Carries the change of a node, its cards or its slices to what depends on it: what can be allocated, what quotas
 * count, and the pods that wait. A node that is uncordoned, for example, may have room for one of them. For one thread.
 */
final class NodeFollower {
  private final ClusterView view;
  private final SchedulerState state;
  private final QuotaRefresh quotas;
  private final AbandonedClaims abandoned;
  private final Wakeups wakeups;
  private final NodeFacts nodeFacts;

  NodeFollower(
      ClusterView view,
      SchedulerState state,
      QuotaRefresh quotas,
      AbandonedClaims abandoned,
      Wakeups wakeups) {
    this.view = view;
    this.state = state;
    this.quotas = quotas;
    this.abandoned = abandoned;
    this.wakeups = wakeups;
    this.nodeFacts = new NodeFacts(view);
  }

  /** Begins with the cards that are there. */
  void begin() {
    state.inventoryChanged(view.inventory());
    quotas.stale();
    quotas.changed(state.inventory());
  }

  /** Cards have come or gone, or what speaks against them has changed. */
  void cardsChanged() {
    Inventory fresh = view.inventory();
    Inventory before = state.inventory();
    if (!fresh.equals(before)) {
      state.inventoryChanged(fresh);
      quotas.stale();
      wakeups.helps();
      abandoned.lookAtNodes(before);
    }
  }

  /** The Node has come, changed or gone. */
  void nodeChanged(String node) {
    if (nodeFacts.changed(node)) {
      state.nodeChanged(node);
      quotas.stale();
      wakeups.helps();
    }
  }

  /** The node's slices have come, changed or gone. */
  void slicesChanged(String node) {
    if (nodeFacts.published(node)) {
      wakeups.helps();
    }
  }
}
