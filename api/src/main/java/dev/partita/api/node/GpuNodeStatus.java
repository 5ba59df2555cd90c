package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.kubernetes.api.model.Condition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the node's plugin found.
 *
 * @param gpuCount how many cards there are
 * @param models the cards' models with their counts, for people: {@code "4x h200"}
 * @param driverVersion the driver's own version, such as 580.95.05; null without a driver
 * @param cudaDriverVersion the newest CUDA that the driver can run, such as 13.0; null without a driver
 * @param pluginVersion version of the plugin that wrote this
 * @param pluginPodUid UID of the pod that wrote this; null where the plugin does not run in a pod
 * @param gpus the cards, by index
 * @param conditions {@link GpuNode#READY} says whether the cards can be handed out, and why not
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuNodeStatus(
    int gpuCount,
    String models,
    @Nullable String driverVersion,
    @Nullable String cudaDriverVersion,
    @Nullable String pluginVersion,
    @Nullable String pluginPodUid,
    @JsonPropertyDescription("The cards, by index.") List<Gpu> gpus,
    List<Condition> conditions) {

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public GpuNodeStatus {
    models = models == null ? "" : models;
    gpus = gpus == null ? List.of() : List.copyOf(gpus);
    conditions = conditions == null ? List.of() : List.copyOf(conditions);
  }

  /** Whether the plugin says that the cards can be handed out. */
  @JsonIgnore
  public boolean isReady() {
    return conditions.stream().anyMatch(c -> GpuNode.READY.equals(c.getType()) && "True".equals(c.getStatus()));
  }
}
