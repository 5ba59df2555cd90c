package dev.partita.controller.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.controller.Cluster;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.LateAnswer;
import dev.partita.controller.history.History;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How often a stream looks. */
class WebServerTest {
  /** The thread that decides answers when it has time for it: a view that waits for it takes no processor meanwhile. */
  @Test
  void whoHasWaitedForAnAnswerIsNotServedLessOftenForThat() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    try (Cluster cluster = Cluster.empty();
        ClusterView view = new ClusterView(cluster.client);
        HttpClient http = HttpClient.newHttpClient()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.pod("waiting");
      view.start();
      await().until(() -> view.pod(new ObjectKey("default", "waiting")) != null);
      try (WebServer server = WebServer.start(0, cluster.client, view, () -> true, _ -> asked.getAndIncrement() == 0
          ? new CompletableFuture<Answer>().completeOnTimeout(new Answer.Unknown(), 3, TimeUnit.SECONDS)
          : CompletableFuture.completedFuture(new Answer.Unknown()), new History(), InstantSource.system())) {
        HttpRequest request = HttpRequest
            .newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/api/stream/pod/default/waiting"))
            .header("Authorization", "Bearer admin").build();
        try (InputStream stream = http.send(request, HttpResponse.BodyHandlers.ofInputStream()).body()) {
          assertThat(stream.read()).isEqualTo('e');
          await().atMost(Duration.ofSeconds(15)).until(() -> asked.get() > 1); // not ten times what was waited for
        }
      }
      cluster.awaitQuiet();
    }
  }

  /** A decision about a large gang takes longer than a viewer waits. */
  @Test
  void whoWaitsInVainForAnExplanationIsToldThatTheControllerIsBusy() throws Exception {
    try (Cluster cluster = Cluster.empty();
        ClusterView view = new ClusterView(cluster.client);
        HttpClient http = HttpClient.newHttpClient()) {
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
      cluster.pod("waiting");
      view.start();
      await().until(() -> view.pod(new ObjectKey("default", "waiting")) != null);
      LateAnswer late = new LateAnswer();
      try (WebServer server = WebServer.start(0, cluster.client, view, () -> true, _ -> late, new History(),
          InstantSource.system())) {
        HttpRequest request =
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/api/pod/default/waiting"))
                .header("Authorization", "Bearer admin").build();
        assertThat(http.send(request, HttpResponse.BodyHandlers.ofString()).body())
            .contains("no explanation came within 20 s", "decides about other pods").doesNotContain("null\"");
        assertThat(late.isCancelled()).as("nobody waits for it").isTrue();
      }
      cluster.awaitQuiet();
    }
  }
}
