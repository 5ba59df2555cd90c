package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.commit.Evictor;
import dev.partita.controller.commit.WriteListener;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.Victim;
import dev.partita.serving.access.FaultyApiServer.Fault;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EvictionTest {
  private static final ApiEdge EDGE = new ApiEdge(() -> true);

  private final Cluster cluster = Cluster.empty();
  private final ConcurrentLinkedQueue<Object> refused = new ConcurrentLinkedQueue<>(); // UIDs
  private final WriteListener listener = (WriteListener) Proxy.newProxyInstance(getClass().getClassLoader(),
      new Class<?>[]{WriteListener.class}, (_, _, arguments) -> {
        refused.add(arguments[2]);
        return null;
      });

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aVictimIsToldOfItsEviction() {
    evict(cluster.pod("victim").getMetadata().getUid());
    assertThat(cluster.client.pods().inNamespace("default").withName("victim").get()).isNull();
    assertThat(refused).isEmpty();
    assertThat(notes()).singleElement().asString().startsWith("evicted to make room on node-0");
  }

  @Test
  void nobodyIsToldOfAnEvictionWhereAnotherPodHasTheVictimsName() {
    cluster.pod("victim");
    evict("uid-before");
    assertThat(cluster.client.pods().inNamespace("default").withName("victim").get()).isNotNull();
    assertThat(refused).as("the victim is gone").isEmpty();
    assertThat(notes()).isEmpty();
  }

  @Test
  void aVictimThatIsStillThereAfterAConflictWasNotEvicted() {
    Pod victim = cluster.pod("victim");
    cluster.rules.fail(request -> request.getPath().endsWith("/eviction") ? Fault.CONFLICT : Fault.NONE);
    evict(victim.getMetadata().getUid());
    assertThat(refused).containsExactly(victim.getMetadata().getUid());
    assertThat(notes()).isEmpty();
  }

  private void evict(String uid) {
    Pod preemptor = new PodBuilder().withNewMetadata().withName("p").withNamespace("default").withUid("uid-p")
        .endMetadata().build();
    Nomination nomination = new Nomination(new Nomination.Preemptor("uid-p", "default", 10),
        new Nomination.Place("node-0", List.of(), PodRequests.of(new PodBuilder().withNewSpec().endSpec().build())),
        List.of(new Victim(uid, "default", "victim", 1, "")), new Nomination.Grounds.Priority(),
        new Nomination.Awaited(Set.of(uid), Set.of(), Instant.MAX));
    try (Evictor evictor = new Evictor(cluster.controllersClient(), EDGE,
        new PodEvents(cluster.controllersClient(), EDGE, Clock.systemUTC(), "test"), listener)) {
      evictor.evict(Map.of(preemptor, nomination));
    }
  }

  private List<String> notes() {
    return cluster.client.resources(Event.class).inNamespace("default").list().getItems().stream()
        .filter(event -> "Preempted".equals(event.getReason())).map(Event::getNote).toList();
  }
}
