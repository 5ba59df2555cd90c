package dev.partita.cli.placement;

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
    return String.format(Locale.ROOT, "%s: %,d pods on %,d nodes with %,d GPUs",
        work.name().isEmpty() ? "stream" : work.name(), work.pods().size(), work.nodes().size(), work.gpus());
  }

  private static String inTheEnd(StreamReport report) {
    StreamReport.Demand demand = report.demand();
    double cards = demand.gpus() * 1000.0;
    double all = Math.max(1, cards);
    return String.format(
        Locale.ROOT, "asked for %.1f %%, allocated %.2f %%, %.1f GPUs idle, %,d pods without a place%s",
        100 * demand.askedMilli() / all,
        100 * demand.usedMilli() / all,
        (cards - demand.usedMilli()) / 1000,
        demand.failed(),
        demand.firstFailureMilli().map(milli -> String.format(Locale.ROOT, ", the first at %.1f %%", 100 * milli / all))
            .orElse(""));
  }

  private static String overTime(StreamReport report) {
    return String.format(
        Locale.ROOT,
        "%.1f %% of the cards' memory allocated on average, %.1f %% at most; half of the pods waited up to %.0f s, 99 %% up to %.0f s; %,d pods never ran",
        100 * report.allocated().memory().mean(),
        100 * report.allocated().memory().peak(),
        report.waits().p50(),
        report.waits().p99(),
        report.demand().failed());
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
