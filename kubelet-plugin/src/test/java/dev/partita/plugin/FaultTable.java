package dev.partita.plugin;

import java.util.ArrayList;
import java.util.List;

/** What a suite of faults has found, for its output: one line a fault. */
public final class FaultTable {
  private final String title;
  private final List<String> rows = new ArrayList<>();

  public FaultTable(String title) {
    this.title = title;
  }

  /**
   * Adds a line.
   *
   * @param survived whether what was asked next succeeded
   * @param leaked what is left on the node after the claim was released
   */
  public synchronized void add(String fault, String step, boolean survived, List<?> leaked) {
    rows.add(String.format("%-34s %-52s %-9s %s", fault, step, survived ? "yes" : "NO",
        leaked.isEmpty() ? "nothing" : leaked));
  }

  /** Adds a line for what could not be tried here. */
  public synchronized void skipped(String fault, String step, String why) {
    rows.add(String.format("%-34s %-52s %-9s %s", fault, step, "skipped", why));
  }

  /** Prints it in one piece. */
  public synchronized void print() {
    System.out.printf("%s%n%-34s %-52s %-9s %s%n%s%n", title, "fault", "step", "survived", "leaked",
        String.join(System.lineSeparator(), rows));
  }
}
