package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * What was allocated to the claims of a workspace from the beginning of this history, by a watch that sees every
 * change.
 */
public final class AllocationHistory implements AutoCloseable {
  private final Map<String, List<String>> pools = new ConcurrentHashMap<>(); // by claim
  private final Watch watch;

  private AllocationHistory(Workspace workspace) {
    this.watch =
        workspace.client().resources(ResourceClaim.class).inNamespace(workspace.namespace()).watch(new Recorder());
  }

  public static AllocationHistory of(Workspace workspace) {
    return new AllocationHistory(workspace);
  }

  /** The pools from which the claim had its first device, one after the other; "" while it had none in between. */
  public List<String> poolsOf(ClaimUnderTest claim) {
    return List.copyOf(pools.getOrDefault(claim.name(), List.of()));
  }

  @Override
  public void close() {
    watch.close();
  }

  private final class Recorder implements Watcher<ResourceClaim> {
    @Override
    public void eventReceived(Action action, ResourceClaim claim) {
      String pool =
          Optional.ofNullable(claim.getStatus())
              .map(status -> status.getAllocation())
              .map(allocation -> allocation.getDevices().getResults().getFirst())
              .map(DeviceRequestAllocationResult::getPool)
              .orElse("");
      List<String> ofClaim = pools.computeIfAbsent(claim.getMetadata().getName(), name -> new CopyOnWriteArrayList<>());
      if (ofClaim.isEmpty() ? !pool.isEmpty() : !ofClaim.getLast().equals(pool)) {
        ofClaim.add(pool);
      }
    }

    @Override
    public void onClose(@Nullable WatcherException cause) {}
  }
}
