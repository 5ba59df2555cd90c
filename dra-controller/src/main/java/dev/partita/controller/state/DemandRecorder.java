package dev.partita.controller.state;

import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.claim.ClaimReading;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.nodes.NodeFit;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells the demand history of every pod once, whoever placed the pod. After a restart it tells of all pods that exist.
 * For one thread.
 */
public final class DemandRecorder {
  private final ClusterObjects view;
  private final ClaimReader reader;
  private final DemandHistory history;
  private final Set<String> counted = new HashSet<>();

  public DemandRecorder(ClusterObjects view, ClaimReader reader, DemandHistory history) {
    this.view = view;
    this.reader = reader;
    this.history = history;
  }

  /** A pod with these claims, all of which exist. */
  public void arrived(Pod pod, List<ObjectKey> claims) {
    if (!counted.add(pod.getMetadata().getUid())) {
      return;
    }
    List<ClaimRequest> requests = new ArrayList<>();
    for (ObjectKey name : claims) {
      @Nullable ResourceClaim claim = view.claim(name);
      if (claim != null && reader.read(claim) instanceof ClaimReading.Understood(ClaimRequest request)) {
        requests.add(request);
      }
    }
    if (!requests.isEmpty()) {
      history.arrived(NodeFit.needs(pod), requests);
    }
  }

  /** A pod that runs on a host with cards; only pods without claims are counted here. */
  public void arrivedWithoutCards(Pod pod) {
    if (pod.getSpec().getResourceClaims().isEmpty() && counted.add(pod.getMetadata().getUid())) {
      history.arrived(NodeFit.needs(pod), List.of());
    }
  }

  /** The pod is gone. */
  public void forget(String podUid) {
    counted.remove(podUid);
  }
}
