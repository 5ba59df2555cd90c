package dev.partita.controller.events;

import dev.partita.api.event.EventObject;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.lru.LruMap;
import dev.partita.controller.watch.EventLoop;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes events on claims, on a thread of its own. There is one event for each claim and reason. The same note again is
 * counted in the event's series; another note replaces the event, for the API lets nobody change a note. An event may
 * be lost.
 */
public final class ClaimEvents implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimEvents.class);

  /** The same note again within this time is not written again. */
  private static final Duration QUIET = Duration.ofMinutes(2);

  /**
   * How long notes are gathered: of several notes of one claim and reason only the last is written, and an allocation
   * ends complaints.
   */
  private static final Duration GATHER = Duration.ofMillis(300);

  /** What waits when an instance stops would be said by nobody. The next one leads as much later. */
  private static final Duration FAREWELL = Duration.ofSeconds(2);

  private static final int REMEMBERED = 10_000;

  /** About 1 KiB each. */
  private static final int MOST_WAITING = 10_000;

  private record Key(String uid, ClaimEvent.Reason reason) {}

  private record Said(String note, Instant when) {}

  private final KubernetesClient client;
  private final ApiEdge edge;
  private final Clock clock;
  private final String instance;
  private final EventLoop<Key> loop;

  /** The last event of each claim and reason that is still to be said. All access holds it. */
  private final LinkedHashMap<Key, ClaimEvent> waiting = new LinkedHashMap<>();

  private long dropped;
  private final Map<Key, Said> said = new LruMap<>(REMEMBERED);

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

  /**
   * Says it, soon. Of what waits for its turn, behind an API server that is slow, the last of each claim and reason is
   * said, and no more than {@link #MOST_WAITING} wait: then what has waited longest is not said, and how much that was
   * is logged.
   */
  public void tell(ClaimEvent event) {
    Key key = new Key(event.claim().uid(), event.reason());
    synchronized (waiting) {
      if (event.reason() == ClaimEvent.Reason.Allocated) {
        waiting.computeIfPresent(new Key(event.claim().uid(), ClaimEvent.Reason.Unallocatable),
            (_, complaint) -> complaint.lasting() ? complaint : null);
      }
      waiting.putLast(key, event);
      if (waiting.size() > MOST_WAITING) {
        waiting.pollFirstEntry();
        dropped++;
      }
    }
    loop.post(key);
  }

  /** Says what there is still to say, as far as that takes no longer than {@link #FAREWELL}. */
  @Override
  public void close() {
    loop.finish(FAREWELL);
  }

  private void write(Set<Key> batch) {
    for (Key key : batch) {
      @Nullable ClaimEvent event;
      long lost;
      synchronized (waiting) {
        event = waiting.remove(key);
        lost = dropped;
        dropped = 0;
      }
      if (lost > 0) {
        LOG.warn("dropped {} events on claims: more than {} were waiting", lost, MOST_WAITING);
      }
      if (event != null) {
        write(key, event);
      }
    }
  }

  private void write(Key key, ClaimEvent event) {
    EventObject object = object(event);
    @Nullable Said before = said.get(key);
    Instant now = clock.instant();
    if (before != null && before.note().equals(object.note()) && before.when().plus(QUIET).isAfter(now)) {
      return;
    }
    said.put(key, new Said(object.note(), now));
    LOG.info("claim {}: {}: {}", event.claim(), event.reason(), object.note());
    try {
      write(object, now, before == null);
    } catch (ApiEdge.NotLeadingException e) {
      LOG.debug("claim {}: cannot write event {}: {}", event.claim(), event.reason(), e.getMessage());
    } catch (RuntimeException e) {
      said.remove(key); // if it is decided once more, it is news
      if (ApiEdge.isNamespaceEnding(e)) {
        LOG.debug("claim {}: event {} not written, its namespace is being deleted", event.claim(), event.reason());
      } else {
        LOG.warn("claim {}: cannot write event {}: {}", event.claim(), event.reason(), e.getMessage());
      }
    }
  }

  /**
   * @param first nothing of that reason was said of the claim yet, as far as this instance knows: then there is nothing
   *        to read
   */
  private void write(EventObject said, Instant now, boolean first) {
    String name = said.nameByReason();
    Event fresh = said.first(name, "dra-controller", instance, now);
    if (first) {
      try {
        edge.in(said.namespace()).write(WriteKind.EVENT, () -> client.resource(fresh).create());
        return;
      } catch (KubernetesClientException e) {
        if (!ApiEdge.isConflict(e)) {
          throw e;
        }
      }
    }
    var events = client.resources(Event.class).inNamespace(said.namespace());
    @Nullable Event existing = events.withName(name).get();
    if (existing != null && said.note().equals(existing.getNote())) {
      Event again = EventObject.again(existing, now);
      edge.in(said.namespace()).write(WriteKind.EVENT, () -> client.resource(again).update());
      return;
    }
    if (existing != null) {
      edge.in(said.namespace()).write(WriteKind.EVENT, () -> client.resource(existing).delete());
    }
    edge.in(said.namespace()).write(WriteKind.EVENT, () -> client.resource(fresh).create());
  }

  private static EventObject object(ClaimEvent event) {
    return new EventObject(
        EventObject.About.CLAIM,
        event.claim().namespace(),
        event.claim().name(),
        event.claim().uid(),
        event.reason().isWarning(),
        event.reason().name(),
        "Allocate",
        event.note());
  }
}
