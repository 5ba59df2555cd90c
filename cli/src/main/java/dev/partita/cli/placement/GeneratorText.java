package dev.partita.cli.placement;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.SpanConverter;
import dev.partita.controller.stream.StreamGenerator.Shape;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.TypeConversionException;

/** Reads what {@code --generate} says: names and values, such as {@code pods=1000,nodes=50,load=90}. */
final class GeneratorText {
  private static final int MOST_PODS = 10_000_000;
  private static final int MOST_NODES = 100_000;
  private static final List<String> KEYS = List.of("pods", "nodes", "gpus", "load", "duration", "seed");

  private final Map<String, String> values = new HashMap<>();

  private GeneratorText(String text) {
    for (String part : text.split(",", -1)) {
      String[] pair = part.strip().split("=", 2);
      if (pair.length < 2 || !KEYS.contains(pair[0])) {
        throw CommandFailure.usage("--generate has names and values, such as pods=1000,nodes=50, and knows "
            + String.join(", ", KEYS) + ", not '" + part.strip() + "'");
      }
      if (values.put(pair[0], pair[1]) != null) {
        throw CommandFailure.usage("--generate says " + pair[0] + " twice");
      }
    }
  }

  /**
   * What is to be made.
   *
   * @throws CommandFailure if it says something that cannot be
   */
  static Shape shape(String text) {
    GeneratorText said = new GeneratorText(text);
    return new Shape(
        (int) said.number("pods", 10_000, 1, MOST_PODS), (int) said.number("nodes", 100, 1, MOST_NODES),
        (int) said.number("gpus", 8, 1, 64), (int) said.number("load", 90, 1, 1_000), said.duration(),
        said.number("seed", 1, 0, Long.MAX_VALUE));
  }

  private long number(String key, long unsaid, long least, long most) {
    String text = values.getOrDefault(key, String.valueOf(unsaid));
    try {
      long number = Long.parseLong(text);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw CommandFailure.usage("--generate: " + key + " is a whole number from " + least + " to " + most + ", not '"
        + text + "'");
  }

  private Duration duration() {
    String text = values.getOrDefault("duration", "1h");
    try {
      Duration duration = new SpanConverter().convert(text);
      if (duration.isPositive()) {
        return duration;
      }
    } catch (TypeConversionException e) {
      // said below
    }
    throw CommandFailure.usage("--generate: duration is a span of time such as 30m or 2h, not '" + text + "'");
  }
}
