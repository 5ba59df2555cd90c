package dev.partita.controller.stream;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Placement;
import java.util.Arrays;
import java.util.Locale;

/**
 * How nodes and cards are chosen for all pods of a stream: what {@code placement} of a GpuShareConfig says.
 *
 * @param name as it was asked for
 */
public record StreamPolicy(String name, Packing nodes, Packing gpus) {
  /** What a claim gets that says nothing. */
  public static final StreamPolicy AUTO = new StreamPolicy("auto", Packing.AUTO, Packing.AUTO);

  /**
   * Reads {@code auto}, {@code binpack} or {@code spread}, or two of them for nodes and for the cards of a node, such
   * as {@code binpack/spread}.
   *
   * @throws IllegalArgumentException if it is none
   */
  public static StreamPolicy parse(String text) {
    String[] parts = text.split("/", -1);
    if (parts.length > 2) {
      throw unknown(text);
    }
    return new StreamPolicy(text, packing(parts[0], text), packing(parts[parts.length - 1], text));
  }

  private static Packing packing(String word, String text) {
    return Arrays.stream(Packing.values()).filter(packing -> packing.name().equals(word.toUpperCase(Locale.ROOT)))
        .findFirst().orElseThrow(() -> unknown(text));
  }

  private static IllegalArgumentException unknown(String text) {
    return new IllegalArgumentException(
        "a policy is auto, binpack or spread, or two of them for nodes and cards such as binpack/spread, not '" + text
            + "'");
  }

  Placement placement() {
    return Placement.DEFAULT.packed(nodes, gpus);
  }
}
