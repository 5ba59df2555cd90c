package dev.partita.controller.events;

import dev.partita.api.event.EventObject;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.WriteKind;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes events on pods, at once and on the caller's thread. An event may be lost. */
public final class PodEvents {
  private static final Logger LOG = LoggerFactory.getLogger(PodEvents.class);

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final Clock clock;
  private final String instance;

  /**
   * @param instance which instance speaks, such as its pod's name
   */
  public PodEvents(KubernetesClient client, ApiEdge edge, Clock clock, String instance) {
    this.client = client;
    this.edge = edge;
    this.clock = clock;
    this.instance = instance;
  }

  /**
   * Says something that is a Warning.
   *
   * @param reason one CamelCase word
   * @param action one CamelCase word: what was being done
   * @return false where the API server did not take it and may later
   */
  public boolean warn(String namespace, String pod, String uid, String reason, String action, String note) {
    EventObject said = new EventObject(EventObject.About.POD, namespace, pod, uid, true, reason, action, note);
    Event event = said.first(said.nameByNote(), "dra-controller", instance, clock.instant());
    try {
      edge.in(namespace).write(WriteKind.EVENT, () -> client.resource(event).create());
      return true;
    } catch (RuntimeException e) {
      if (ApiEdge.isNamespaceEnding(e)) {
        LOG.debug("pod {}/{}: event {} not written, its namespace is being deleted", namespace, pod, reason);
      } else if (!ApiEdge.isConflict(e)) {
        LOG.warn("pod {}/{}: cannot write event {}: {}", namespace, pod, reason, e.getMessage());
      }
      return !ApiEdge.isTransient(e) && !ApiEdge.isNotSent(e);
    }
  }
}
