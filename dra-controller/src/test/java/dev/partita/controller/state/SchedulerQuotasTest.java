package dev.partita.controller.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.HeldClaim.Reason;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.controller.ClaimForm;
import dev.partita.controller.Cluster;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.HeldClock;
import dev.partita.controller.health.HealthServer;
import dev.partita.controller.watch.ClusterEvent;
import dev.partita.controller.watch.ClusterView;
import dev.partita.serving.http.HttpListener;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelector;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceSelectorBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SchedulerQuotasTest {
  private final Cluster cluster = Cluster.empty();
  private final ClusterView view = new ClusterView(cluster.client);
  private final HeldClock clock = new HeldClock(Instant.EPOCH);

  @BeforeEach
  void aQuotaOf40GibWhereKubeSchedulerAllocates() {
    cluster.client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName("default").addToLabels("team", "a").endMetadata().build())
        .create();
    cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.resource(
        new DeviceClassBuilder()
            .withNewMetadata()
            .withName("gpu.partita.dev")
            .endMetadata()
            .withNewSpec()
            .addNewSelector()
            .withNewCel("device.driver == 'gpu.partita.dev' && device.attributes['gpu.partita.dev'].mode == 'shared'")
            .endSelector()
            .endSpec()
            .build())
        .create();
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(
        new GpuQuotaSpec(
            new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
            List.of(new GpuQuotaSpec.Limit("", List.of(), null, new Amounts(new Quantity("40Gi"), null, null, null),
                Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
    view.start();
  }

  @AfterEach
  void close() {
    cluster.awaitQuiet();
    view.close();
    cluster.close();
  }

  @Test
  void aClaimWhoseSelectorsTakeLongHoldsUpNeitherInformersNorOtherClaims() throws Exception {
    CountDownLatch evaluating = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    try (SchedulerQuotas quotas =
        new SchedulerQuotas(
            view,
            (host, request, inTime) -> {
              if (request.claim().name().equals("slow")) {
                evaluating.countDown();
                await(go);
              }
              return true;
            },
            clock)) {
      CompletableFuture<Optional<String>> slow = review(() -> quotas.refusal("default", claim("slow", "8Gi")));
      assertThat(evaluating.await(60, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<ClusterEvent> told = new CompletableFuture<>(); // after the quotas, which listened first
      view.listen(
          event -> {
            if (event instanceof ClusterEvent.ClaimChanged) {
              told.complete(event);
            }
          });
      cluster.client.resource(claim("made-meanwhile", "36Gi")).create();
      assertThat(told).succeedsWithin(Duration.ofSeconds(60));
      CompletableFuture<Optional<String>> other = review(() -> quotas.refusal("default", claim("other", "8Gi")));
      assertThat(other).succeedsWithin(Duration.ofSeconds(60));
      assertThat(other.join()).as("what was made meanwhile counts").isPresent();
      assertThat(slow).isNotDone();
      go.countDown();
      assertThat(slow).succeedsWithin(Duration.ofSeconds(60));
    }
  }

  @Test
  void aClaimWhoseSelectorsTakeTooLongIsRefused() {
    try (SchedulerQuotas quotas =
        new SchedulerQuotas(
            view,
            (host, request, inTime) -> {
              clock.advance(SchedulerQuotas.PATIENCE.plusMillis(1));
              inTime.run();
              return true;
            },
            clock)) {
      assertThat(quotas.refusal("default", claim("slow", "8Gi")))
          .contains("its selectors take more than 3 s to evaluate, so that quotas cannot be checked");
    }
  }

  @Test
  void aClaimWhoseSelectorsTakeTooLongToCompileIsRefused() {
    Clock ticking = ((InstantSource) () -> {
      clock.advance(Duration.ofMillis(100));
      return clock.instant();
    }).withZone(ZoneOffset.UTC);
    try (SchedulerQuotas quotas = new SchedulerQuotas(view, (host, request, inTime) -> true, ticking)) {
      assertThat(quotas.refusal("default", withSelectors("slow", 32)))
          .contains("its selectors take more than 3 s to evaluate, so that quotas cannot be checked");
      assertThat(quotas.refusal("default", withSelectors("quick", 1))).isEmpty();
    }
  }

  @Test
  void claimsWhoseSelectorsTakeLongLeaveRoomForOthers() throws Exception {
    CountDownLatch slow = new CountDownLatch(2);
    CountDownLatch go = new CountDownLatch(1);
    SchedulerQuotas.Devices devices = (host, request, inTime) -> {
      if (request.claim().name().startsWith("slow")) {
        clock.advance(Duration.ofMillis(201));
        inTime.run();
        slow.countDown();
        await(go);
      }
      return true;
    };
    try (SchedulerQuotas quotas = new SchedulerQuotas(view, devices, clock)) {
      List<CompletableFuture<Optional<String>>> first = IntStream.range(0, 2)
          .mapToObj(i -> review(() -> quotas.refusal("default", claim("slow-" + i, "8Gi")))).toList();
      assertThat(slow.await(60, TimeUnit.SECONDS)).isTrue();
      CompletableFuture<Optional<String>> third = review(() -> quotas.refusal("default", claim("slow-too", "8Gi")));
      assertThat(third).succeedsWithin(Duration.ofSeconds(20));
      assertThat(third.join())
          .contains("its selectors take long to evaluate, and so do those of others now; try again in a moment");
      assertThat(quotas.refusal("default", claim("quick", "8Gi"))).isEmpty();
      go.countDown();
      first.forEach(review -> assertThat(review).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(Optional.empty()));
      assertThat(quotas.refusal("default", claim("slow-again", "8Gi"))).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {5, 8, 32})
  void noAmountIsSoLargeThatItPassesAQuota(long devices) {
    try (SchedulerQuotas quotas = new SchedulerQuotas(view, (host, request, inTime) -> true, clock)) {
      ResourceClaim several = new ResourceClaimBuilder(claim("several", "8Ei")).editSpec().editDevices()
          .editFirstRequest().editExactly().withCount(devices).endExactly().endRequest().endDevices().endSpec().build();
      assertThat(quotas.refusal("default", several))
          .hasValueSatisfying(
              words -> assertThat(words).startsWith("namespace quota team-a: 0 bytes of 40 GiB memory"));
    }
  }

  /** kube-scheduler allocates claims of two drivers, and the controller does not. */
  @Test
  void whatCannotBeCountedIsRefusedWhereThereIsAQuota() {
    ResourceClaim ofTwoDrivers = new ResourceClaimBuilder(claim("two", "80Gi")).editSpec().editDevices().addNewRequest()
        .withName("nic").withNewExactly().withDeviceClassName("nic.example").endExactly().endRequest().endDevices()
        .endSpec().build();
    try (SchedulerQuotas quotas = new SchedulerQuotas(view, (host, request, inTime) -> true, clock)) {
      assertThat(quotas.refusal("default", ofTwoDrivers)).hasValueSatisfying(
          words -> assertThat(words)
              .startsWith("what it asks for cannot be counted, and the namespace has a quota: spec.devices.requests[1]")
              .contains("devices of two drivers need two claims"));
      assertThat(quotas.refusal("elsewhere", ofTwoDrivers)).isEmpty();
    }
  }

  @Test
  void whatWaitsForAnotherModelDoesNotCountAgainstALimitOfThisOne() {
    aQuotaOf40GibOfEveryModel();
    cluster.client.resource(ofModel("waits", "h100", "36Gi")).create();
    try (SchedulerQuotas quotas = new SchedulerQuotas(view)) {
      awaitClaims(1);
      assertThat(quotas.refusal("default", ofModel("new", "h200", "8Gi"))).isEmpty();
      assertThat(quotas.refusal("default", ofModel("new", "h100", "8Gi"))).contains(
          "namespace quota team-a/h100: 36 GiB of 40 GiB memory, 8 GiB asked");
      assertThat(quotas.refusal("default", claim("new", "8Gi"))).as("it may go to an H200").isEmpty();
    }
  }

  @Test
  void whatWaitsForAnyModelCountsAgainstTheLimitOfEach() {
    aQuotaOf40GibOfEveryModel();
    cluster.client.resource(claim("waits", "36Gi")).create();
    try (SchedulerQuotas quotas = new SchedulerQuotas(view)) {
      awaitClaims(1);
      assertThat(quotas.refusal("default", ofModel("new", "h200", "8Gi"))).isPresent();
      assertThat(quotas.refusal("default", ofModel("new", "h100", "8Gi"))).isPresent();
    }
  }

  @Test
  void whatWaitsCountsEverywhereIfItsSelectorsTakeLong() {
    aQuotaOf40GibOfEveryModel();
    cluster.client.resource(ofModel("waits", "h100", "36Gi")).create();
    SchedulerQuotas.Devices devices = (host, request, inTime) -> {
      boolean waits = request.claim().name().equals("waits");
      clock.advance(waits ? Duration.ofMillis(201) : Duration.ZERO);
      inTime.run();
      return host.name().equals(waits ? "node-1" : "node-0");
    };
    try (SchedulerQuotas quotas = new SchedulerQuotas(view, devices, clock)) {
      awaitClaims(1);
      assertThat(quotas.refusal("default", ofModel("new", "h200", "8Gi"))).contains(
          "namespace quota team-a/h200: 36 GiB of 40 GiB memory, 8 GiB asked");
    }
  }

  @Test
  void whatANodeHoldsForAClaimOnACardThatTheClaimDoesNotHaveCountsBesideTheClaim() {
    ResourceClaim made = cluster.client.resource(claim("had", "4Gi")).create();
    cluster.client.resource(new ResourceClaimBuilder(made).withNewStatus().withNewAllocation().withNewDevices()
        .addNewResult().withRequest("gpu").withDriver(Driver.NAME).withPool(Driver.poolOf("node-0"))
        .withDevice("gpu-0-shared").withShareID("share-had")
        .withConsumedCapacity(Map.of("memory", new Quantity("4Gi"))).endResult()
        .endDevices().endAllocation().endStatus().build()).updateStatus();
    GpuNode other = GpuNodes.leftToScheduler("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB);
    cluster.add(GpuNodes.holding(other, new HeldClaim(made.getMetadata().getUid(), "default", "had", Reason.ClaimGone,
        List.of(HeldDevice.share("GPU-node-1-0", 30 * GpuNodes.GIB, 0)), "2026-01-02T03:04:05Z")));
    try (SchedulerQuotas quotas = new SchedulerQuotas(view, (host, request, inTime) -> true, clock)) {
      Cluster.eventually().untilAsserted(() -> assertThat(quotas.refusal("default", claim("new", "8Gi"))).contains(
          "namespace quota team-a: 34 GiB of 40 GiB memory, 8 GiB asked"));
    }
  }

  /** On node-0 with an H200, and on node-1 with an H100. */
  private void aQuotaOf40GibOfEveryModel() {
    cluster.add(GpuNodes.leftToScheduler("node-1", 1, "NVIDIA H100", 80 * GpuNodes.GIB));
    GpuQuota quota = cluster.client.resources(GpuQuota.class).withName("team-a").get();
    quota.setSpec(new GpuQuotaSpec(quota.getSpec().namespaceSelector(),
        Stream.of("h200", "h100")
            .map(model -> new GpuQuotaSpec.Limit(model, List.of(model), null,
                new Amounts(new Quantity("40Gi"), null, null, null), Amounts.UNLIMITED))
            .toList()));
    cluster.client.resource(quota).update();
    Cluster.eventually().until(() -> view.gpuNodes().size() == 2
        && view.quotas().stream().allMatch(each -> each.getSpec().limits().size() == 2));
  }

  private void awaitClaims(int count) {
    Cluster.eventually().until(() -> view.claims().size() == count);
  }

  private static ResourceClaim ofModel(String name, String model, String memory) {
    return new ResourceClaimBuilder(claim(name, memory)).editSpec().editDevices().editFirstRequest().editExactly()
        .addNewSelector().withNewCel("device.attributes['gpu.partita.dev'].model == '" + model + "'").endSelector()
        .endExactly().endRequest().endDevices().endSpec().build();
  }

  @Test
  void whoHoldsTheBooksForTooLongIsSeenByTheLivenessProbeUntilHeLetsGo() throws Exception {
    Duration most = Duration.ofMinutes(1);
    try (SchedulerQuotas quotas = new SchedulerQuotas(view, (host, request, inTime) -> true, clock);
        HttpListener health = HealthServer.start(0, () -> quotas.stuck(most), Optional::empty)) {
      quotas.books().lock();
      clock.advance(most);
      assertThat(health(health.port())).isEqualTo("200 ok");
      clock.advance(Duration.ofSeconds(1));
      assertThat(health(health.port())).isEqualTo("503 the lock of the quotas' books has been held for 61 s");
      quotas.books().unlock();
      assertThat(health(health.port())).isEqualTo("200 ok");
      assertThat(quotas.refusal("default", claim("fits", "8Gi"))).isEmpty();
      clock.advance(most.plusSeconds(1));
      assertThat(health(health.port())).isEqualTo("200 ok");
    }
  }

  private static String health(int port) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      URI healthz = URI.create("http://localhost:" + port + "/healthz");
      HttpResponse<String> answer = http.send(HttpRequest.newBuilder(healthz).build(), BodyHandlers.ofString());
      return answer.statusCode() + " " + answer.body().strip();
    }
  }

  /**
   * On a thread of its own, as a webhook's: on two processors the common pool has one thread, and the API's client
   * needs it.
   */
  private static <T> CompletableFuture<T> review(Supplier<T> asked) {
    return CompletableFuture.supplyAsync(asked, task -> Thread.ofPlatform().daemon().start(task));
  }

  private static ResourceClaim claim(String name, String memory) {
    return new ClaimForm(name, "gpu.partita.dev").capacity(Map.of("memory", memory)).claim();
  }

  private static ResourceClaim withSelectors(String name, int count) {
    List<DeviceSelector> selectors = IntStream.range(0, count)
        .mapToObj(i -> new DeviceSelectorBuilder().withNewCel("device.driver != '" + i + "'").build()).toList();
    return new ResourceClaimBuilder(claim(name, "8Gi")).editSpec().editDevices().editFirstRequest().editExactly()
        .withSelectors(selectors).endExactly().endRequest().endDevices().endSpec().build();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
