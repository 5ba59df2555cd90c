package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.controller.metrics.ClusterMetrics;
import dev.partita.plugin.grant.AdminAccess;
import dev.partita.plugin.metrics.NodeMetrics;
import dev.partita.serving.metrics.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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

  private static final Pattern THRESHOLD = Pattern.compile("(?:>|<|==) [0-9.]+");

  /** Of any of them: by what they are told, and Prometheus' own for buckets. */
  private static final List<String> OF_EACH_HISTOGRAM = List.of("outcome", "review", "le");

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
  void theTableOfAlertsHasSeverityThresholdAndTimeOfEachRule() throws IOException {
    List<String> rows = Document.of("docs/operate/alerts.md").prose().values().stream()
        .filter(line -> line.startsWith("| [")).toList();
    List<String> expected = new ArrayList<>();
    for (JsonNode rule : rules().at("/groups/0/rules")) {
      String alert = rule.path("alert").asText();
      String thresholds = THRESHOLD.matcher(rule.path("expr").asText()).results()
          .map(threshold -> "`" + threshold.group() + "`").collect(Collectors.joining(" or "));
      expected.add("[%s](#%s) | %s | %s | %s".formatted(alert, alert.toLowerCase(Locale.ROOT),
          rule.at("/labels/severity").asText(), thresholds, rule.path("for").asText("-")));
    }
    assertThat(rows).map(row -> row.substring(2).split(" \\| ", -1)).allSatisfy(cells -> assertThat(cells).hasSize(6))
        .map(cells -> String.join(" | ", cells[0], cells[1], cells[3], cells[4])).isEqualTo(expected);
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

  @Test
  void everyLabelInDashboardsAndAlertsIsOneThatTheMetricsHave() throws IOException {
    Map<String, List<String>> labels = Stream.concat(ClusterMetrics.families().stream(),
        NodeMetrics.families().values().stream().flatMap(List::stream))
        .collect(Collectors.toMap(Family::name, Family::labels, (a, b) -> a));
    List<Question> questions = questions();
    rules().at("/groups/0/rules").forEach(rule -> questions.add(
        new Question(rule.path("alert").asText(), "", rule.path("expr").asText(),
            rule.path("annotations").toString())));
    for (Question question : questions) {
      Set<String> known = NAME.matcher(question.query()).results().map(MatchResult::group)
          .flatMap(name -> labels.getOrDefault(name, OF_EACH_HISTOGRAM).stream()).collect(Collectors.toSet());
      known.add("instance"); // Prometheus' own
      assertThat(Stream.concat(question.labels(), question.shownLabels())).as(question.toString()).isSubsetOf(known);
    }
  }

  /** Claims and pods of two namespaces may have the same name. */
  @Test
  void whatIsToldByClaimOrPodIsToldByNamespaceToo() throws IOException {
    assertThat(questions()).flatMap(question -> question.groups().toList()).isNotEmpty()
        .filteredOn(group -> group.contains("claim") || group.contains("pod"))
        .allSatisfy(group -> assertThat(group).contains("namespace"));
  }

  /** Cards of two nodes have the same number, and pods of one claim containers of the same name. */
  @Test
  void linesOfAPanelHaveNamesThatTellThemApart() throws IOException {
    for (Question question : questions()) {
      List<String> shown = question.shownLabels().toList();
      if (shown.contains("gpu")) {
        assertThat(shown).as(question.toString()).contains("node");
      }
      if (shown.contains("container")) {
        assertThat(shown).as(question.toString()).contains("pod");
      }
    }
  }

  @Test
  void everyPanelTellsOfWhatWasChosenAlone() throws IOException {
    for (String of : List.of("node", "namespace", "claim")) {
      assertThat(questions()).filteredOn(question -> question.file().equals("partita-" + of + ".json")).isNotEmpty()
          .allSatisfy(question -> assertThat(question.query()).contains("\"$" + of + "\""));
    }
  }

  /** A pod may have the time of two cards, and a claim more than its limit where that was got round. */
  @Test
  void noGraphOfASumEndsAtOne() throws IOException {
    for (Path file : dashboards()) {
      for (JsonNode panel : new ObjectMapper().readTree(file.toFile()).path("panels")) {
        if (panel.path("type").asText().equals("timeseries") && panel.at("/fieldConfig/defaults").has("max")) {
          assertThat(panel.findValuesAsText("expr")).as(panel.path("title").asText())
              .noneMatch(query -> query.contains("sum by"));
        }
      }
    }
  }

  /** Whole cards, and shares that are in the books alone, have a limit, and nobody tells what is used of it. */
  @Test
  void whatIsUsedIsDividedByLimitsOfThoseAloneOfWhomThatIsTold() throws IOException {
    assertThat(questions()).map(Question::query)
        .filteredOn(query -> query.contains("partita_share_memory_used_bytes") && query.contains("/")).isNotEmpty()
        .allSatisfy(query -> assertThat(query.substring(query.indexOf('/')))
            .contains(" and on (node, namespace, claim, share) partita_share_memory_used_bytes"));
  }

  /** A plugin that starts anew knows of no use before it. */
  @Test
  void theMostThatWasUsedIsSoughtBeforeThePluginsStartToo() throws IOException {
    assertThat(questions()).map(Question::query)
        .filteredOn(query -> query.contains("partita_share_memory_peak_bytes") && query.contains("/")).isNotEmpty()
        .allSatisfy(query -> assertThat(query).contains("max_over_time(partita_share_memory_peak_bytes"));
  }

  /** It takes nothing of a card. */
  @Test
  void noSumOfLimitsHasAnAdministratorsAccess() throws IOException {
    assertThat(questions()).map(Question::query)
        .filteredOn(query -> query.startsWith("sum(partita_device_memory_limit_bytes")).isNotEmpty()
        .allSatisfy(query -> assertThat(query)
            .contains("strategy!=\"%s\"".formatted(AdminAccess.class.getSimpleName())));
  }

  /**
   * A question of a panel.
   *
   * @param legend what its lines are called
   */
  private record Question(String file, String title, String query, String legend) {
    private static final Pattern GROUP = Pattern.compile("\\b(?:by|on) \\(([^)]*)\\)");
    private static final Pattern CHOSEN = Pattern.compile("[{,](\\w+)(?:=~|!~|!=|=)\"");
    private static final Pattern SHOWN = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?(\\w+) ?}}");

    /** The labels of each of its groups. */
    Stream<List<String>> groups() {
      return GROUP.matcher(query).results().map(group -> List.of(group.group(1).split(", ", -1)));
    }

    Stream<String> labels() {
      return Stream.concat(groups().flatMap(List::stream),
          CHOSEN.matcher(query).results().map(label -> label.group(1)));
    }

    Stream<String> shownLabels() {
      return SHOWN.matcher(legend).results().map(label -> label.group(1));
    }
  }

  private static List<Question> questions() throws IOException {
    List<Question> questions = new ArrayList<>();
    for (Path file : dashboards()) {
      for (JsonNode panel : new ObjectMapper().readTree(file.toFile()).path("panels")) {
        for (JsonNode target : panel.path("targets")) {
          questions.add(new Question(String.valueOf(file.getFileName()), panel.path("title").asText(),
              target.path("expr").asText(), target.path("legendFormat").asText()));
        }
      }
    }
    assertThat(questions).hasSizeGreaterThan(30);
    return questions;
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
