package dev.partita.controller.events;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.event.EventObject;
import dev.partita.controller.Cluster;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.request.ClaimRef;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ClaimEventsTest {
  private static final ClaimEvent ALLOCATED =
      new ClaimEvent(new ClaimRef("default", "c", "uid"), ClaimEvent.Reason.Allocated, "gpu-0-shared on node-0");
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void whatWaitsToBeSaidWhenTheInstanceStopsIsStillSaid() {
    assertThat(said()).isEmpty(); // there is little time for the first connection in the end
    try (ClaimEvents events = new ClaimEvents(cluster.client, new ApiEdge(() -> true), Clock.systemUTC(), "test")) {
      events.tell(ALLOCATED);
    }
    assertThat(said()).singleElement()
        .satisfies(event -> assertThat(event.getNote()).isEqualTo("gpu-0-shared on node-0"));
  }

  @Test
  void whatWaitsToBeSaidIsNoLongerThanWhatIsSaid() {
    ClaimEvent event = new ClaimEvent(ALLOCATED.claim(), ClaimEvent.Reason.Unallocatable, "n".repeat(60_000));
    assertThat(event.note()).hasSizeLessThanOrEqualTo(EventObject.NOTE_MAX);
  }

  @Test
  void anAllocationEndsComplaintsButNotWhatWasDoneForIt() {
    ClaimRef first = new ClaimRef("default", "first", "first");
    ClaimRef other = new ClaimRef("default", "other", "other");
    CompletableFuture<Boolean> allTold = new CompletableFuture<>();
    try (ClaimEvents events =
        new ClaimEvents(cluster.client, new ApiEdge(allTold::join), Clock.systemUTC(), "test")) {
      events.tell(new ClaimEvent(first, ClaimEvent.Reason.Allocated, "gpu-1 on node-0")); // the rest waits behind it
      events.tell(new ClaimEvent(ALLOCATED.claim(), ClaimEvent.Reason.Unallocatable, "no card is free"));
      events.tell(ALLOCATED);
      events.tell(new ClaimEvent(other, ClaimEvent.Reason.Unallocatable, "preempts default/cheap on node-0", true));
      events.tell(new ClaimEvent(other, ClaimEvent.Reason.Allocated, "gpu-0 on node-0"));
      allTold.complete(true);
      eventually().until(() -> said().size() >= 4);
    }
    assertThat(said()).extracting(Event::getNote).containsExactlyInAnyOrder("gpu-1 on node-0", "gpu-0-shared on node-0",
        "preempts default/cheap on node-0", "gpu-0 on node-0");
  }

  @Test
  void whoNoLongerLeadsSaysNothingAndStopsAtOnce() {
    long begin = System.nanoTime();
    try (ClaimEvents events = new ClaimEvents(cluster.client, new ApiEdge(() -> false), Clock.systemUTC(), "test")) {
      events.tell(ALLOCATED);
    }
    assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(2));
    assertThat(said()).isEmpty();
  }

  private List<Event> said() {
    return cluster.client.resources(Event.class).inNamespace("default").list().getItems();
  }
}
