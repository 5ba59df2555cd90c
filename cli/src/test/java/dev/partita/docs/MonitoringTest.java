package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.controller.metrics.ClusterMetrics;
import dev.partita.plugin.metrics.NodeMetrics;
import dev.partita.serving.metrics.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** Dashboards and alerts against the metrics that there are. Their queries run in MetricsIT, on a real Prometheus. */
class MonitoringTest {
  private static final Path CHART = Document.ROOT.resolve("deploy/helm/partita");
  private static final Pattern NAME = Pattern.compile("partita_\\w+");
  private static final Pattern OF_HISTOGRAMS =
      Pattern.compile("partita_(decision|admission|prepare|unprepare)_seconds(_bucket|_count|_sum)");

  @Test
  void everyNameInDashboardsAndAlertsIsThatOfAMetric() throws IOException {
    Set<String> there = Stream.concat(ClusterMetrics.families().stream(),
        NodeMetrics.families().values().stream().flatMap(List::stream)).map(Family::name).collect(Collectors.toSet());
    List<String> expressions = new ArrayList<>();
    for (Path file : dashboards()) {
      new ObjectMapper().readTree(file.toFile()).findValuesAsText("expr").forEach(expressions::add);
    }
    rules().findValuesAsText("expr").forEach(expressions::add);
    assertThat(expressions).hasSizeGreaterThan(30);
    assertThat(expressions.stream().flatMap(expression -> NAME.matcher(expression).results().map(MatchResult::group))
        .filter(name -> !OF_HISTOGRAMS.matcher(name).matches())).isNotEmpty().isSubsetOf(there);
  }

  /** The names that the panels of HAMi's and dcgm-exporter's own dashboards ask for, as monitor.md lists the panels. */
  @Test
  void whatPanelsOfOthersDashboardsAskForIsServed() {
    Set<String> served = NodeMetrics.families().values().stream().flatMap(List::stream).map(Family::name)
        .collect(Collectors.toSet());
    assertThat(served).contains("hami_gpu_memory_limit_bytes", "hami_gpu_memory_allocated_bytes",
        "hami_gpu_shared_count", "hami_host_gpu_memory_used_bytes", "hami_host_gpu_utilization_ratio",
        "hami_node_gpu_memory_allocated_ratio", "hami_gpu_core_allocated_ratio", "hami_vgpu_memory_used_bytes",
        "hami_vgpu_memory_limit_bytes", "hami_container_device_utilization_ratio", "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED");
  }

  @Test
  void everyAlertHasASectionThatSaysWhatToDo() throws IOException {
    String page = Files.readString(Document.ROOT.resolve("docs/operate/alerts.md"));
    List<String> alerts = rules().findValuesAsText("alert");
    assertThat(alerts).isNotEmpty().doesNotHaveDuplicates()
        .allSatisfy(alert -> assertThat(page).contains("\n## " + alert + "\n"));
    assertThat(page.lines().filter(line -> line.startsWith("## ")).map(line -> line.substring(3)))
        .containsExactlyElementsOf(alerts);
  }

  @Test
  void theRunbookOfEveryAlertIsItsSection() throws IOException {
    Document page = Document.of("docs/operate/alerts.md");
    for (JsonNode rule : rules().at("/groups/0/rules")) {
      String section = rule.path("alert").asText().toLowerCase(Locale.ROOT);
      assertThat(rule.at("/annotations/runbook_url").asText()).isEqualTo(page.path() + "#" + section);
      assertThat(page.anchors()).contains(section);
    }
  }

  @Test
  void panelsOfADashboardHaveNamesAndLieBesideEachOther() throws IOException {
    for (Path file : dashboards()) {
      JsonNode dashboard = new ObjectMapper().readTree(file.toFile());
      assertThat(file).hasFileName(dashboard.path("uid").asText() + ".json");
      List<String> places = new ArrayList<>();
      for (JsonNode panel : dashboard.path("panels")) {
        assertThat(panel.path("title").asText()).isNotEmpty();
        assertThat(panel.at("/gridPos/x").asInt() + panel.at("/gridPos/w").asInt()).isLessThanOrEqualTo(24);
        places.add(panel.at("/gridPos/x").asInt() + "," + panel.at("/gridPos/y").asInt());
      }
      assertThat(places).isNotEmpty().doesNotHaveDuplicates();
    }
  }

  private static List<Path> dashboards() throws IOException {
    try (Stream<Path> files = Files.list(CHART.resolve("dashboards"))) {
      List<Path> found = files.sorted().toList();
      assertThat(found).hasSize(4);
      return found;
    }
  }

  private static JsonNode rules() throws IOException {
    return new ObjectMapper().valueToTree(new Yaml().<Object>load(Files.readString(CHART.resolve("alerts.yaml"))));
  }
}
