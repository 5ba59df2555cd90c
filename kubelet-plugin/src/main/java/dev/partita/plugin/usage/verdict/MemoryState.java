package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.usage.measure.OverheadBook;
import java.util.ArrayList;
import java.util.List;

/** Whether a share's memory limit holds, by NVML's figures. */
public sealed interface MemoryState {
  /** It holds. */
  record Held() implements MemoryState {}

  /**
   * Contexts and modules came on top of a quota that was in use already. Nothing more is granted until enough is freed.
   *
   * @param excessBytes beyond the quota
   */
  record OverheadBeyond(long excessBytes) implements MemoryState {}

  /**
   * Processes hold more than the quota allows, and more than contexts and modules can explain.
   *
   * @param excessBytes beyond the quota
   * @param offenders the processes that hold what no ledger knows of
   */
  record Exceeded(long excessBytes, List<ProcessUse> offenders) implements MemoryState {
    public Exceeded {
      offenders = List.copyOf(offenders);
    }
  }

  /**
   * Processes of the container hold memory without the interception library, though the quota is not exceeded yet.
   *
   * @param offenders those processes
   */
  record Bypassed(List<ProcessUse> offenders) implements MemoryState {
    public Bypassed {
      offenders = List.copyOf(offenders);
    }
  }

  /**
   * Decides. A process is to blame if no ledger knows of more of its memory than is plausible. That alone would let a
   * tenant take as much by each of many processes. So overhead explains what a share exceeds its quota by only once: if
   * there is more that nobody is to blame for, the processes that hold more than is usual are.
   *
   * @param processes those of the share
   * @param excessBytes what the share, with others of the same containers, holds beyond its quota; 0 or less if it is
   *        within
   * @param plausible bytes, as {@link OverheadBook#plausible}
   */
  static MemoryState of(List<ProcessUse> processes, long excessBytes, long plausible) {
    List<ProcessUse> offenders = holdingMoreThan(plausible, processes);
    if (excessBytes > 0) {
      if (excessBytes - offenders.stream().mapToLong(ProcessUse::unaccounted).sum() > plausible) {
        offenders = holdingMoreThan(OverheadBook.USUAL, processes);
      }
      return offenders.isEmpty() ? new OverheadBeyond(excessBytes) : new Exceeded(excessBytes, offenders);
    }
    offenders.removeIf(ProcessUse::inLedger);
    return offenders.isEmpty() ? new Held() : new Bypassed(offenders);
  }

  private static List<ProcessUse> holdingMoreThan(long bytes, List<ProcessUse> processes) {
    return new ArrayList<>(processes.stream().filter(process -> process.unaccounted() > bytes).toList());
  }

  /** The processes that are to blame; empty if there are none. */
  default List<ProcessUse> blamed() {
    return switch (this) {
      case Held ignored -> List.of();
      case OverheadBeyond ignored -> List.of();
      case Exceeded exceeded -> exceeded.offenders();
      case Bypassed bypassed -> bypassed.offenders();
    };
  }
}
