package dev.partita.serving.metrics;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The samples of one scrape, by family and label values. For one thread. */
public final class Samples {
  private final Map<Family, Map<List<String>, Double>> values = new LinkedHashMap<>();

  /**
   * Adds a sample, in the place of an earlier one with the same labels.
   *
   * @param labels values of the family's labels, in its order
   */
  public void put(Family family, double value, String... labels) {
    of(family).put(labels(family, labels), value);
  }

  /** The same with a whole number; beyond 2^53 it is rounded. */
  public void put(Family family, long value, String... labels) {
    put(family, (double) value, labels);
  }

  /** Adds to the sample with these labels. */
  public void add(Family family, double value, String... labels) {
    of(family).merge(labels(family, labels), value, Double::sum);
  }

  MetricSnapshots snapshots() {
    return new MetricSnapshots(
        values.entrySet().stream().map(entry -> snapshot(entry.getKey(), entry.getValue())).toList());
  }

  private Map<List<String>, Double> of(Family family) {
    return values.computeIfAbsent(family, f -> new LinkedHashMap<>());
  }

  private static List<String> labels(Family family, String... labels) {
    if (labels.length != family.labels().size()) {
      throw new IllegalArgumentException(
          family.name() + " has the labels " + family.labels() + ", and these values are given: " + List.of(labels));
    }
    return List.of(labels);
  }

  private static MetricSnapshot snapshot(Family family, Map<List<String>, Double> samples) {
    return switch (family.kind()) {
      case GAUGE -> {
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name(family.name()).help(family.help());
        samples.forEach((labels, value) -> gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
            .labels(Labels.of(family.labels(), labels)).value(value).build()));
        yield gauge.build();
      }
      case COUNTER -> {
        CounterSnapshot.Builder counter =
            CounterSnapshot.builder().name(family.name().substring(0, family.name().length() - Family.TOTAL.length()))
                .help(family.help());
        samples.forEach((labels, value) -> counter.dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
            .labels(Labels.of(family.labels(), labels)).value(value).build()));
        yield counter.build();
      }
    };
  }
}
