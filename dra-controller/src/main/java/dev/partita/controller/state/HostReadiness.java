package dev.partita.controller.state;

import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.watch.ClusterObjects;
import java.util.Optional;

/** Says whether cards of a host can be handed out at all, to whomever. */
public final class HostReadiness {
  private HostReadiness() {}

  /**
   * Why they cannot; empty if they can. A host of which nothing is offered has no slices; its cards say why. The
   * controller allocates nothing where kube-scheduler still may.
   */
  public static Optional<String> refusal(GpuHost host, ClusterObjects objects) {
    if (!host.isReady()) {
      return host.unready();
    }
    if (objects.node(host.name()) == null) {
      return Optional.of("there is no such Node");
    }
    if (!objects.isPublished(host.name()) && !host.devices().isEmpty()) {
      return Optional.of("its slices are not published: the node's plugin or kubelet is away");
    }
    return host.allocator() == Allocator.Controller && objects.isOfferedToScheduler(host.name())
        ? Optional
            .of("its slices still let kube-scheduler allocate there, as spec.allocator of its GpuNode said until now")
        : Optional.empty();
  }
}
