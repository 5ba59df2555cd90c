package dev.partita.serving.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A process' metrics: what is counted and timed as it happens (Micrometer's meters), and what sources tell when they
 * are scraped.
 */
public final class Metrics {
  private static final Logger LOG = LoggerFactory.getLogger(Metrics.class);

  private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final List<Source> sources = new CopyOnWriteArrayList<>();
  private volatile int length; // of the last text, in characters

  /** With the JVM's own: memory, threads, processor time, since when it runs. */
  public Metrics() {
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
  }

  /** For what is counted and timed as it happens. */
  public MeterRegistry registry() {
    return registry;
  }

  /** Has a source asked at every scrape. One that fails costs its own samples, not the others'. */
  public void add(Source source) {
    sources.add(source);
  }

  /** All of them now, in Prometheus' text format 0.0.4. */
  public String text() {
    StringBuilder text = new StringBuilder(length + length / 8); // not grown: each step leaves what is as large behind
    text.append(registry.scrape());
    sources.forEach(source -> collect(source, text));
    length = text.length();
    return text.toString();
  }

  private static void collect(Source source, StringBuilder text) {
    Samples samples = new Samples();
    try {
      source.collect(samples);
    } catch (RuntimeException e) {
      LOG.warn("metrics of {} are left out", source.getClass().getSimpleName(), e);
      return;
    }
    samples.write(text);
  }
}
