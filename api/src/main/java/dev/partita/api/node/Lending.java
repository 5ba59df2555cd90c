package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.partita.api.Bytes;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a node lends memory of its cards that no claim has to shares that may grow (memoryLimit of a GpuShareConfig).
 *
 * @param memoryPercent how much of what no claim has is lent, 0 to 100; null means all
 * @param graceSeconds how long who has been lent memory may hold it after it is asked back, before its processes are
 *        killed; null means 30
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Lending(
    @JsonPropertyDescription("How much of the memory that no claim has is lent, in percent. 100 if empty, 0 lends none.")
    @Min(0)
    @Max(100)
    @Nullable Integer memoryPercent,
    @JsonPropertyDescription("How long processes may hold lent memory after it is asked back, in seconds. Then they are killed. 30 if empty.")
    @Min(1)
    @Max(3600)
    @Nullable Integer graceSeconds) {
  /** Kubelet waits 45 s for a claim to be prepared, so that a loan comes back while it waits. */
  private static final int DEFAULT_GRACE = 30;

  private static final int LONGEST_GRACE = 3600;

  public static final Lending DEFAULT = new Lending(null, null);

  /** How much is lent of so many bytes. */
  public long lent(long bytes) {
    return Bytes.percentOf(bytes, memoryPercent == null ? 100 : Math.clamp(memoryPercent, 0, 100));
  }

  /** How long lent memory may be held after it is asked back. */
  public Duration grace() {
    return Duration.ofSeconds(graceSeconds == null ? DEFAULT_GRACE : Math.clamp(graceSeconds, 1, LONGEST_GRACE));
  }
}
