package dev.partita.cli.output;

import dev.partita.cli.command.CommandFailure;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Objects as rows of named values: the one source of a table and of its JSON and YAML. */
public final class Sheet {
  private final List<Column> columns;
  private final List<List<Cell>> rows = new ArrayList<>();

  /** A sheet without rows. */
  public Sheet(Column... columns) {
    this.columns = List.of(columns);
  }

  /**
   * Adds a row.
   *
   * @throws IllegalArgumentException if it has not a cell a column
   */
  public void row(Cell... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(cells.length + " cells for " + columns.size() + " columns");
    }
    rows.add(List.of(cells));
  }

  /** Whether it has no rows. */
  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /**
   * Puts the rows in the order of a column; those that are alike stay as they were.
   *
   * @param key a column's key, in any case
   * @throws CommandFailure if there is no such column
   */
  public void sortBy(String key) {
    int at = IntStream.range(0, columns.size()).filter(i -> columns.get(i).key().equalsIgnoreCase(key)).findFirst()
        .orElseThrow(() -> CommandFailure.usage("--sort-by knows no '" + key + "'; it knows "
            + columns.stream().map(Column::key).collect(Collectors.joining(", "))));
    rows.sort(Comparator.comparing((List<Cell> row) -> row.get(at), Cell.ORDER));
  }

  /** The rows as a table. */
  public String table(boolean wide) {
    List<Integer> shown =
        IntStream.range(0, columns.size()).filter(i -> wide || !columns.get(i).wideOnly()).boxed().toList();
    Table table = new Table(shown.stream().map(i -> columns.get(i).heading()).toList());
    rows.forEach(row -> table.row(shown.stream().map(i -> text(row.get(i), wide)).toList()));
    return table.toString();
  }

  private static String text(Cell cell, boolean wide) {
    return wide && cell instanceof Cell.Words words ? String.join(",", words.words()) : cell.text();
  }

  /** The rows as objects; what is not known is left out. */
  public List<Map<String, Object>> items() {
    List<Map<String, Object>> items = new ArrayList<>();
    for (List<Cell> row : rows) {
      Map<String, Object> item = new LinkedHashMap<>();
      for (int i = 0; i < columns.size(); i++) {
        Object value = row.get(i).value();
        if (value != null) {
          item.put(columns.get(i).key(), value);
        }
      }
      items.add(item);
    }
    return items;
  }
}
