package dev.partita.controller.unconverted;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.partita.controller.Cluster;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An API server that answers the controller's own requests late or not, while the watches go on. */
class BusyServerTest {
  private static final int BUSY = 503;

  private final Cluster cluster = Cluster.empty();
  private final ClusterView view = new ClusterView(cluster.client);
  private final AtomicInteger busyReads = new AtomicInteger();
  private final List<Long> reads = new CopyOnWriteArrayList<>(); // when
  private final AtomicInteger busyWrites = new AtomicInteger();
  private final AtomicInteger events = new AtomicInteger();
  private final HttpServer server;
  private final KubernetesClient client;
  private final Pod pod;

  BusyServerTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    client = new KubernetesClientBuilder().withConfig(new ConfigBuilder().withAutoConfigure(false)
        .withMasterUrl("http://127.0.0.1:" + server.getAddress().getPort()).withRequestRetryBackoffLimit(0).build())
        .build();
    Pod waits = UnschedulablePods.pod("default", "waits", Map.of(), Map.of("nvidia.com/gpu", new Quantity("1")));
    pod = cluster.client.resource(waits).create();
  }

  @BeforeEach
  void serve() {
    String body = client.getKubernetesSerialization().asJson(new PodBuilder(pod).build());
    server.createContext("/api/v1/namespaces/default/pods/waits",
        exchange -> {
          reads.add(System.nanoTime());
          answer(exchange, busyReads, 200, body);
        });
    server.createContext("/apis/events.k8s.io/", exchange -> {
      String event = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      if (answer(exchange, busyWrites, 201, event)) {
        events.incrementAndGet();
      }
    });
    server.start();
    view.start();
  }

  @AfterEach
  void close() {
    client.close();
    server.stop(0);
    view.close();
    cluster.close();
  }

  /** @return whether it was answered well: not so often as it is to be busy */
  private static boolean answer(HttpExchange exchange, AtomicInteger busy, int status, String body)
      throws IOException {
    boolean isWell = busy.getAndUpdate(left -> Math.max(0, left - 1)) == 0;
    byte[] bytes = (isWell ? body : "").getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(isWell ? status : BUSY, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
    return isWell;
  }

  private void assertToldOnce() {
    PodEvents notes = new PodEvents(client, new ApiEdge(() -> true), Clock.systemUTC(), "test");
    try (UnconvertedPods pods =
        new UnconvertedPods(client, view, notes, "partita-system", Duration.ofMillis(10))) {
      pods.start();
      Cluster.eventually().until(() -> events.get() > 0);
    }
    assertThat(events).hasValue(1);
  }

  @Test
  void aPodThatCannotBeReadIsToldLater() {
    busyReads.set(3);
    assertToldOnce();
  }

  /** Each change of the pod would begin another chain of tries. */
  @Test
  void aPodThatChangesMeanwhileIsTriedNoMoreOften() {
    busyReads.set(Integer.MAX_VALUE);
    PodEvents notes = new PodEvents(client, new ApiEdge(() -> true), Clock.systemUTC(), "test");
    try (UnconvertedPods pods =
        new UnconvertedPods(client, view, notes, "partita-system", Duration.ofHours(1))) {
      pods.start();
      Cluster.eventually().until(() -> busyReads.get() < Integer.MAX_VALUE);
      int after = busyReads.get();
      for (int i = 0; i < 5; i++) {
        String value = "v" + i;
        cluster.client.pods().inNamespace("default").withName("waits").patch(PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\": {\"annotations\": {\"gpu.partita.dev/gang\": \"" + value + "\"}}}");
        Cluster.eventually()
            .until(() -> value.equals(Objects.requireNonNull(view.pod(ObjectKey.of(pod))).getMetadata().getAnnotations()
                .get("gpu.partita.dev/gang")));
      }
      Cluster.eventually().during(Duration.ofMillis(500)).until(() -> busyReads.get() == after);
    }
  }

  /** Else one that may never be read would be asked for every ten seconds as long as it lives. */
  @Test
  void aPodThatCannotBeReadAgainAndAgainIsAskedForLessAndLessOften() {
    busyReads.set(Integer.MAX_VALUE);
    PodEvents notes = new PodEvents(client, new ApiEdge(() -> true), Clock.systemUTC(), "test");
    try (UnconvertedPods pods =
        new UnconvertedPods(client, view, notes, "partita-system", Duration.ofMillis(200))) {
      pods.start();
      Cluster.eventually().until(() -> reads.size() >= 4);
    }
    assertThat(Duration.ofNanos(reads.get(2) - reads.get(1))).isGreaterThanOrEqualTo(Duration.ofMillis(400));
    assertThat(Duration.ofNanos(reads.get(3) - reads.get(2))).isGreaterThanOrEqualTo(Duration.ofMillis(800));
  }

  @Test
  void anEventThatCannotBeWrittenIsWrittenLater() {
    busyWrites.set(5); // more than are tried at once
    assertToldOnce();
  }
}
