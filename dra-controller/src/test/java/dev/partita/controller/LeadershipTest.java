package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.ControllerSettings.Election;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class LeadershipTest {
  private static final Election QUICK =
      new Election("default", "lease", Duration.ofSeconds(3), Duration.ofSeconds(2), Duration.ofMillis(200));

  @Test
  void oneOfTwoLeadsAndTheOtherTakesOverWhenItStops() throws IOException {
    try (Cluster cluster = Cluster.empty()) {
      DraController second;
      try (DraController first = start(cluster, "first")) {
        eventually().until(first::leads);
        second = start(cluster, "second");
        cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", GpuNodes.GIB));
        eventually().until(() -> cluster.slices().size() == 1);
        assertThat(second.leads()).isFalse();
      }
      try (second) {
        eventually().until(second::leads);
        cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", GpuNodes.GIB));
        eventually().until(() -> cluster.slices().size() == 2);
      }
    }
  }

  /** Its write is under way as it is stopped, and fails once; before it is tried again somebody else has the lease. */
  @Test
  void nothingIsWrittenWithoutTheLeaseWhileAnInstanceStops() throws Exception {
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch lost = new CountDownLatch(1);
    AtomicInteger tries = new AtomicInteger();
    AtomicInteger looks = new AtomicInteger();
    Interceptor holds = new Interceptor() {
      @Override
      public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
        String path = request.uri().getPath();
        if (path.contains("/leases/") && request.method().equals("GET")) {
          looks.incrementAndGet();
        }
        if (path.endsWith("/resourceclaims/c/status") && tries.getAndIncrement() == 0) {
          writing.countDown();
          Awaitility.await().until(() -> lost.await(10, TimeUnit.SECONDS));
          throw new KubernetesClientException("busy", 503, null);
        }
      }
    };
    try (Cluster cluster = Cluster.empty();
        KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(cluster.controllersClient().getConfiguration())
            .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("test", holds)).build()) {
      DraController first = start(client, "first");
      eventually().until(first::leads);
      cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", GpuNodes.GIB));
      cluster.claim("c", "gpu.partita.dev", Map.of("memory", "500Mi"));
      cluster.pod("p", "c");
      assertThat(writing.await(30, TimeUnit.SECONDS)).isTrue();
      Thread stopping = Thread.ofPlatform().start(first::close);
      eventually().until(() -> !first.leads());
      cluster.client.leases().inNamespace("default").withName("lease").edit(lease -> new LeaseBuilder(lease).editSpec()
          .withHolderIdentity("other").withRenewTime(ZonedDateTime.now(ZoneOffset.UTC)).endSpec().build());
      int before = looks.get();
      eventually().until(() -> looks.get() >= before + 3); // it has seen that at the second one at the latest
      lost.countDown();
      stopping.join();
      assertThat(cluster.isAllocated("c")).isFalse();
      assertThat(tries).hasValue(1);
    }
  }

  @Test
  void aStandbyIsHealthyAndReady() throws IOException {
    try (Cluster cluster = Cluster.empty();
        DraController first = start(cluster, "first")) {
      eventually().until(first::leads);
      ControllerSettings settings = new ControllerSettings("second", Optional.of(QUICK), Optional.of(0),
          Optional.empty(), Optional.empty(), ControllerSettings.DEFAULT_TEMPLATE_GRACE, Optional.empty(),
          Optional.empty(), false, 0);
      try (DraController second = DraController.start(settings, cluster.controllersClient())) {
        int port = second.healthPort().orElseThrow();
        assertThat(status(port, "/healthz")).isEqualTo(200);
        eventually().until(() -> status(port, "/readyz") == 200);
      }
    }
  }

  private static DraController start(Cluster cluster, String identity) throws IOException {
    return start(cluster.controllersClient(), identity);
  }

  private static DraController start(KubernetesClient client, String identity) throws IOException {
    return DraController.start(
        new ControllerSettings(identity, Optional.of(QUICK), Optional.empty(), Optional.empty(), Optional.empty(),
            ControllerSettings.DEFAULT_TEMPLATE_GRACE, Optional.empty(), Optional.empty(), false, 0),
        client);
  }

  private static int status(int port, String path) throws IOException {
    HttpURLConnection connection =
        (HttpURLConnection) URI.create("http://127.0.0.1:" + port + path).toURL().openConnection();
    try {
      return connection.getResponseCode();
    } finally {
      connection.disconnect();
    }
  }
}
