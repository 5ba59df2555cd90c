package dev.partita.controller.events;

import dev.partita.api.Driver;
import dev.partita.controller.allocate.ClaimRef;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.watch.EventLoop;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes events on claims, on its own thread. There is one event a claim and reason: the same note again is counted in its
 * series; another note replaces it, for the API lets nobody change an event's note. Losing an event is no failure.
 */
public final class ClaimEvents implements AutoCloseable {
  /** Longest note that events.k8s.io takes, in bytes. */
  public static final int MAX_NOTE = 1024;

  private static final Logger LOG = LoggerFactory.getLogger(ClaimEvents.class);

  /** The same note again within this time is not written again. */
  private static final Duration QUIET = Duration.ofMinutes(2);

  /** How long notes are gathered: of several of one claim and reason only the last is said, and an allocation ends complaints. */
  private static final Duration GATHER = Duration.ofMillis(300);

  private static final int REMEMBERED = 10_000;
  private static final DateTimeFormatter MICROS = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  private record Key(String uid, ClaimEvent.Reason reason) {}

  private record Said(String note, Instant when) {}

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final Clock clock;
  private final String instance;
  private final EventLoop<ClaimEvent> loop;
  private final Map<Key, Said> said =
      new LinkedHashMap<>(64, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Said> eldest) {
          return size() > REMEMBERED;
        }
      };

  /**
   * @param instance which instance speaks, such as its pod's name
   */
  public ClaimEvents(KubernetesClient client, ApiEdge edge, Clock clock, String instance) {
    this.client = client;
    this.edge = edge;
    this.clock = clock;
    this.instance = instance.isEmpty() ? "unknown" : instance;
    this.loop = new EventLoop<>("claim-events", GATHER, this::write);
    loop.start();
  }

  /** Says it, soon. */
  public void tell(ClaimEvent event) {
    loop.post(event);
  }

  @Override
  public void close() {
    loop.close();
  }

  private void write(Set<ClaimEvent> batch) {
    Map<Key, ClaimEvent> latest = new LinkedHashMap<>();
    for (ClaimEvent event : batch) {
      if (event.reason() == ClaimEvent.Reason.Allocated) {
        latest.remove(new Key(event.claim().uid(), ClaimEvent.Reason.Unallocatable));
      }
      latest.put(new Key(event.claim().uid(), event.reason()), event);
    }
    latest.forEach(
        (key, event) -> {
          String note = cut(event.note());
          @Nullable Said before = said.get(key);
          Instant now = clock.instant();
          if (before != null && before.note().equals(note) && before.when().plus(QUIET).isAfter(now)) {
            return;
          }
          said.put(key, new Said(note, now));
          LOG.info("claim {}: {}: {}", event.claim(), event.reason(), note);
          try {
            write(event, note, now);
          } catch (RuntimeException e) {
            LOG.warn("claim {}: event {} not written: {}", event.claim(), event.reason(), e.getMessage());
          }
        });
  }

  private void write(ClaimEvent event, String note, Instant now) {
    String name = name(event);
    var events = client.resources(Event.class).inNamespace(event.claim().namespace());
    @Nullable Event existing = events.withName(name).get();
    if (existing != null && note.equals(existing.getNote())) {
      int count = existing.getSeries() == null ? 1 : existing.getSeries().getCount();
      Event again =
          new EventBuilder(existing).withNewSeries().withCount(count + 1).withLastObservedTime(micros(now)).endSeries().build();
      edge.call(() -> client.resource(again).update());
      return;
    }
    if (existing != null) {
      edge.call(() -> client.resource(existing).delete());
    }
    Event fresh = event(event, name, note, now);
    edge.call(() -> client.resource(fresh).create());
  }

  private Event event(ClaimEvent event, String name, String note, Instant now) {
    ClaimRef claim = event.claim();
    return new EventBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(claim.namespace())
        .endMetadata()
        .withEventTime(micros(now))
        .withType(event.reason().type())
        .withReason(event.reason().name())
        .withAction("Allocate")
        .withNote(note)
        .withReportingController(Driver.NAME + "/dra-controller")
        .withReportingInstance(instance.length() > 128 ? instance.substring(0, 128) : instance)
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

  /** The same for the same claim and reason, so that a later instance of this program finds it. */
  private static String name(ClaimEvent event) {
    String claim = event.claim().name();
    String part = claim.length() > 200 ? claim.substring(0, 200).replaceAll("[.-]+$", "") : claim;
    String uid = event.claim().uid();
    String suffix = uid.length() > 8 ? uid.substring(0, 8) : uid;
    return part + "." + suffix + "." + event.reason().name().toLowerCase(java.util.Locale.ROOT);
  }

  private static MicroTime micros(Instant time) {
    return new MicroTime(MICROS.format(time));
  }

  private static String cut(String note) {
    byte[] bytes = note.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= MAX_NOTE) {
      return note;
    }
    int end = MAX_NOTE - 3;
    while (end > 0 && (bytes[end] & 0xC0) == 0x80) {
      end--;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8) + "…";
  }
}
