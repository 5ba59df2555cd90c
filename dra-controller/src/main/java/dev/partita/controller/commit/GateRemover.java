package dev.partita.controller.commit;

import dev.partita.api.Driver;
import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes the {@link AllocationGate} from pods. */
public final class GateRemover {
  private static final Logger LOG = LoggerFactory.getLogger(GateRemover.class);
  private static final Duration ECHO = Duration.ofSeconds(5);

  private final GatePatch gate;
  private final ClusterView view;

  public GateRemover(KubernetesClient client, ApiEdge edge, ClusterView view) {
    this.gate = new GatePatch(client, edge);
    this.view = view;
  }

  /**
   * Removes the gate, and waits until the view shows it, lest it be removed again.
   *
   * @return false if the server did not do it
   */
  boolean remove(Pod pod) throws InterruptedException {
    try {
      if (gate.removed(pod).filter(AllocationGate::isOn).isPresent()) {
        LOG.warn("pod {}: other writes came before the removal of its scheduling gate; trying again",
            ObjectKey.of(pod));
        return false;
      }
      return view.await(
          ObjectKey.of(pod),
          () -> {
            @Nullable Pod shown = view.pod(ObjectKey.of(pod));
            return shown == null || !GatePatch.isSame(shown, pod) || !AllocationGate.isOn(shown);
          },
          ECHO);
    } catch (RuntimeException e) {
      LOG.warn("pod {}: cannot remove scheduling gate {}: {}", ObjectKey.of(pod), Driver.ALLOCATION_GATE,
          e.getMessage());
      return false;
    }
  }
}
