package dev.partita.controller;

import dev.partita.controller.claims.AllocationLoop;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.events.ClaimEvents;
import dev.partita.controller.slices.PublicationLoop;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.util.concurrent.atomic.AtomicBoolean;

/** One term of leadership: everything that writes. What it remembers ends with it; the next term reads the API anew. */
final class Term implements AutoCloseable {
  private final AtomicBoolean leads = new AtomicBoolean(true);
  private final ClaimEvents events;
  private final PublicationLoop publication;
  private final AllocationLoop allocation;

  Term(KubernetesClient client, ClusterView view, Clock clock, String identity) {
    ApiEdge edge = new ApiEdge(leads::get);
    this.events = new ClaimEvents(client, edge, clock, identity);
    this.publication = new PublicationLoop(client, edge, view, clock);
    this.allocation = new AllocationLoop(client, edge, view, events, clock);
    publication.start();
    allocation.start();
  }

  /** Refuses every further write, at once; what is left is to {@link #close}. */
  void stopWriting() {
    leads.set(false);
  }

  @Override
  public void close() {
    allocation.close();
    publication.close();
    events.close();
    stopWriting();
  }
}
