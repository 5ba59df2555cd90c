package dev.partita.serving.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MetricsTest {
  private static final Family USED = Family.gauge("partita_used_bytes", "Bytes used.", "card", "pod");
  private static final Family SECONDS = Family.counter("partita_busy_seconds_total", "Seconds.", "card");

  private final Metrics metrics = new Metrics();

  @Test
  void samplesStandWithTheirLabelsAndTheirFamilysHelp() {
    metrics.add(into -> into.put(USED, 5, "GPU-1", "a\"b"));
    assertThat(metrics.text()).contains(
        "# HELP partita_used_bytes Bytes used.\n# TYPE partita_used_bytes gauge\n"
            + "partita_used_bytes{card=\"GPU-1\",pod=\"a\\\"b\"} 5.0\n");
  }

  @Test
  void countersEndWithTotal() {
    metrics.add(into -> into.put(SECONDS, 2.5, "GPU-1"));
    assertThat(metrics.text()).contains("# TYPE partita_busy_seconds_total counter",
        "partita_busy_seconds_total{card=\"GPU-1\"} 2.5");
    assertThatThrownBy(() -> Family.counter("partita_busy_seconds", "Seconds."))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void samplesWithTheSameLabelsAreOne() {
    metrics.add(into -> {
      into.put(USED, 5, "GPU-1", "p");
      into.put(USED, 6, "GPU-1", "p");
      into.add(USED, 4, "GPU-1", "p");
    });
    assertThat(metrics.text()).containsOnlyOnce("partita_used_bytes{").contains("} 10.0");
  }

  @Test
  void labelsStandByNameFamiliesByNameAndWhatPrometheusReadsOtherwiseIsEscaped() {
    Family odd = Family.gauge("partita_odd", "One \\ and\ntwo.", "z", "a");
    Family even = Family.gauge("partita_even", "Even.");
    metrics.add(into -> {
      String[] labels = {"z\\1", "a\n\"2\""};
      into.put(odd, Double.POSITIVE_INFINITY, labels);
      into.put(USED, 1, labels);
      into.put(even, 4_294_967_296L);
    });
    assertThat(metrics.text()).endsWith(
        "# HELP partita_even Even.\n# TYPE partita_even gauge\npartita_even 4.294967296E9\n"
            + "# HELP partita_odd One \\\\ and\\ntwo.\n# TYPE partita_odd gauge\n"
            + "partita_odd{a=\"a\\n\\\"2\\\"\",z=\"z\\\\1\"} +Inf\n"
            + "# HELP partita_used_bytes Bytes used.\n# TYPE partita_used_bytes gauge\n"
            + "partita_used_bytes{card=\"z\\\\1\",pod=\"a\\n\\\"2\\\"\"} 1.0\n");
  }

  @Test
  void aSourceThatFailsCostsOnlyItsOwn() {
    metrics.add(into -> {
      throw new IllegalStateException("no driver");
    });
    metrics.add(into -> into.put(USED, 5, "GPU-1", "p"));
    assertThat(metrics.text()).contains("partita_used_bytes{");
  }

  @Test
  void theProcessTellsOfItself() {
    assertThat(metrics.text()).contains("jvm_memory_used_bytes{", "process_uptime_seconds");
  }
}
