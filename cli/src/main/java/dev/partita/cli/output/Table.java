package dev.partita.cli.output;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Rows below headings, laid out as kubectl does it: columns as wide as their widest cell, three spaces apart. Cells
 * show no control characters, whoever wrote them: names and messages of a cluster cannot move a terminal's cursor.
 */
public final class Table {
  /** What a cell says of which nothing is known. */
  public static final String UNKNOWN = "-";

  private static final String GAP = "   ";

  /** Controls, of which terminals know those beyond ASCII as well, ends of lines, and what turns the writing around. */
  private static final Pattern MOVING = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

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
    rows.add(cells.stream().map(Table::printable).toList());
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

  /**
   * The text with every character turned into a question mark that moves the cursor or the text around it;
   * {@link #UNKNOWN} where there is none.
   */
  public static String printable(String text) {
    String shown = MOVING.matcher(text).replaceAll("?");
    return shown.isBlank() ? UNKNOWN : shown;
  }

  /** The same of a text that may have several lines, which stay. */
  public static String printableLines(String text) {
    return text.lines().map(line -> MOVING.matcher(line).replaceAll("?")).collect(Collectors.joining("\n"));
  }

  /** JSON that says the same, with escapes for these characters, of which JSON's own rules want those of ASCII only. */
  public static String escapedJson(String json) {
    return MOVING.matcher(json).replaceAll(found -> found.group().charAt(0) < '\u007f'
        ? found.group() // the ends of lines between the values: the others are escaped
        : found.group().chars().mapToObj(c -> String.format("\\\\u%04x", c)).collect(Collectors.joining()));
  }
}
