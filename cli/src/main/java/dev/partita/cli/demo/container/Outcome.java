package dev.partita.cli.demo.container;

import java.util.List;

/**
 * How a command ended.
 *
 * @param status exit status
 * @param lines what it printed on stdout and stderr
 */
public record Outcome(int status, List<String> lines) {
  public Outcome {
    lines = List.copyOf(lines);
  }

  /** Everything it printed. */
  public String text() {
    return String.join("\n", lines);
  }
}
