package dev.partita.cli.output;

import java.util.ArrayList;
import java.util.List;

/**
 * Rows below headings, laid out as kubectl does it: columns as wide as their widest cell, three spaces apart. Cells
 * show no control characters, whoever wrote them: names and messages of a cluster cannot move a terminal's cursor.
 */
public final class Table {
  /** What a cell says of which nothing is known. */
  public static final String UNKNOWN = "-";

  private static final String GAP = "   ";

  private final List<String> headings;
  private final List<List<String>> rows = new ArrayList<>();

  /** A table without rows. */
  public Table(List<String> headings) {
    this.headings = List.copyOf(headings);
  }

  /**
   * Adds a row.
   *
   * @throws IllegalArgumentException if it has not a cell a heading
   */
  public void row(List<String> cells) {
    if (cells.size() != headings.size()) {
      throw new IllegalArgumentException(cells.size() + " cells for " + headings.size() + " columns: " + cells);
    }
    rows.add(cells.stream().map(Printable::text).toList());
  }

  /** Whether it has no rows. */
  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /** One line a row, without blanks at its end. */
  @Override
  public String toString() {
    List<Integer> widths = new ArrayList<>();
    for (int column = 0; column < headings.size(); column++) {
      int at = column;
      widths.add(Math.max(headings.get(column).length(),
          rows.stream().mapToInt(row -> row.get(at).length()).max().orElse(0)));
    }
    StringBuilder text = new StringBuilder();
    line(headings, widths, text);
    rows.forEach(row -> line(row, widths, text));
    return text.toString();
  }

  private static void line(List<String> cells, List<Integer> widths, StringBuilder text) {
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < cells.size(); column++) {
      line.append(cells.get(column)).append(" ".repeat(widths.get(column) - cells.get(column).length())).append(GAP);
    }
    text.append(line.toString().stripTrailing()).append('\n');
  }
}
