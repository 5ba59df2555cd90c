package dev.partita.controller.nodestatus;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.OtherDriverDevice;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.OtherDevice;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes into the status of GpuNodes which cards claims have by other DRA drivers: these are offered to nobody, by
 * whoever reads the GpuNode. For one thread.
 */
public final class NodeOtherDrivers {
  private static final Logger LOG = LoggerFactory.getLogger(NodeOtherDrivers.class);

  /** Problems are logged once; whoever makes up more gets no more lines. */
  private static final int MOST_PROBLEMS = 100;

  private final NodeStatusWriter writer;
  private final ClusterView view;
  private final Set<String> logged = new HashSet<>();

  public NodeOtherDrivers(NodeStatusWriter writer, ClusterView view) {
    this.writer = writer;
    this.view = view;
  }

  /**
   * Writes it if the node is to have something else.
   *
   * @return whether it was written, so that the GpuNode is not the one that was given
   */
  public boolean tell(GpuNode node) {
    String name = node.getMetadata().getName();
    List<OtherDriverDevice> before = node.getStatus().otherDrivers();
    List<ResourceSlice> slices = view.claimedOtherSlices(name);
    Set<OtherDevice.Pool> pools = Stream.concat(
        slices.stream().map(its -> new OtherDevice.Pool(its.getSpec().getDriver(), its.getSpec().getPool().getName())),
        before.stream().map(its -> new OtherDevice.Pool(its.driver(), its.pool()))).collect(Collectors.toSet());
    if (pools.isEmpty()) {
      return false;
    }
    Map<String, ResourceClaim> claims = new HashMap<>(); // one may have devices of several pools
    pools.forEach(pool -> view.claimsOf(pool).forEach(claim -> claims.put(claim.getMetadata().getUid(), claim)));
    OtherDrivers.Found found = OtherDrivers.on(node.getStatus().gpus(), slices, claims.values(), before);
    found.problems().stream().filter(problem -> logged.size() < MOST_PROBLEMS && logged.add(problem))
        .forEach(problem -> LOG.warn("{} (seen on node {})", problem, name));
    if (found.devices().equals(before)) {
      return false;
    }
    writer.write(node, node.getStatus().withOtherDrivers(found.devices()));
    LOG.info("gpunode {}: claims have cards by other DRA drivers: {}", name,
        found.devices().isEmpty()
            ? "none"
            : found.devices().stream().map(device -> device.uuid() + " by " + device)
                .collect(Collectors.joining("; ")));
    return true;
  }
}
