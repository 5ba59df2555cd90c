package dev.partita.controller.commit;

import dev.partita.api.Driver;
import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Removes the {@link AllocationGate} from pods. */
public final class GateRemover {
  private static final Logger LOG = LoggerFactory.getLogger(GateRemover.class);
  private static final int ATTEMPTS = 3;
  private static final int UNPROCESSABLE = 422;
  private static final Duration ECHO = Duration.ofSeconds(5);

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final ClusterView view;

  public GateRemover(KubernetesClient client, ApiEdge edge, ClusterView view) {
    this.client = client;
    this.edge = edge;
    this.view = view;
  }

  /**
   * Removes the gate, and waits until the view shows it, lest it be removed again.
   *
   * @return false if the server did not do it
   */
  boolean remove(Pod pod) throws InterruptedException {
    try {
      @Nullable Pod now = pod;
      for (int i = 0; i < ATTEMPTS && isSame(now, pod) && AllocationGate.isOn(Objects.requireNonNull(now)); i++) {
        now = patched(now);
      }
      if (isSame(now, pod) && AllocationGate.isOn(Objects.requireNonNull(now))) {
        LOG.warn("pod {}: other writes came before the removal of its scheduling gate; trying again",
            ObjectKey.of(pod));
        return false;
      }
      return view.await(
          ObjectKey.of(pod),
          () -> {
            @Nullable Pod shown = view.pod(ObjectKey.of(pod));
            return shown == null || !isSame(shown, pod) || !AllocationGate.isOn(shown);
          },
          ECHO);
    } catch (RuntimeException e) {
      LOG.warn("pod {}: cannot remove scheduling gate {}: {}", ObjectKey.of(pod), Driver.ALLOCATION_GATE,
          e.getMessage());
      return false;
    }
  }

  /**
   * The pod after the patch; as it is now if the patch did not meet the pod that it was made for; null if it is gone.
   */
  private @Nullable Pod patched(Pod pod) {
    String gate = "/spec/schedulingGates/" + AllocationGate.index(pod);
    try {
      return new JsonPatch()
          .test("/metadata/uid", pod.getMetadata().getUid())
          .test(gate + "/name", Driver.ALLOCATION_GATE)
          .remove(gate)
          .apply(client, edge, WriteKind.GATE, pod);
    } catch (KubernetesClientException e) {
      if (e.getCode() == UNPROCESSABLE || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND || ApiEdge.isConflict(e)) {
        return client.resource(pod).get();
      }
      throw e;
    }
  }

  private static boolean isSame(@Nullable Pod now, Pod pod) {
    return now != null && now.getMetadata().getUid().equals(pod.getMetadata().getUid());
  }
}
