package dev.partita.controller.resize;

import dev.partita.api.Driver;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.MergePatch;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.turns.TasksByTurns;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes what became of asked sizes into claims, several at a time and namespaces by turns. */
public final class ResizeWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ResizeWriter.class);

  /** Each waits for the API server most of the time. */
  private static final int AT_ONCE = 4;

  /**
   * What is to be written.
   *
   * @param claim as it was decided about; any change of it since makes the write fail
   * @param decision what was decided
   * @param answer for the annotation {@link Driver#RESIZE_ANSWER_ANNOTATION}
   */
  public record Write(ResourceClaim claim, ResizeDecision decision, String answer) {}

  /** Learns how a write ended, on a thread that writes. It must not block. */
  @FunctionalInterface
  public interface Listener {
    /** @param version the claim's new resourceVersion; empty if the write failed */
    void written(Write write, Optional<String> version);
  }

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final Listener listener;
  private final TasksByTurns writes = new TasksByTurns("resize-writer", () -> AT_ONCE);

  public ResizeWriter(KubernetesClient client, ApiEdge edge, Listener listener) {
    this.client = client;
    this.edge = edge;
    this.listener = listener;
  }

  /** Begins to write it. */
  public void write(Write write) {
    writes.add(write.claim().getMetadata().getNamespace(), () -> toClaim(write));
  }

  @Override
  public void close() {
    writes.close();
  }

  private void toClaim(Write write) {
    ResourceClaim claim = write.claim();
    Optional<String> version = Optional.empty();
    try {
      MergePatch patch =
          new MergePatch(claim.getMetadata().getResourceVersion())
              .annotate(Driver.RESIZE_ANSWER_ANNOTATION, write.answer());
      if (write.decision() instanceof ResizeDecision.Granted granted) {
        patch.annotate(Driver.GRANTED_SIZES_ANNOTATION, granted.sizes().toString());
      }
      version = Optional.of(patch.apply(client, edge, WriteKind.RESIZE, claim).getMetadata().getResourceVersion());
    } catch (RuntimeException e) {
      if (ApiEdge.isConflict(e) || ApiEdge.isNotFound(e)) {
        LOG.debug("claim {}: it has changed in the meantime; deciding about its size anew", name(claim));
      } else {
        LOG.warn("claim {}: what becomes of its size cannot be written: {}", name(claim), e.getMessage());
      }
    } finally {
      listener.written(write, version);
    }
  }

  private static String name(ResourceClaim claim) {
    return claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName();
  }
}
