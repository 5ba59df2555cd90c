package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.partita.api.gpu.MigProfile;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import org.jspecify.annotations.Nullable;

/**
 * A card, or the part of one, that a node holds.
 *
 * @param uuid of the card
 * @param kind what of the card is held
 * @param memoryBytes device memory of a share, by MPS or not, or of a MIG instance; null otherwise
 * @param cores percent of the card of a share, by MPS or not; null otherwise
 * @param profile of a MIG instance, or of that whose share it is, such as 1g.18gb; null otherwise
 * @param placement memory slices of that instance; null otherwise
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record HeldDevice(
    @JsonPropertyDescription("UUID of the card, as status.gpus has it.") String uuid,
    @JsonPropertyDescription("What of the card is held: a share, all of it, a MIG instance, a share by MPS, or a share of a MIG instance.")
    @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE) Kind kind,
    @JsonPropertyDescription("Device memory of a share, in bytes.") @Nullable Long memoryBytes,
    @JsonPropertyDescription("Percent of the card that a share has of its cores.") @Min(0) @Max(100)
    @Nullable Integer cores,
    @JsonPropertyDescription("Profile of a MIG instance.") @Nullable String profile,
    @JsonPropertyDescription("Where on the card a MIG instance lies.") MigProfile.@Nullable Placement placement) {

  /** What of a card is held. What is not known here may be all of it. */
  public enum Kind {
    Share,
    @JsonEnumDefaultValue Whole,
    Mig,
    Mps,
    MigShare
  }

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public HeldDevice {
    kind = kind == null ? Kind.Whole : kind;
  }

  /** All of a card. */
  public static HeldDevice whole(String uuid) {
    return new HeldDevice(uuid, Kind.Whole, null, null, null, null);
  }

  /** A part of a card, in bytes and percent. */
  public static HeldDevice share(String uuid, long memoryBytes, int cores) {
    return new HeldDevice(uuid, Kind.Share, memoryBytes, cores, null, null);
  }

  /** A part of a card, in bytes and percent, beside others who share it by MPS. */
  public static HeldDevice mps(String uuid, long memoryBytes, int cores) {
    return new HeldDevice(uuid, Kind.Mps, memoryBytes, cores, null, null);
  }

  /** A part of a MIG instance, in bytes. */
  public static HeldDevice instanceShare(
      String uuid,
      String profile,
      MigProfile.Placement placement,
      long memoryBytes) {
    return new HeldDevice(uuid, Kind.MigShare, memoryBytes, null, profile, placement);
  }

  /** A MIG instance. */
  public static HeldDevice instance(String uuid, String profile, MigProfile.Placement placement) {
    return new HeldDevice(uuid, Kind.Mig, null, null, profile, placement);
  }
}
