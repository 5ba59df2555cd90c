package dev.partita.controller.replay;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A file of allocator scenarios: which clusters, and which claims arrive there. The format is that of the comparison
 * with Kubernetes' own allocator.
 *
 * @param models by name
 * @param mixes for each name, kinds of claims with their weights
 * @param prefills for each name, claims of one card that every node holds at the start
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Scenarios(
    Map<String, Model> models,
    List<ClaimKind> claims,
    Map<String, List<Weighted>> mixes,
    Map<String, List<Prefilled>> prefills,
    List<Scenario> scenarios) {
  /** @param memoryMiB memory of a card, MiB */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Model(long memoryMiB) {}

  /**
   * A kind of claims.
   *
   * @param count cards, all on one node and all different
   * @param memoryMiB taken from each, MiB; 0 with cores 0 for whole cards
   * @param cores taken from each, percent
   * @param model the only model that will do; null for any
   * @param matchAttribute what all cards have in common: {@code numaNode}, {@code model}; null for nothing
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record ClaimKind(
      String name,
      int count,
      long memoryMiB,
      int cores,
      @Nullable String model,
      @Nullable String matchAttribute) {
    boolean isWhole() {
      return memoryMiB == 0 && cores == 0;
    }
  }

  @JsonFormat(shape = JsonFormat.Shape.ARRAY)
  public record Weighted(String claim, int weight) {}

  @JsonFormat(shape = JsonFormat.Shape.ARRAY)
  public record Prefilled(String claim, int gpu) {}

  /** @param churn whether a live claim is released before each new one */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Scenario(
      String name,
      long seed,
      int nodes,
      int gpusPerNode,
      int gpusPerNuma,
      List<String> nodeModels,
      @Nullable String prefill,
      String mix,
      boolean churn,
      int claims,
      double limitSeconds) {
    String model(int node) {
      return nodeModels.get(node % nodeModels.size());
    }
  }

  public static Scenarios read(InputStream json) throws IOException {
    return new ObjectMapper().readValue(json, Scenarios.class);
  }

  /** The same with another limit (s) for each scenario. */
  public Scenarios limited(double seconds) {
    return new Scenarios(
        models,
        claims,
        mixes,
        prefills,
        scenarios.stream()
            .map(
                s -> new Scenario(
                    s.name, s.seed, s.nodes, s.gpusPerNode, s.gpusPerNuma, s.nodeModels, s.prefill, s.mix, s.churn,
                    s.claims, seconds))
            .toList());
  }

  ClaimKind kind(String name) {
    return claims.stream()
        .filter(kind -> kind.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("the file describes no claim named " + name));
  }

  List<Prefilled> prefill(Scenario scenario) {
    return scenario.prefill() == null ? List.of() : prefills.getOrDefault(scenario.prefill(), List.of());
  }

  /** The next claim of a mix. */
  ClaimKind draw(Numbers numbers, String mix) {
    List<Weighted> kinds = mixes.getOrDefault(mix, List.of());
    int left = numbers.below(kinds.stream().mapToInt(Weighted::weight).sum());
    for (Weighted kind : kinds) {
      left -= kind.weight();
      if (left < 0) {
        return kind(kind.claim());
      }
    }
    throw new IllegalArgumentException("no mix named " + mix);
  }

  /** Knuth's MMIX generator, of which the upper 31 bits are used: the same numbers wherever the file is played. */
  static final class Numbers {
    private long state;

    Numbers(long seed) {
      this.state = seed;
    }

    int below(int bound) {
      state = state * 6364136223846793005L + 1442695040888963407L;
      return (int) (((state >>> 33) * bound) >>> 31);
    }
  }
}
