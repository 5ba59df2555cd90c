package dev.partita.plugin.claimstatus;

import dev.partita.api.event.EventObject;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;

/**
 * Writes events on claims. The same event with the same note is counted, not written again; with another note it is
 * another event.
 */
final class ClaimEvents {
  private final KubernetesClient client;
  private final ApiCalls calls;
  private final String nodeName;
  private final Clock clock;

  ClaimEvents(KubernetesClient client, ApiCalls calls, String nodeName, Clock clock) {
    this.client = client;
    this.calls = calls;
    this.nodeName = nodeName;
    this.clock = clock;
  }

  void record(ClaimRef claim, EventReason reason, String note) {
    EventObject said = new EventObject(EventObject.About.CLAIM, claim.namespace(), claim.name(), claim.uid(),
        reason.isWarning(), reason.name(), reason.name(), note);
    String name = said.nameByNote();
    calls.run(
        () -> {
          try { // most are said for the first time
            client.events().v1().events().resource(said.first(name, "kubelet-plugin", nodeName, clock.instant()))
                .create();
          } catch (KubernetesClientException e) {
            Event earlier = ApiCalls.isConflict(e)
                ? client.events().v1().events().inNamespace(claim.namespace()).withName(name).get()
                : null;
            if (earlier == null) {
              throw e;
            }
            update(EventObject.again(earlier, clock.instant()));
          }
        });
  }

  private void update(Event event) {
    try {
      client.events().v1().events().resource(event).update();
    } catch (KubernetesClientException e) {
      if (!ApiCalls.isNotFound(e)) { // it has just expired: nobody misses its count
        throw e;
      }
    }
  }
}
