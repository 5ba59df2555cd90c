package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;

/** How the chart has metrics scraped. */
class MetricsChartTest {
  @Test
  void onlyWhoMayGetThePathReadsByDefault() {
    assertThat(Chart.environment(Chart.plugin(Map.of()))).containsEntry("PARTITA_METRICS_ACCESS", "token");
    assertThat(role("partita-metrics-reader").getRules())
        .singleElement().satisfies(rule -> {
          assertThat(rule.getNonResourceURLs()).containsExactly("/metrics");
          assertThat(rule.getVerbs()).containsExactly("get");
        });
  }

  @Test
  void tokensAreAskedAboutOnlyWhereTokensAreAskedFor() {
    assertThat(reviews(Map.of())).as("two rights of both programs").isEqualTo(4);
    assertThat(reviews(Map.of("metrics.access", "everybody", "web.enabled", false))).isZero();
    assertThat(reviews(Map.of("metrics.enabled", false, "web.enabled", false))).isZero();
    assertThat(reviews(Map.of("metrics.enabled", false))).as("of the controller, for its web page").isEqualTo(2);
  }

  @Test
  void kubeletsWordOnContainersIsReadFromAFolderThatCannotBeWritten() {
    for (boolean metrics : List.of(true, false)) { // what other device plugins serve is asked for, too
      var plugin = Chart.plugin(Map.of("metrics.enabled", metrics));
      assertThat(plugin.getContainers().getFirst().getVolumeMounts())
          .filteredOn(mount -> mount.getName().equals("pod-resources")).singleElement()
          .satisfies(mount -> assertThat(mount.getReadOnly()).isTrue());
      assertThat(Chart.environment(plugin)).containsEntry("PARTITA_POD_RESOURCES_SOCKET",
          "/var/lib/kubelet/pod-resources/kubelet.sock");
    }
  }

  @Test
  void withoutMetricsThereIsNothingOfThem() {
    var plugin = Chart.plugin(Map.of("metrics.enabled", false));
    assertThat(plugin.getContainers().getFirst().getPorts()).extracting(ContainerPort::getName)
        .containsExactly("health");
    assertThat(Chart.environment(plugin).keySet()).noneMatch(name -> name.contains("METRICS"));
    assertThat(Chart.text(Map.of("metrics.enabled", false))).doesNotContain("partita-metrics-reader");
  }

  @Test
  void whatReadsMetricsIsRefusedWhereThereAreNone() {
    for (String reader : List.of("podMonitor", "serviceMonitor", "prometheusRule", "dashboards")) {
      assertThatThrownBy(
          () -> Chart.rendered(Map.of("metrics.enabled", false, "metrics." + reader + ".enabled", true)))
          .hasMessageContaining("metrics." + reader + ".enabled: true needs metrics.enabled: true");
    }
  }

  @Test
  void thePrometheusOperatorGetsAMonitorWithATokenWhereThatIsAskedFor() {
    assertThat(Chart.text(Map.of())).doesNotContain("PodMonitor");
    assertThat(Chart.text(Map.of("metrics.podMonitor.enabled", true, "metrics.podMonitor.labels.release", "prom")))
        .contains("kind: PodMonitor", "release: prom", "scheme: https", "service-account-token");
    assertThat(Chart.text(Map.of("metrics.podMonitor.enabled", true, "metrics.access", "everybody")))
        .contains("kind: PodMonitor").doesNotContain("scheme: https", "service-account-token");
  }

  @Test
  void aServiceMonitorComesWithItsServiceAndReadsAsAPodMonitorDoes() {
    assertThat(Chart.text(Map.of())).doesNotContain("ServiceMonitor", "partita-metrics\n");
    String text = Chart.text(Map.of("metrics.serviceMonitor.enabled", true, "metrics.serviceMonitor.interval", "30s"));
    assertThat(text).contains("kind: ServiceMonitor", "interval: 30s", "scheme: https", "service-account-token",
        "clusterIP: None").doesNotContain("kind: PodMonitor");
    String both = Chart.text(Map.of("metrics.podMonitor.enabled", true, "metrics.serviceMonitor.enabled", true));
    assertThat(both.split("type: kubernetes.io/service-account-token", -1)).as("one account for both").hasSize(2);
  }

  @Test
  void alertsAndDashboardsComeWhereTheyAreAskedFor() {
    assertThat(Chart.text(Map.of())).doesNotContain("PrometheusRule", "-dashboard");
    String text = Chart.text(Map.of("metrics.prometheusRule.enabled", true, "metrics.dashboards.enabled", true));
    assertThat(text).contains("kind: PrometheusRule", "alert: PartitaNobodyLeads", "{{ $labels.node }}",
        "name: partita-cluster-dashboard", "grafana_dashboard: \"1\"", "partita-claim.json: |");
  }

  @Test
  void theRunbookOfAnAlertIsReadWherePeopleCanReadTheProjectsFiles() {
    String page = "docs/operate/alerts.md#partitanobodyleads\n";
    assertThat(Chart.text(Map.of("metrics.prometheusRule.enabled", true))).contains("runbook_url: " + page);
    for (String files : List.of("https://git.example.org/partita", "https://git.example.org/partita/")) {
      assertThat(Chart.text(Map.of("metrics.prometheusRule.enabled", true, "metrics.prometheusRule.runbooks", files)))
          .contains("runbook_url: https://git.example.org/partita/" + page);
    }
  }

  /** A key twice is no YAML: some readers refuse it, others take one of the two. */
  @Test
  void aLabelThatIsSetIsThereOnceAlsoWhereTheChartHasItItself() {
    Map<String, Object> values = new HashMap<>();
    for (String object : List.of("podMonitor", "serviceMonitor", "prometheusRule", "dashboards")) {
      values.put("metrics." + object + ".enabled", true);
      values.put("metrics." + object + ".labels.app\\.kubernetes\\.io/part-of", "monitoring");
    }
    LoaderOptions strict = new LoaderOptions();
    strict.setAllowDuplicateKeys(false);
    List<Object> labelled = new ArrayList<>();
    for (Object document : new Yaml(strict).loadAll(Chart.text(values))) {
      if (document instanceof Map<?, ?> object
          && object.toString().contains("app.kubernetes.io/part-of=monitoring")) {
        labelled.add(object.get("kind"));
      }
    }
    assertThat(labelled).contains("PodMonitor", "ServiceMonitor", "PrometheusRule", "ConfigMap");
  }

  @Test
  void dashboardsMayHaveNoLabelsOfTheirOwn() {
    assertThat(Chart.rendered(
        Map.of("metrics.dashboards.enabled", true, "metrics.dashboards.labels.grafana_dashboard", "null"))
        .filter(object -> object.getMetadata().getName().endsWith("-dashboard"))).isNotEmpty().allSatisfy(
            dashboard -> assertThat(dashboard.getMetadata().getLabels()).containsKey("app.kubernetes.io/part-of")
                .doesNotContainKey("grafana_dashboard"));
  }

  private static long reviews(Map<String, Object> values) {
    return Chart.rendered(values).filter(ClusterRole.class::isInstance).map(ClusterRole.class::cast)
        .filter(role -> !role.getMetadata().getName().equals("partita-metrics-reader"))
        .flatMap(role -> role.getRules().stream()).map(PolicyRule::getResources)
        .filter(resources -> resources.contains("tokenreviews") || resources.contains("subjectaccessreviews"))
        .count();
  }

  private static ClusterRole role(String name) {
    return Chart.roles().filter(role -> role.getMetadata().getName().equals(name)).findFirst().orElseThrow();
  }
}
