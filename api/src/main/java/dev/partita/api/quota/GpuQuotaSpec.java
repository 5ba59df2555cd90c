package dev.partita.api.quota;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.LabelSelector;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Who may have how much.
 *
 * @param namespaceSelector the namespaces that share this quota; an empty one selects all, null none
 * @param limits each holds by itself
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuQuotaSpec(
    @JsonPropertyDescription("The namespaces that share this quota, by their labels. An empty selector selects all; none at all selects none.")
    @Nullable LabelSelector namespaceSelector,
    @JsonPropertyDescription("What they may have together. Each limit holds by itself.") List<Limit> limits) {
  public static final GpuQuotaSpec NOBODY = new GpuQuotaSpec(null, List.of());

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public GpuQuotaSpec {
    limits = limits == null ? List.of() : List.copyOf(limits);
  }

  /**
   * A limit on what the namespaces have of some cards.
   *
   * @param name for people, in reasons and in the status
   * @param models the cards that count, by the short name of their model; all if empty
   * @param nodeSelector the nodes whose cards count, by their labels; null for all
   * @param guaranteed what the namespaces may always have, if need be by the eviction of others that borrow
   * @param burst what they may have beyond that as long as nobody who has it guaranteed needs it
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Limit(
      @JsonPropertyDescription("A name for people, in reasons and in the status.") String name,
      @JsonPropertyDescription("The cards that count, by the short name of their model, such as h200; all if empty.") List<String> models,
      @JsonPropertyDescription("The nodes whose cards count, by their labels; all if there is none.")
      @Nullable LabelSelector nodeSelector,
      @JsonPropertyDescription("What the namespaces may always have together. What is not named is not limited, unless burst names it.") Amounts guaranteed,
      @JsonPropertyDescription("What they may have beyond what is guaranteed: it is reclaimed by preemption when somebody needs what is guaranteed to him.") Amounts burst) {
    @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
    public Limit {
      name = name == null ? "" : name;
      models = models == null ? List.of() : List.copyOf(models);
      guaranteed = guaranteed == null ? Amounts.UNLIMITED : guaranteed;
      burst = burst == null ? Amounts.UNLIMITED : burst;
    }
  }
}
