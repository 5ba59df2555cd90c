package dev.partita.controller.edge;

/** Learns how every write ended, on the threads that write. It must not block. */
@FunctionalInterface
public interface WriteOutcomes {
  /** Nobody wants to know. */
  WriteOutcomes IGNORED = (write, outcome) -> {};

  /** One came to its end. */
  void ended(WriteKind write, WriteOutcome outcome);
}
