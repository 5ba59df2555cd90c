package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.plugin.metrics.NodeMetrics;
import dev.partita.serving.access.MockApiServer;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.TlsScrape;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import k8s.io.kubelet.pkg.apis.podresources.v1.CDIDevice;
import k8s.io.kubelet.pkg.apis.podresources.v1.ClaimResource;
import k8s.io.kubelet.pkg.apis.podresources.v1.ContainerResources;
import k8s.io.kubelet.pkg.apis.podresources.v1.DynamicResource;
import k8s.io.kubelet.pkg.apis.podresources.v1.ListPodResourcesResponse;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResources;
import org.junit.jupiter.api.Test;

/** What Prometheus gets of a whole plugin: in our names, HAMi's and dcgm-exporter's. */
@MockApiServer(crud = true)
class MetricsTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final double MIB = 1 << 20;

  @SuppressWarnings("NullAway.Init") // both are set by the extension
  KubernetesClient client;
  @SuppressWarnings("NullAway.Init") KubernetesMockServer server;

  @Test
  void aSharesUseStandsUnderItsPodInAllNames() throws Exception {
    try (TestNode node = TestNode.withCards("node-m", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      Path socket = node.root.resolve("pod-resources.sock");
      int port = TestNode.freePort();
      try (PodResourcesOfTest kubelet = new PodResourcesOfTest(socket);
          KubeletPlugin _ = TestNode.start(
              settings(node, port, socket, "--metrics-names=hami,dcgm,vgpu-manager"), client)) {
        ResourceClaim claim = client.resource(claim("half", share("node-m", "gpu", 0, "8Gi", "25"))).create();
        TestContainer container = TestContainer.of(node, claim);
        kubelet.answer(used("trainer", "main", claim, cdiId(node, claim)));
        try (TestContainer.Running holder = container.hold("4Gi")) {
          assertThat(holder.firstLine()).isEqualTo("holding 4294967296");
          String share = "claim=\"half\"";
          await().atMost(SOON).until(() -> value(port, "partita_share_memory_used_bytes{", share),
              bytes -> bytes == (4096 + 300) * MIB);
          String text = scrape(port);
          assertThat(value(text, "partita_share_memory_ledger_bytes{", share)).isEqualTo(4096 * MIB);
          assertThat(value(text, "partita_share_memory_overhead_bytes{", share)).isEqualTo(300 * MIB);
          assertThat(value(text, "partita_share_memory_peak_bytes{", share)).isEqualTo((4096 + 300) * MIB);
          assertThat(value(text, "partita_device_memory_limit_bytes{", share)).isEqualTo(8192 * MIB);
          assertThat(value(text, "partita_share_core_limit_ratio{", share)).isEqualTo(0.25);
          assertThat(value(text, "partita_share_processes{", share)).isEqualTo(1);
          assertThat(value(text, "partita_card_memory_allocated_bytes{", "gpu=\"0\"")).isEqualTo(8192 * MIB);
          assertThat(line(text, "partita_share_memory_used_bytes{", share))
              .contains("node=\"node-m\"", "model=\"h200\"", "pod=\"trainer\"", "container=\"main\"");
          String pod = "pod=\"trainer\"";
          assertThat(value(text, "hami_vgpu_memory_used_bytes{", pod)).isEqualTo((4096 + 300) * MIB);
          assertThat(value(text, "hami_vgpu_memory_limit_bytes{", pod)).isEqualTo(8192 * MIB);
          assertThat(value(text, "hami_gpu_core_allocated_ratio{", "device_index=\"0\"")).isEqualTo(25);
          assertThat(value(text, "DCGM_FI_DEV_FB_USED{", pod)).isEqualTo(4096 + 300);
          assertThat(value(text, "DCGM_FI_DEV_FB_FREE{", pod)).isEqualTo(8192 - 4096 - 300);
          String podName = "pod_name=\"trainer\"";
          assertThat(value(text, "container_vgpu_device_memory_usage_in_bytes{", podName))
              .isEqualTo((4096 + 300) * MIB);
          assertThat(value(text, "container_vgpu_device_memory_utilization_percent{", podName)).isEqualTo(53);
          assertThat(value(text, "container_vgpu_device_physical_memory_limit_in_bytes{", podName))
              .isEqualTo(8192 * MIB);
          assertThat(value(text, "vgpu_device_assigned_cores_number{", "device_idx=\"0\"")).isEqualTo(25);
          assertThat(value(text, "physical_gpu_device_health_status{", "device_idx=\"0\"")).isEqualTo(1);
          assertThat(text.lines().filter(line -> line.contains(podName)).count()).isEqualTo(6);
          assertThat(text.lines().filter(line -> line.contains("device_idx=\"0\"")).count()).isEqualTo(12 + 6);
          assertThat(text.lines().filter(line -> line.contains(share) || line.contains(pod)).count())
              .as("series of a share that launches nothing").isEqualTo(25);
        }
      }
    }
  }

  @Test
  void whatNobodyCanTellOfContainersThatShareAClaimStandsUnderNoneOfThemAndOnce() throws Exception {
    try (TestNode node = TestNode.withCards("node-b", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      Path socket = node.root.resolve("pod-resources.sock");
      int port = TestNode.freePort();
      try (PodResourcesOfTest kubelet = new PodResourcesOfTest(socket);
          KubeletPlugin _ = TestNode.start(
              settings(node, port, socket, "--metrics-names=hami,dcgm,vgpu-manager"), client)) {
        ResourceClaim claim = client.resource(claim("ours", share("node-b", "gpu", 0, "8Gi", "25"))).create();
        TestContainer container = TestContainer.of(node, claim);
        String id = cdiId(node, claim);
        kubelet.answer(used("trainer", "main", claim, id).toBuilder()
            .mergeFrom(used("loader", "main", claim, id)).build());
        try (TestContainer.Running holder = container.hold("4Gi")) {
          assertThat(holder.firstLine()).isEqualTo("holding 4294967296");
          await().atMost(SOON).until(
              () -> value(port, "partita_share_memory_used_bytes{", "container=\"\",device=\"gpu-0-shared\""),
              bytes -> bytes == (4096 + 300) * MIB);
          String text = scrape(port);
          for (String pod : List.of("pod=\"trainer\"", "pod=\"loader\"")) {
            assertThat(value(text, "partita_share_memory_used_bytes{", pod)).isZero();
            assertThat(value(text, "hami_vgpu_memory_used_bytes{", pod)).isZero();
            assertThat(value(text, "hami_vgpu_memory_limit_bytes{", pod)).isEqualTo(8192 * MIB);
            assertThat(value(text, "DCGM_FI_DEV_FB_USED{", pod)).isZero();
          }
          assertThat(text.lines()
              .filter(line -> line.startsWith("DCGM_FI_DEV_FB_USED{") && line.contains("dra_claim_name=\"ours\""))
              .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1))).sum())
              .as("all that the claim uses").isEqualTo(4096 + 300);
          assertThat(text.lines().filter(line -> line.startsWith("partita_device_memory_limit_bytes{")).count())
              .isEqualTo(1);
        }
      }
    }
  }

  @Test
  void whoComputesIsSeen() throws Exception {
    try (TestNode node = TestNode.withCards("node-n", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      int port = TestNode.freePort();
      try (KubeletPlugin _ = TestNode.start(settings(node, port, node.root.resolve("none")), client)) {
        ResourceClaim claim = client.resource(claim("busy", share("node-n", "gpu", 0, "8Gi", ""))).create();
        TestContainer container = TestContainer.of(node, claim);
        await().atMost(SOON).until(() -> value(port, "partita_share_core_use_ratio{", "claim=\"busy\""),
            ratio -> ratio == 0);
        try (TestContainer.Running _ = container.spin()) {
          await().atMost(SOON).until(() -> value(port, "partita_share_core_use_ratio{", "claim=\"busy\""),
              ratio -> ratio > 0.5);
          await().atMost(SOON).until(() -> value(port, "partita_card_utilization_ratio{", "gpu=\"0\""),
              ratio -> ratio > 0.5);
          await().atMost(SOON).until(() -> value(port, "partita_card_engine_active_ratio{", "gpu=\"0\""),
              ratio -> ratio > 0.5);
          assertThat(value(port, "partita_card_tensor_active_ratio{", "gpu=\"0\""))
              .as("simulated kernels compute nothing").isZero();
        }
      }
    }
  }

  @Test
  void whatLaunchesWaitForACoreLimitIsSeen() throws Exception {
    try (TestNode node = TestNode.withCards("node-w", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      int port = TestNode.freePort();
      try (KubeletPlugin _ = TestNode.start(settings(node, port, node.root.resolve("none")), client)) {
        ResourceClaim claim = client.resource(claim("slow", share("node-w", "gpu", 0, "8Gi", "25"))).create();
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running _ = container.spin()) {
          await().atMost(SOON).until(
              () -> value(port, "partita_share_throttled_seconds_total{", "claim=\"slow\""), seconds -> seconds > 1);
        }
        double waited = value(port, "partita_share_throttled_seconds_total{", "claim=\"slow\"");
        await().atMost(SOON).until(() -> value(port, "partita_share_processes{", "claim=\"slow\""),
            processes -> processes == 0);
        assertThat(value(port, "partita_share_throttled_seconds_total{", "claim=\"slow\""))
            .as("the ledger of an idle card is not read").isGreaterThanOrEqualTo(waited);
      }
    }
  }

  @Test
  void everyCardTellsOfItselfAndEveryFamilyIsInTheListOfFamilies() throws Exception {
    try (TestNode node = TestNode.withCards("node-o", "h200x1,a100x1")) {
      int port = TestNode.freePort();
      try (KubeletPlugin _ = TestNode.start(settings(node, port, node.root.resolve("none")), client)) {
        ResourceClaim claim = client.resource(claim("mine", whole("node-o", "gpu", 0))).create();
        assertThat(node.prepare(claim).getError()).isEmpty();
        await().atMost(SOON).until(() -> value(port, "partita_plugin_prepared_claims{node=\"node-o\"} ", ""),
            claims -> claims == 1);
        assertThat(value(port, "partita_plugin_checkpoint_bytes{node=\"node-o\"} ", "")).isPositive();
        String text = scrape(port);
        assertThat(value(text, "partita_card_healthy{", "gpu=\"1\"")).isEqualTo(1);
        assertThat(value(text, "partita_card_power_watts{", "gpu=\"1\"")).isPositive();
        assertThat(value(text, "partita_card_temperature_celsius{", "gpu=\"1\"")).isPositive();
        assertThat(value(text, "partita_card_sm_clock_hertz{", "gpu=\"0\"")).isGreaterThan(1e8);
        Files.writeString(node.driverRoot().resolve("etc/partita-simulator/node.conf"),
            "  nvlink-replay 7\n  ecc-sram 2\n",
            StandardOpenOption.APPEND); // of the card that comes last
        await().atMost(SOON).until(
            () -> value(port, "partita_card_nvlink_errors_total{error=\"replay\"", "gpu=\"1\""),
            errors -> errors == 7);
        assertThat(value(port, "partita_card_ecc_errors_total{error=\"uncorrected\"", "gpu=\"1\",memory=\"sram\""))
            .isEqualTo(2);
        assertThat(value(text, "partita_card_energy_joules_total{", "gpu=\"1\"")).isPositive();
        assertThat(value(text, "partita_card_memory_temperature_celsius{", "gpu=\"1\"")).isPositive();
        assertThat(value(text, "partita_card_remapped_rows_total{error=\"corrected\"", "gpu=\"1\"")).isZero();
        assertThat(value(text, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{", "gpu=\"1\""))
            .isGreaterThan(value(text, "partita_card_energy_joules_total{", "gpu=\"1\""));
        assertThat(value(text, "DCGM_FI_DEV_XID_ERRORS{", "gpu=\"1\"")).isZero();
        for (int times = 0; times < 2; times++) {
          node.simulator("xid", "--root", node.driverRoot().toString(), "--gpu", "1", "--xid", "31");
        }
        await().atMost(SOON).until(() -> value(port, "partita_card_xid_errors_total{", "xid=\"31\""),
            errors -> errors == 2);
        assertThat(value(port, "DCGM_FI_DEV_XID_ERRORS{", "gpu=\"1\"")).isEqualTo(31);
        assertThat(value(text, "partita_card_nvlink_errors_total{error=\"crc_flit\"", "gpu=\"1\"")).isZero();
        assertThat(value(text, "partita_card_cores_allocated_ratio{", "gpu=\"0\"")).isEqualTo(1);
        assertThat(line(text, "partita_device_memory_limit_bytes{", "claim=\"mine\""))
            .contains("strategy=\"WholeCard\"");
        assertThat(value(text, "partita_prepare_seconds_count{", "outcome=\"ok\"")).isEqualTo(1);
        assertThat(value(text, "DCGM_FI_DEV_POWER_USAGE{", "dra_claim_name=\"mine\"")).isPositive();
        assertThat(
            text.lines().filter(line -> line.contains("gpu=\"1\"") || line.contains("device_index=\"1\"")).count())
            .as("series of a card").isEqualTo(56);
        Set<String> listed =
            NodeMetrics.families().values().stream().flatMap(List::stream).map(Family::name)
                .collect(Collectors.toSet());
        assertThat(text.lines().filter(line -> line.startsWith("# TYPE "))
            .map(line -> line.substring("# TYPE ".length(), line.lastIndexOf(' ')))
            .filter(name -> !name.startsWith("jvm_") && !name.startsWith("process_") && !name.startsWith("system_"))
            .filter(name -> !name.endsWith("prepare_seconds") && !name.endsWith("prepare_seconds_max")))
            .isNotEmpty().isSubsetOf(listed);
      }
    }
  }

  @Test
  void othersNamesAreLeftOutWhereTheyAreNotWanted() throws Exception {
    try (TestNode node = TestNode.withCards("node-p", "h200x1")) {
      int port = TestNode.freePort();
      try (KubeletPlugin _ = TestNode.start(
          settings(node, port, node.root.resolve("none"), "--metrics-names=none"), client)) {
        await().atMost(SOON).until(() -> scrape(port), text -> text.contains("partita_card_details{"));
        assertThat(scrape(port)).doesNotContain("hami_", "DCGM_");
      }
    }
  }

  @Test
  void whoMayGetThePathReadsWithItsTokenAndNobodyElse() throws Exception {
    server.expect().post().withPath("/apis/authentication.k8s.io/v1/tokenreviews").andReply(200, request -> {
      TokenReview asked = Serialization.unmarshal(request.getBody().readUtf8(), TokenReview.class);
      return new TokenReviewBuilder(asked).withNewStatus().withAuthenticated(true).withNewUser()
          .withUsername(asked.getSpec().getToken()).endUser().endStatus().build();
    }).always();
    server.expect().post().withPath("/apis/authorization.k8s.io/v1/subjectaccessreviews").andReply(200, request -> {
      SubjectAccessReview asked =
          Serialization.unmarshal(request.getBody().readUtf8(), SubjectAccessReview.class);
      return new SubjectAccessReviewBuilder(asked).withNewStatus()
          .withAllowed(asked.getSpec().getUser().equals("prometheus")).endStatus().build();
    }).always();
    try (TestNode node = TestNode.withCards("node-q", "h200x1")) {
      int port = TestNode.freePort();
      try (KubeletPlugin _ = TestNode.start(node.settings("--metrics-port=" + port), client)) {
        TlsScrape scrape = TlsScrape.of(port, "Bearer prometheus");
        assertThat(scrape.status()).isEqualTo(200);
        assertThat(scrape.text()).contains("partita_plugin_prepared_claims");
        assertThat(TlsScrape.of(port, "Bearer eve").status()).isEqualTo(403);
        assertThat(TlsScrape.of(port, "").status()).isEqualTo(401);
      }
    }
  }

  private static PluginSettings settings(TestNode node, int port, Path podResources, String... more)
      throws IOException {
    return TestContainer.settings(node,
        Stream.concat(Stream.of("--usage-period=0.2", "--metrics-port=" + port, "--metrics-access=everybody",
            "--pod-resources-socket=" + podResources), Stream.of(more)).toArray(String[]::new));
  }

  private static String cdiId(TestNode node, ResourceClaim claim) throws IOException {
    assertThat(Files.readString(node.cdiFile(claim))).contains("gpu.partita.dev/claim");
    return node.prepare(claim).getDevices(0).getCdiDeviceIds(0);
  }

  private static ListPodResourcesResponse used(String pod, String container, ResourceClaim claim, String cdiId) {
    return ListPodResourcesResponse.newBuilder()
        .addPodResources(PodResources.newBuilder().setName(pod).setNamespace("default")
            .addContainers(ContainerResources.newBuilder().setName(container)
                .addDynamicResources(DynamicResource.newBuilder().setClaimName(claim.getMetadata().getName())
                    .setClaimNamespace("default").addClaimResources(ClaimResource.newBuilder()
                        .setDriverName("gpu.partita.dev").addCdiDevices(CDIDevice.newBuilder().setName(cdiId))))))
        .build();
  }

  static double value(int port, String start, String part) throws IOException, InterruptedException {
    return value(scrape(port), start, part);
  }

  private static double value(String text, String start, String part) {
    String line = line(text, start, part);
    return line.isEmpty() ? Double.NaN : Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
  }

  private static String line(String text, String start, String part) {
    return text.lines().filter(line -> line.startsWith(start) && line.contains(part)).findFirst().orElse("");
  }

  private static String scrape(int port) throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/metrics")).build(),
          HttpResponse.BodyHandlers.ofString()).body();
    }
  }
}
