package dev.partita.controller.metrics;

import static dev.partita.serving.metrics.Family.counter;

import dev.partita.controller.edge.WriteKind;
import dev.partita.controller.edge.WriteOutcome;
import dev.partita.controller.edge.WriteOutcomes;
import dev.partita.serving.metrics.Family;
import dev.partita.serving.metrics.Samples;
import dev.partita.serving.metrics.Source;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts the writes to the API server since the program started, whoever led meanwhile. */
public final class WriteCounts implements Source, WriteOutcomes {
  static final Family WRITES = counter("partita_writes_total",
      "Writes to the API server: what was written, and how it ended. Pods evicted are the evictions that are done.",
      "write", "outcome");

  private record Ended(WriteKind write, WriteOutcome outcome) {}

  private final Map<Ended, LongAdder> counts = new ConcurrentHashMap<>();

  /** With nothing counted. What is done and what is in conflict is told from the start, so that rates begin at 0. */
  public WriteCounts() {
    for (WriteKind write : WriteKind.values()) {
      counts.put(new Ended(write, WriteOutcome.DONE), new LongAdder());
      counts.put(new Ended(write, WriteOutcome.CONFLICT), new LongAdder());
    }
  }

  @Override
  public void ended(WriteKind write, WriteOutcome outcome) {
    counts.computeIfAbsent(new Ended(write, outcome), ended -> new LongAdder()).increment();
  }

  @Override
  public void collect(Samples into) {
    counts.forEach(
        (ended, count) -> into.put(WRITES, count.sum(), ended.write().toString(), ended.outcome().toString()));
  }
}
