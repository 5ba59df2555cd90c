package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.Dashboard;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PrometheusServer;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Scrape;
import dev.partita.e2e.cluster.Tenant;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a plugin on a real node tells Prometheus, and whom it tells. */
@OnRealCluster
class MetricsIT {
  private static final double MIB = 1 << 20;

  @Test
  void aSharesUseStandsUnderTheNamesOfItsPodAndContainerAsKubeletTellsThem(
      RealCluster cluster,
      Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    workspace.pod("measured", node, Ask.share("8Gi"), "exec partita-probe hold 3Gi").awaitLine("holding");
    String token = workspace.metricsReader();
    String pod = "namespace=\"" + workspace.namespace() + "\",node=\"" + node + "\",pod=\"measured\"";
    Scrape scrape = await().atMost(Workspace.PATIENCE).until(() -> Scrape.ofPlugin(cluster.client(), node, token),
        s -> s.value("partita_share_memory_used_bytes", pod).equals(Optional.of((3072 + 300) * MIB)));
    assertThat(scrape.value("partita_device_memory_limit_bytes", pod)).contains(8192 * MIB);
    assertThat(scrape.value("DCGM_FI_DEV_FB_USED", "pod=\"measured\"")).contains(3072.0 + 300);
    assertThat(scrape.value("hami_vgpu_memory_limit_bytes", "pod=\"measured\"")).contains(8192 * MIB);
    assertThat(scrape.text()).contains("container=\"main\"");
  }

  @Test
  void containersThatShareAClaimAreToldApart(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    ClaimUnderTest claim = workspace.claim("ours", Ask.share("8Gi"));
    workspace.create(
        """
            apiVersion: v1
            kind: Pod
            metadata: {name: pair}
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 0
              nodeSelector: {kubernetes.io/hostname: %1$s}
              resourceClaims: [{name: gpu, resourceClaimName: ours}]
              containers:
              - {name: trainer, image: %2$s, command: [partita-probe, hold, 3Gi], resources: {claims: [{name: gpu}]}}
              - {name: loader, image: %2$s, command: [partita-probe, hold, 1Gi], resources: {claims: [{name: gpu}]}}
            """
            .formatted(node, RealCluster.PROBE_IMAGE));
    workspace.podOf(claim, "other", node, "exec partita-probe hold 2Gi").awaitLine("holding");
    String token = workspace.metricsReader();
    await().atMost(Workspace.PATIENCE).untilAsserted(() -> {
      Scrape scrape = Scrape.ofPlugin(cluster.client(), node, token);
      for (String name : List.of("partita_share_memory_used_bytes", "hami_vgpu_memory_used_bytes")) {
        assertThat(used(scrape, name, workspace, "pod=\"pair\"", "container=\"trainer\"")).isEqualTo(3072 + 300);
        assertThat(used(scrape, name, workspace, "pod=\"pair\"", "container=\"loader\"")).isEqualTo(1024 + 300);
        assertThat(used(scrape, name, workspace, "pod=\"other\"", "container=\"main\"")).isEqualTo(2048 + 300);
        assertThat(used(scrape, name, workspace)).as("all together").isEqualTo(6 * 1024 + 3 * 300);
      }
    });
  }

