package dev.partita.plugin.nvml;

import java.util.List;

/** NVML's answer to the question which processes have used a card. */
public sealed interface CardSamples {
  /**
   * It told.
   *
   * @param samples at most one a process; none of those that were idle
   */
  record Told(List<ProcessSample> samples) implements CardSamples {
    public Told {
      samples = List.copyOf(samples);
    }
  }

  /**
   * It does not tell, which does not mean that no process has used the card.
   *
   * @param why for people
   */
  record NotTold(String why) implements CardSamples {}

  /** The samples that there are. */
  default List<ProcessSample> known() {
    return switch (this) {
      case Told told -> told.samples();
      case NotTold _ -> List.of();
    };
  }
}
