package dev.partita.cli.placement;

import dev.partita.cli.output.Cell;
import dev.partita.cli.output.Column;
import dev.partita.cli.output.LineChart;
import dev.partita.cli.output.Sheet;
import dev.partita.controller.stream.StreamReport.Sample;
import dev.partita.controller.stream.StreamReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;

/** What came of a stream under several policies: a table, what JSON and YAML are made of, and charts over time. */
record Comparison(List<StreamReport> reports) {
  /** Seconds, and in minutes, from which on an axis has the next larger unit. */
  private static final double LONG = 600;

  Comparison {
    reports = List.copyOf(reports);
  }

  /** A row a policy. */
  Sheet sheet() {
    Sheet sheet =
        new Sheet(
            Column.of("policy", "POLICY"), Column.of("memoryMeanPercent", "MEMORY"),
            Column.wide("memoryPeakPercent", "PEAK"), Column.of("coresMeanPercent", "CORES"),
            Column.wide("coresPeakPercent", "CORES-PEAK"), Column.of("cardsMeanPercent", "CARDS"),
            Column.wide("cardsPeakPercent", "CARDS-PEAK"), Column.wide("waitP50Seconds", "WAIT-P50"),
            Column.of("waitP99Seconds", "WAIT-P99"), Column.of("mostWaiting", "WAITING"),
            Column.of("neverRan", "NEVER-RAN"), Column.of("fragmentationMeanPercent", "FRAGMENTED"),
            Column.wide("fragmentationPeakPercent", "FRAGMENTED-PEAK"),
            Column.wide("microsecondsPerDecision", "DECISION"));
    for (StreamReport report : reports) {
      sheet.row(
          Cell.text(report.policy().name()), percent(report.allocated().memory().mean()),
          percent(report.allocated().memory().peak()),
          percent(report.allocated().cores().mean()), percent(report.allocated().cores().peak()),
          percent(report.allocated().cards().mean()), percent(report.allocated().cards().peak()),
          seconds(report.waits().p50()),
          seconds(report.waits().p99()), Cell.count(report.waits().most()), Cell.count(report.demand().failed()),
          percent(report.fragmentation().mean()), percent(report.fragmentation().peak()),
          new Cell.Count(OptionalLong.of(report.nsPerDecision() / 1000), "µs"));
    }
    return sheet;
  }

  /** The sheet's rows, each with its samples over time. */
  Map<String, Object> document() {
    List<Map<String, Object>> items = sheet().items();
    for (int i = 0; i < items.size(); i++) {
      items.get(i).put("samples", reports.get(i).samples().stream().map(Comparison::sample).toList());
    }
    return Map.of("items", items);
  }

  private static Map<String, Object> sample(Sample sample) {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("seconds", rounded(sample.at(), 1));
    values.put("memoryPercent", rounded(100 * sample.memory(), 2));
    values.put("waiting", rounded(sample.waiting(), 2));
    values.put("fragmentationPercent", rounded(100 * sample.fragmentation(), 2));
    return values;
  }

  /**
   * Three charts below each other, a line a policy.
   *
   * @param end seconds from the begin to the last arrival
   */
  String svg(double end) {
    return LineChart.svg(
        reports.stream().map(report -> report.policy().name()).toList(),
        List.of(
            panel("Allocated memory, % of all", sample -> 100 * sample.memory(), "%.3g %%"),
            panel("Pods waiting", Sample::waiting, "%.3g"),
            panel("Fragmented memory, % of what could serve the largest usual share",
                sample -> 100 * sample.fragmentation(), "%.3g %%")),
        end, time(end));
  }

  private LineChart.Panel panel(String title, ToDoubleFunction<Sample> value, String format) {
    List<LineChart.Line> lines = new ArrayList<>();
    for (StreamReport report : reports) {
      lines.add(new LineChart.Line(report.samples().stream().map(value::applyAsDouble).toList()));
    }
    return new LineChart.Panel(title, lines, number -> number >= 1000
        ? String.format(Locale.ROOT, "%,.0f", number)
        : String.format(Locale.ROOT, format, number).replaceAll("(\\.\\d*?)0+( ?%?)$", "$1$2").replaceAll("\\.( ?%?)$",
            "$1"));
  }

  /** How moments are written on an axis with that end, s: all in the same unit. */
  private static DoubleFunction<String> time(double end) {
    String unit = end < LONG ? "s" : end < LONG * 60 ? "min" : "h";
    double seconds = end < LONG ? 1 : end < LONG * 60 ? 60 : 3600;
    return at -> String.format(Locale.ROOT, "%.1f", at / seconds).replace(".0", "") + " " + unit;
  }

  private static Cell percent(double part) {
    return new Cell.Decimal(rounded(100 * part, 2), 1, "%");
  }

  private static Cell seconds(double seconds) {
    return new Cell.Age(Duration.ofMillis(Math.round(seconds * 1000)));
  }

  private static double rounded(double number, int digits) {
    double scale = Math.pow(10, digits);
    return Math.round(number * scale) / scale;
  }
}
