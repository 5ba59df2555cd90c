package dev.partita.controller.state;

import dev.partita.controller.inventory.GpuHost;
import io.fabric8.kubernetes.api.model.Node;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Says whether cards of a host can be handed out at all, to whomever. */
public final class HostReadiness {
  private HostReadiness() {}

  /**
   * Why they cannot; empty if they can. A host of which nothing is offered has no slices; its cards say why.
   *
   * @param node the host's; null if there is none
   * @param published whether there are slices of it
   */
  public static Optional<String> refusal(GpuHost host, @Nullable Node node, boolean published) {
    if (!host.isReady()) {
      return host.unready();
    }
    if (node == null) {
      return Optional.of("there is no such Node");
    }
    return published || host.devices().isEmpty()
        ? Optional.empty()
        : Optional.of("its slices are not published: the node's plugin or kubelet is away");
  }
}
