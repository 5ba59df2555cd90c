package dev.partita.cli.placement;

import dev.partita.cli.output.Counted;
import dev.partita.controller.stream.ClusterStream;
import dev.partita.controller.stream.StreamReport;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.Locale;

/** What came of one play of a stream, in a line. */
final class StreamWords {
  private StreamWords() {}

  /** What was played, and what came of it. */
  static String of(ClusterStream work, StreamReport report) {
    return String.format(Locale.ROOT, "%s: %s; %.0f µs a decision", what(work),
        work.hasDepartures() ? overTime(report) : inTheEnd(report), report.nsPerDecision() / 1000.0);
  }

  /** Name and size of a stream. */
  static String what(ClusterStream work) {
    return String.format(Locale.ROOT, "%s: %s on %s with %s", work.name().isEmpty() ? "stream" : work.name(),
        Counted.of(work.pods().size(), "pod"), Counted.of(work.nodes().size(), "node"), Counted.of(work.gpus(), "GPU"));
  }

  private static String inTheEnd(StreamReport report) {
    StreamReport.Demand demand = report.demand();
    double cards = demand.gpus() * 1000.0;
    double all = Math.max(1, cards);
    return String.format(
        Locale.ROOT, "asked for %.1f %%, allocated %.2f %%, %.1f GPUs idle, %s without a place%s",
        100 * demand.askedMilli() / all,
        100 * demand.usedMilli() / all,
        (cards - demand.usedMilli()) / 1000,
        Counted.of(demand.failed(), "pod"),
        demand.firstFailureMilli().map(milli -> String.format(Locale.ROOT, ", the first at %.1f %%", 100 * milli / all))
            .orElse(""));
  }

  private static String overTime(StreamReport report) {
    return String.format(
        Locale.ROOT,
        "%.1f %% of the cards' memory allocated on average, %.1f %% at most; half of the pods waited up to %.0f s, 99 %% up to %.0f s; %s never ran",
        100 * report.allocated().memory().mean(),
        100 * report.allocated().memory().peak(),
        report.waits().p50(),
        report.waits().p99(),
        Counted.of(report.demand().failed(), "pod"));
  }

  /** How long it took, and how much of the heap was in use at most. */
  static String cost(long ns) {
    long bytes =
        ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP)
            .mapToLong(StreamWords::peak).sum();
    return String.format(Locale.ROOT, "%.1f s, %,d MiB of heap at most", ns / 1e9, bytes >> 20);
  }

  private static long peak(MemoryPoolMXBean pool) {
    return pool.getPeakUsage() == null ? 0 : pool.getPeakUsage().getUsed();
  }
}