  /** MiB of all samples of that name in the workspace that have these labels. */
  private static double used(Scrape scrape, String name, Workspace workspace, String... labels) {
    return scrape.text().lines()
        .filter(line -> line.startsWith(name + "{") && line.contains("namespace=\"" + workspace.namespace() + "\""))
        .filter(line -> List.of(labels).stream().allMatch(line::contains))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1))).sum() / MIB;
  }

  /** Debian's package prometheus has the program; CI installs it. */
  @Test
  @NeedsSteadyController
  void everyPanelOfTheDashboardsHasDataAndEveryAlertIsLoadedOnARealPrometheus(
      RealCluster cluster,
      Workspace workspace,
      @TempDir Path folder) throws Exception {
    Optional<Path> program = PrometheusServer.program();
    assumeTrue(program.isPresent() || "1".equals(System.getenv("PARTITA_REQUIRE_OUTSIDE")), "there is no prometheus");
    String node = cluster.quietNodes().getLast();
    workspace.createInCluster(
        """
            apiVersion: gpu.partita.dev/v1alpha1
            kind: GpuQuota
            metadata: {name: %s}
            spec:
              namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}
              limits: [{name: all, guaranteed: {memory: 64Gi}}]
            """
            .formatted(workspace.namespace(), workspace.namespace()));
    workspace.pod("waits", node, Ask.share("32Gi").cores(50), "exec partita-probe spin 600s").awaitRunning();
    workspace.pod("too-large", node, Ask.share("900Gi"), "exec sleep 600");
    Path chart = cluster.home().toRealPath().resolve("deploy/helm/partita");
    try (LocalPortForward plugin = Scrape.portOfPlugin(cluster.client(), node);
        LocalPortForward controller = Scrape.portOfController(cluster.client());
        PrometheusServer prometheus = PrometheusServer.start(program.orElseThrow(), folder,
            List.of(plugin.getLocalPort(), controller.getLocalPort()), workspace.metricsReader(),
            chart.resolve("alerts.yaml"))) {
      assertThat(prometheus.alertRules()).contains("PartitaNobodyLeads", "PartitaMemoryLimitExceeded");
      List<Dashboard.Panel> panels = Dashboard.panelsIn(chart.resolve("dashboards"));
      assertThat(panels).isNotEmpty();
      panels.addAll(otherDashboards());
      for (Dashboard.Panel panel : panels) {
        await(panel.toString()).atMost(Workspace.PATIENCE).until(() -> !prometheus.query(panel.query()).isEmpty());
      }
      for (String name : List.of("hami_vgpu_memory_used_bytes", "hami_gpu_core_allocated_ratio",
          "hami_host_gpu_utilization_ratio", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED",
          "DCGM_FI_DEV_POWER_USAGE")) {
        assertThat(prometheus.query(name)).as(name).isNotEmpty();
      }
    }
  }

  /**
   * Panels of the dashboards in the folder {@code partita.dashboards}, such as those that other systems publish, but
   * those with the titles {@code partita.dashboards.without}, which lack their metrics here.
   */
  private static List<Dashboard.Panel> otherDashboards() throws IOException {
    @Nullable String folder = System.getProperty("partita.dashboards");
    List<String> without = List.of(System.getProperty("partita.dashboards.without", "").split(",", -1));
    return folder == null
        ? List.of()
        : Dashboard.panelsIn(Path.of(folder)).stream().filter(panel -> !without.contains(panel.title())).toList();
  }

  @Test
  void onlyWhoMayGetThePathReads(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getLast();
    try (Tenant tenant = Tenant.in(workspace)) {
      Scrape refused =
          Scrape.ofPlugin(cluster.client(), node, tenant.client().getConfiguration().getOauthToken());
      assertThat(refused.status()).isEqualTo(403);
      assertThat(refused.text()).contains("may not get /metrics").doesNotContain("partita_card");
    }
    assertThat(Scrape.ofPlugin(cluster.client(), node, "made-up").status()).isEqualTo(401);
    assertThat(Scrape.ofPlugin(cluster.client(), node, "").status()).isEqualTo(401);
  }

  @Test
  @NeedsSteadyController
  void theControllerTellsWhoWaitsAndHowDecisionsWent(RealCluster cluster, Workspace workspace) {
    workspace.pod("waiting", cluster.quietNodes().getLast(), Ask.share("900Gi"), "exec sleep 600");
    String token = workspace.metricsReader();
    String waiting = "namespace=\"" + workspace.namespace() + "\",reason=\"Unallocatable\"";
    Scrape scrape = await().atMost(Workspace.PATIENCE).until(() -> Scrape.ofController(cluster.client(), token),
        s -> s.value("partita_pods_waiting", waiting).equals(Optional.of(1.0)));
    assertThat(scrape.value("partita_cards", "model=\"h200\"")).hasValueSatisfying(
        cards -> assertThat(cards).isGreaterThanOrEqualTo(RealCluster.CARDS));
    assertThat(scrape.text()).contains("partita_controller_leads 1.0");
    assertThat(scrape.value("partita_decision_seconds_count", "outcome=\"waits\"")).hasValueSatisfying(
        decisions -> assertThat(decisions).isPositive());
  }
}
