package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Scrape;
import dev.partita.e2e.cluster.Tenant;
import dev.partita.e2e.cluster.Workspace;
import java.util.Optional;
import org.junit.jupiter.api.Test;

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
