package dev.partita.controller;

import dev.partita.controller.ControllerSettings.Webhook;
import dev.partita.controller.certificate.CertificateKeeper;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.WriteOutcomes;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.Question;
import dev.partita.controller.headroom.Headroom;
import dev.partita.controller.history.HistoryKeeper;
import dev.partita.controller.history.HistoryStore;
import dev.partita.controller.metrics.LeaderMetrics;
import dev.partita.controller.metrics.TimedDecider;
import dev.partita.controller.publish.PublicationLoop;
import dev.partita.controller.loop.AllocationLoop;
import dev.partita.controller.templates.TemplateLoop;
import dev.partita.controller.unconverted.UnconvertedPods;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs all that writes during one term of leadership. What it remembers ends with the term; the next one reads the API
 * anew.
 */
final class Term implements LeaderMetrics.Leader, AutoCloseable {
  private final AtomicBoolean leads = new AtomicBoolean(true);
  private final PublicationLoop publication;
  private final AllocationLoop allocation;
  private final TemplateLoop templates;
  private final Optional<CertificateKeeper> certificate;
  private final Optional<UnconvertedPods> unconverted;
  private final Optional<HistoryKeeper> keeper;

  Term(
      KubernetesClient client,
      ClusterView view,
      Clock clock,
      ControllerSettings settings,
      WriteOutcomes outcomes,
      MeterRegistry meters,
      Optional<HistoryStore> store) {
    String identity = settings.identity();
    ApiEdge edge = new ApiEdge(leads::get, outcomes);
    this.publication = new PublicationLoop(client, edge.isolated("publication"), view, clock, settings.hostMemory());
    PodEvents podEvents = new PodEvents(client, edge.isolated("pod-events"), clock, identity);
    this.templates =
        new TemplateLoop(client, edge.isolated("templates"), view, podEvents, settings.templateGrace());
    this.allocation = new AllocationLoop(client, edge, view, clock, identity, settings.autoscaledNodes(),
        decider -> new TimedDecider(decider, meters));
    this.certificate = settings.webhook().filter(Webhook::keepsCertificate)
        .map(webhook -> new CertificateKeeper(client, edge.isolated("certificate"), webhook.names(), clock));
    PodEvents notes = new PodEvents(client, edge.background(), clock, identity);
    this.unconverted =
        settings.webhook().map(webhook -> new UnconvertedPods(client, view, notes, webhook.names().namespace()));
    this.keeper = store.map(kept -> new HistoryKeeper(edge.background(), kept));
    certificate.ifPresent(CertificateKeeper::start);
    templates.start();
    publication.start();
    allocation.start();
    unconverted.ifPresent(UnconvertedPods::start);
    keeper.ifPresent(HistoryKeeper::start);
  }

  /** What is wrong if the thread that decides about pods has been at one piece of work for longer than that. */
  Optional<String> stuck(Duration most) {
    return allocation.stuck(most);
  }

  /** How a pod stands, or the pods that use a claim. */
  CompletionStage<Answer> explain(Question question) {
    return allocation.explain(question);
  }

  @Override
  public CompletionStage<SortedMap<String, Headroom>> headroom() {
    return allocation.headroom();
  }

  @Override
  public Map<String, Integer> queueLengths() {
    return allocation.queueLengths();
  }

  /** Refuses every further write, at once; what is left is to {@link #close}. */
  void stopWriting() {
    leads.set(false);
  }

  @Override
  public void close() {
    certificate.ifPresent(CertificateKeeper::close);
    unconverted.ifPresent(UnconvertedPods::close);
    templates.close();
    allocation.close();
    publication.close();
    keeper.ifPresent(HistoryKeeper::close);
    stopWriting();
  }
}
