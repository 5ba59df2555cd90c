package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.partita.api.MigSlot;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import java.util.List;

/**
 * A profile of MIG instances (NVML's GPU instances) that a card can be cut into.
 *
 * @param name NVIDIA's, such as 1g.18gb
 * @param memoryBytes device memory of an instance
 * @param multiprocessors streaming multiprocessors of an instance
 * @param slices compute slices of an instance
 * @param count how many instances there can be at once, whatever places are free
 * @param placements where on the card an instance can lie
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record MigProfile(
    @JsonPropertyDescription("NVIDIA's name, such as 1g.18gb.") String name,
    @JsonPropertyDescription("Device memory of an instance, in bytes.") long memoryBytes,
    @JsonPropertyDescription("Streaming multiprocessors of an instance.") @Min(0)
    @Max(Integer.MAX_VALUE) int multiprocessors,
    @JsonPropertyDescription("Compute slices of an instance.") @Min(0) @Max(Integer.MAX_VALUE) int slices,
    @JsonPropertyDescription("How many instances there can be at once.") @Min(0) @Max(Integer.MAX_VALUE) int count,
    @JsonPropertyDescription("Where on the card an instance can lie.") List<Placement> placements) {
  /** Most memory slices that are told apart; cards have 8. */
  public static final int MAX_SLICES = 32;

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public MigProfile {
    name = name == null ? "" : name;
    placements = placements == null ? List.of() : List.copyOf(placements);
  }

  /**
   * Memory slices that follow each other.
   *
   * @param start the first one, from 0
   * @param size how many
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record Placement(
      @JsonPropertyDescription("First memory slice, from 0.") @Min(0) @Max(Integer.MAX_VALUE) int start,
      @JsonPropertyDescription("Memory slices.") @Min(0) @Max(Integer.MAX_VALUE) int size) {
    /** The slices as bits, the first one the lowest; 0 for what is no placement. */
    @JsonIgnore
    public int mask() {
      return start < 0 || size < 1 || start > MAX_SLICES - size ? 0 : (int) ((1L << size) - 1) << start;
    }

    /** Whether the two have a memory slice in common: then a card cannot have an instance at both. */
    public boolean overlaps(Placement other) {
      return start < other.start + other.size && other.start < start + size;
    }
  }

  /** The profile as it stands in names of devices: {@link MigSlot#labelOf}. */
  @JsonIgnore
  public String label() {
    return MigSlot.labelOf(name);
  }

  /** Whether an instance can begin at that memory slice. */
  public boolean mayStartAt(int start) {
    return placements.stream().anyMatch(placement -> placement.start() == start);
  }
}
