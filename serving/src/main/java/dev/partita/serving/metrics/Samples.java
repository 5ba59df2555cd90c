package dev.partita.serving.metrics;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The samples of one scrape, by family and label values. They are kept as Prometheus' text format (0.0.4) has them: a
 * node with many shares has thousands, of which most have the labels of the one before. For one thread.
 */
public final class Samples {
  private final Map<Family, Map<String, double[]>> values = new HashMap<>();
  private final Map<List<String>, int[]> orders = new HashMap<>();
  private List<String> lastNames = List.of();
  private String @Nullable [] lastValues;
  private String lastText = "";

  /**
   * Adds a sample, in the place of an earlier one with the same labels.
   *
   * @param labels values of the family's labels, in its order; not to be changed afterwards
   */
  public void put(Family family, double value, String... labels) {
    of(family, labels)[0] = value;
  }

  /** The same with a whole number; beyond 2^53 it is rounded. */
  public void put(Family family, long value, String... labels) {
    put(family, (double) value, labels);
  }

  /** Adds to the sample with these labels. */
  public void add(Family family, double value, String... labels) {
    of(family, labels)[0] += value;
  }

  /** Appends all families by name, each with its help, its kind and its samples in the order in which they were put. */
  void write(StringBuilder text) {
    values.entrySet().stream().sorted(Map.Entry.comparingByKey(Comparator.comparing(Family::name)))
        .forEach(entry -> write(entry.getKey(), entry.getValue(), text));
  }

  private static void write(Family family, Map<String, double[]> samples, StringBuilder text) {
    text.append("# HELP ").append(family.name()).append(' ');
    escape(family.help(), false, text);
    text.append("\n# TYPE ").append(family.name()).append(switch (family.kind()) {
      case GAUGE -> " gauge\n";
      case COUNTER -> " counter\n";
    });
    samples.forEach((labels, value) -> text.append(family.name()).append(labels).append(' ').append(words(value[0]))
        .append('\n'));
  }

  private static String words(double value) {
    return value == Double.POSITIVE_INFINITY
        ? "+Inf"
        : value == Double.NEGATIVE_INFINITY ? "-Inf" : Double.toString(value);
  }

  private double[] of(Family family, String... labels) {
    if (labels.length != family.labels().size()) {
      throw new IllegalArgumentException(
          family.name() + " has the labels " + family.labels() + ", and these values are given: " + List.of(labels));
    }
    return values.computeIfAbsent(family, f -> new LinkedHashMap<>())
        .computeIfAbsent(text(family.labels(), labels), of -> new double[1]);
  }

  @SuppressWarnings("ArrayEquality") // the same array says the same
  private String text(List<String> names, String... labels) {
    if (labels != lastValues || !names.equals(lastNames)) {
      lastText = labelsOf(names, labels);
      lastNames = names;
      lastValues = labels;
    }
    return lastText;
  }

  private String labelsOf(List<String> names, String... labels) {
    if (labels.length == 0) {
      return "";
    }
    StringBuilder text = new StringBuilder("{");
    for (int i : orders.computeIfAbsent(names, Samples::byName)) {
      text.append(text.length() == 1 ? "" : ",").append(names.get(i)).append("=\"");
      escape(labels[i], true, text);
      text.append('"');
    }
    return text.append('}').toString();
  }

  private static int[] byName(List<String> names) {
    return IntStream.range(0, names.size()).boxed().sorted(Comparator.comparing(names::get))
        .mapToInt(Integer::intValue).toArray();
  }

  private static void escape(String value, boolean quotes, StringBuilder text) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      switch (c) {
        case '\\' -> text.append("\\\\");
        case '\n' -> text.append("\\n");
        case '"' -> text.append(quotes ? "\\\"" : "\"");
        default -> text.append(c);
      }
    }
  }
}
