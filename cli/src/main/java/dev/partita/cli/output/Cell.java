package dev.partita.cli.output;

import dev.partita.api.Bytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One value of a {@link Sheet}: how people read it, how programs read it, and where it stands when rows are sorted. */
public sealed interface Cell {
  /** Numbers from the largest to the smallest, those that are not known last; texts by alphabet. */
  Comparator<Cell> ORDER = Comparator.comparing(Cell::order).thenComparing(Cell::text);

  /** What people read. */
  String text();

  /** What stands in JSON and YAML; null for what is not known. */
  @Nullable
  Object value();

  /** The smaller, the further up. */
  double order();

  /** A word or a sentence. */
  record Text(String text) implements Cell {
    @Override
    public Object value() {
      return text;
    }

    @Override
    public double order() {
      return 0;
    }
  }

  /** Several words, of which a table that is not wide shows the first ones. */
  record Words(List<String> words, int shown) implements Cell {
    public Words {
      words = List.copyOf(words);
    }

    @Override
    public String text() {
      List<String> told = new ArrayList<>(words.subList(0, Math.min(shown, words.size())));
      if (words.size() > shown) {
        told.add("+" + (words.size() - shown));
      }
      return String.join(",", told);
    }

    @Override
    public Object value() {
      return words;
    }

    @Override
    public double order() {
      return -words.size();
    }
  }

  /** An amount of memory, in bytes. */
  record Memory(OptionalLong bytes) implements Cell {
    @Override
    public String text() {
      return bytes.isEmpty() ? Table.UNKNOWN : Bytes.words(bytes.getAsLong()).replace(" ", "").replace("bytes", "B");
    }

    @Override
    public @Nullable Object value() {
      return bytes.isEmpty() ? null : bytes.getAsLong();
    }

    @Override
    public double order() {
      return bytes.isEmpty() ? Double.MAX_VALUE : -(double) bytes.getAsLong();
    }
  }

  /**
   * A count.
   *
   * @param unit stands behind it, such as a percent sign
   */
  record Count(OptionalLong count, String unit) implements Cell {
    @Override
    public String text() {
      return count.isEmpty() ? Table.UNKNOWN : count.getAsLong() + unit;
    }

    @Override
    public @Nullable Object value() {
      return count.isEmpty() ? null : count.getAsLong();
    }

    @Override
    public double order() {
      return count.isEmpty() ? Double.MAX_VALUE : -(double) count.getAsLong();
    }
  }

  /**
   * A number that is not whole.
   *
   * @param digits shown behind the point
   * @param unit stands behind it, such as a percent sign
   */
  record Decimal(double number, int digits, String unit) implements Cell {
    @Override
    public String text() {
      return String.format(Locale.ROOT, "%." + digits + "f%s", number, unit);
    }

    @Override
    public Object value() {
      return number;
    }

    @Override
    public double order() {
      return -number;
    }
  }

  /** How long something has lasted: people read its largest unit, programs read seconds. */
  record Age(Duration span) implements Cell {
    @Override
    public String text() {
      if (span.toDays() >= 2) {
        return span.toDays() + "d";
      }
      if (span.toHours() >= 2) {
        return span.toHours() + "h";
      }
      return span.toMinutes() >= 2 ? span.toMinutes() + "m" : span.toSeconds() + "s";
    }

    @Override
    public Object value() {
      return span.toSeconds();
    }

    @Override
    public double order() {
      return -span.toSeconds();
    }
  }

  /** A word. */
  static Cell text(String text) {
    return new Text(text);
  }

  /** An amount of memory that is known, in bytes. */
  static Cell memory(long bytes) {
    return new Memory(OptionalLong.of(bytes));
  }

  /** A count that is known. */
  static Cell count(long count) {
    return new Count(OptionalLong.of(count), "");
  }

  /** Percent. */
  static Cell percent(OptionalLong percent) {
    return new Count(percent, "%");
  }
}
