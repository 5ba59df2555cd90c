package dev.partita.plugin.claimstatus;

import dev.partita.api.Driver;
import dev.partita.plugin.claim.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.api.model.events.v1.EventSeriesBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.UUID;

/** Events on claims. The same event again is counted, not repeated: its name is made from what it says. */
final class ClaimEvents {
  private static final int NOTE_MAX = 1024; // events.k8s.io/v1 validation
  private static final int NAME_MAX = 200;
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

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

  /** Records that something went as it should. */
  void normal(ClaimRef claim, String reason, String note) {
    record(claim, "Normal", reason, note);
  }

  /** Records that something went wrong. */
  void warning(ClaimRef claim, String reason, String note) {
    record(claim, "Warning", reason, note);
  }

  private void record(ClaimRef claim, String type, String reason, String note) {
    String shortNote = note.length() <= NOTE_MAX ? note : note.substring(0, NOTE_MAX - 1) + "…";
    String name = nameOf(claim, reason, shortNote);
    calls.run(
        () -> {
          MicroTime now = new MicroTime(MICROS.format(Instant.now(clock)));
          Event earlier = client.events().v1().events().inNamespace(claim.namespace()).withName(name).get();
          if (earlier == null) {
            client.events().v1().events().resource(event(claim, name, type, reason, shortNote, now)).create();
          } else {
            int count = earlier.getSeries() == null || earlier.getSeries().getCount() == null ? 1 : earlier.getSeries().getCount();
            earlier.setSeries(new EventSeriesBuilder().withCount(count + 1).withLastObservedTime(now).build());
            update(earlier);
          }
        });
  }

  private void update(Event event) {
    try {
      client.events().v1().events().resource(event).update();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_NOT_FOUND) { // it has just expired: nobody misses its count
        throw e;
      }
    }
  }

  private Event event(ClaimRef claim, String name, String type, String reason, String note, MicroTime now) {
    return new EventBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(claim.namespace())
        .endMetadata()
        .withType(type)
        .withReason(reason)
        .withAction(reason)
        .withNote(note)
        .withEventTime(now)
        .withReportingController(Driver.NAME + "/kubelet-plugin")
        .withReportingInstance(nodeName)
        .withRegarding(
            new ObjectReferenceBuilder()
                .withApiVersion("resource.k8s.io/v1")
                .withKind("ResourceClaim")
                .withNamespace(claim.namespace())
                .withName(claim.name())
                .withUid(claim.uid())
                .build())
        .build();
  }

  private static String nameOf(ClaimRef claim, String reason, String note) {
    String identity = claim.uid() + "\n" + reason + "\n" + note;
    String digest = UUID.nameUUIDFromBytes(identity.getBytes(StandardCharsets.UTF_8)).toString().replace("-", "");
    String name = claim.name().length() <= NAME_MAX ? claim.name() : claim.name().substring(0, NAME_MAX);
    return name + "." + digest.substring(0, 16);
  }
}
