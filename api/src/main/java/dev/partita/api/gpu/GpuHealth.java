package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a card can be used, and why not: {@code Unhealthy} for {@code XID 79}, for example.
 *
 * @param state what is known
 * @param reason a few words for machines, such as {@code GpuIsLost} or {@code XID 79}; null when healthy
 * @param message for people; null when healthy
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuHealth(
    @JsonPropertyDescription("Whether new claims get it.")
    @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE) State state,
    @JsonPropertyDescription("Why it is unhealthy, in a word, such as GpuIsLost or XID 79.") @Nullable String reason,
    @JsonPropertyDescription("The same in a sentence.") @Nullable String message) {
  public static final GpuHealth HEALTHY = new GpuHealth(State.Healthy, null, null);

  public static GpuHealth unhealthy(String reason, String message) {
    return new GpuHealth(State.Unhealthy, reason, message);
  }

  /** The constants are spelt as they are in the status. What is not known here may be anything but healthy. */
  public enum State {
    Healthy,
    @JsonEnumDefaultValue Unhealthy
  }
}
