package dev.partita.api.quota;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the namespaces have.
 *
 * @param namespaces how many namespaces are selected
 * @param used what they have of all cards together
 * @param fullest the limit of which the largest part is used, for people: {@code "h200: 40 GiB of 40 GiB memory"};
 *        empty if nothing is limited
 * @param limits what they have of the cards that each limit counts, in the order of the spec
 * @param problem why the spec has no effect, or not all of it; empty if it is in order
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuQuotaStatus(
    @JsonPropertyDescription("How many namespaces are selected.") @Min(0) @Max(Integer.MAX_VALUE) int namespaces,
    @JsonPropertyDescription("What they have of all cards together.") @Nullable Amounts used,
    @JsonPropertyDescription("The limit of which the largest part is used, such as h200: 40 GiB of 40 GiB memory.") String fullest,
    @JsonPropertyDescription("What they have of the cards that each limit counts.") List<LimitUse> limits,
    @JsonPropertyDescription("Why the spec has no effect, or not all of it.") String problem) {
  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public GpuQuotaStatus {
    fullest = fullest == null ? "" : fullest;
    limits = limits == null ? List.of() : List.copyOf(limits);
    problem = problem == null ? "" : problem;
  }

  /**
   * What is used of a limit.
   *
   * @param name the limit's
   * @param borrows whether it is more than what is guaranteed
   */
  public record LimitUse(
      @JsonPropertyDescription("The limit's name.") String name,
      @JsonPropertyDescription("What they have of the cards that it counts.") Amounts used,
      @JsonPropertyDescription("Whether that is more than what is guaranteed.") boolean borrows) {}
}
