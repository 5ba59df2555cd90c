package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.controller.metrics.ClusterMetrics;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.TlsScrape;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What Prometheus gets of a whole controller. */
class MetricsTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void whoWaitsWhatQuotasHaveAndHowDecisionsWentIsTold() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.labelNamespace("team", "a");
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
        List.of(new GpuQuotaSpec.Limit("all", List.of(), null, new Amounts(new Quantity("48Gi"), 250L, null, null),
            Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
    cluster.startMeasured();
    cluster.claim("fits", "gpu.partita.dev", Map.of("memory", "40Gi"));
    cluster.pod("fits", "fits");
    cluster.result("fits");
    cluster.claim("more", "gpu.partita.dev", Map.of("memory", "40Gi"));
    cluster.pod("more", "more");
    String text = eventually().until(this::scrape,
        now -> now.contains("partita_pods_waiting{namespace=\"default\",reason=\"Unallocatable\"} 1.0")
            && now.contains(
                "partita_quota_used{limit=\"all\",quota=\"team-a\",resource=\"memory_bytes\"} 4.294967296E10"));
    assertThat(text).contains("partita_controller_leads 1.0", "partita_cards{health=\"healthy\",model=\"h200\"} 2.0",
        "partita_gpunodes{ready=\"true\",reason=\"Ready\"} 1.0",
        "partita_controller_watched_objects{kind=\"ResourceClaim\"} 2.0",
        "partita_quota_guaranteed{limit=\"all\",quota=\"team-a\",resource=\"cores\"} 2.5",
        "partita_decision_seconds_count{outcome=\"allocated\"} 1",
        "partita_largest_share_bytes{model=\"h200\"} 1.5032385536E11",
        "partita_whole_cards_free{model=\"h200\"} 1.0",
        "partita_free_bytes{model=\"h200\"} 2.5769803776E11",
        "partita_controller_queue_length{queue=\"pods\"} 0.0",
        "partita_writes_total{outcome=\"done\",write=\"allocation\"} 1.0",
        "partita_writes_total{outcome=\"conflict\",write=\"allocation\"} 0.0");
    assertThat(text.lines().filter(line -> line.startsWith("partita_fragmentation_ratio{model=\"h200\"}"))
        .map(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))).singleElement()
        .satisfies(ratio -> assertThat(ratio).isEqualTo(100.0 / 240, within(1e-9)));
    assertThat(text.lines().filter(line -> line.startsWith("partita_controller_watched_bytes{kind=\"Pod\"}"))
        .map(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))).singleElement()
        .satisfies(bytes -> assertThat(bytes).isPositive());
    Set<String> listed = ClusterMetrics.families().stream().map(Family::name).collect(Collectors.toSet());
    assertThat(text.lines().filter(line -> line.startsWith("# TYPE partita_"))
        .map(line -> line.substring("# TYPE ".length(), line.lastIndexOf(' ')))
        .filter(name -> !name.startsWith("partita_decision_seconds"))).isNotEmpty().isSubsetOf(listed);
  }

  @Test
  void onlyWhoMayGetThePathReads() throws Exception {
    cluster.startMeasured();
    assertThat(TlsScrape.of(cluster.metricsPort(), "Bearer eve").status()).isEqualTo(403);
    assertThat(TlsScrape.of(cluster.metricsPort(), "").status()).isEqualTo(401);
  }

  private String scrape() throws Exception {
    return TlsScrape.of(cluster.metricsPort(), "Bearer prometheus").text();
  }
}
