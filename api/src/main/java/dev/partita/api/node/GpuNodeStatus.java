package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.resize.AskedSize;
import dev.partita.api.resize.GrantedSize;
import dev.partita.api.resize.NodeResizes;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
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
 * @param held what the node holds for claims that no longer say so themselves; nobody else gets it
 * @param grantedSizes of shares that were resized, by shareID; the controller writes them
 * @param askedSizes that owners of claims asked for, by claim; the controller writes them
 * @param otherDrivers what claims have of the cards by other DRA drivers; the controller writes it
 * @param bindingClaims of which pods are bound once their MIG instances are made; the controller writes it
 * @param setup how the node is set up; null where the plugin is of a release that does not say
 * @param conditions {@link GpuNode#READY} says whether the cards can be handed out, and why not
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuNodeStatus(
    @JsonPropertyDescription("How many cards there are.") @Min(0) @Max(Integer.MAX_VALUE) int gpuCount,
    @JsonPropertyDescription("Models of the cards and how many there are of each, such as 4x h200.") String models,
    @JsonPropertyDescription("Version of the driver, such as 580.95.05.") @Nullable String driverVersion,
    @JsonPropertyDescription("The newest CUDA that the driver can run, such as 13.0.")
    @Nullable String cudaDriverVersion,
    @JsonPropertyDescription("Version of the plugin that wrote this.") @Nullable String pluginVersion,
    @JsonPropertyDescription("UID of the pod of that plugin.") @Nullable String pluginPodUid,
    @JsonPropertyDescription("The cards, by index.") List<Gpu> gpus,
    @JsonPropertyDescription("What the node holds for claims that no longer say so themselves. Nobody else gets it.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<HeldClaim> held,
    @JsonPropertyDescription("Sizes of shares that were resized, which the controller has granted.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<GrantedSize> grantedSizes,
    @JsonPropertyDescription("Sizes that owners of claims asked for, once the controller has answered.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<AskedSize> askedSizes,
    @JsonPropertyDescription("Devices of other DRA drivers that are one of the cards, or a part of it, and that claims have. New claims of Partita's are kept off these cards. The controller writes it.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<OtherDriverDevice> otherDrivers,
    @JsonPropertyDescription("Claims of which kube-scheduler binds the pods only once the node has made their MIG instances. The controller writes it.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<BindingClaim> bindingClaims,
    @JsonPropertyDescription("How the node is set up, as far as the plugin sees it.") @Nullable NodeSetup setup,
    @JsonPropertyDescription("Ready says whether the cards can be handed out, and why not.") List<Condition> conditions) {

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public GpuNodeStatus {
    models = models == null ? "" : models;
    gpus = gpus == null ? List.of() : List.copyOf(gpus);
    held = held == null ? List.of() : List.copyOf(held);
    grantedSizes = grantedSizes == null ? List.of() : List.copyOf(grantedSizes);
    askedSizes = askedSizes == null ? List.of() : List.copyOf(askedSizes);
    otherDrivers = otherDrivers == null ? List.of() : List.copyOf(otherDrivers);
    bindingClaims = bindingClaims == null ? List.of() : List.copyOf(bindingClaims);
    conditions = conditions == null ? List.of() : List.copyOf(conditions);
  }

  /** A node that holds nothing but what claims were allocated. */
  public GpuNodeStatus(
      int gpuCount,
      String models,
      @Nullable String driverVersion,
      @Nullable String cudaDriverVersion,
      @Nullable String pluginVersion,
      @Nullable String pluginPodUid,
      List<Gpu> gpus,
      List<Condition> conditions) {
    this(gpuCount, models, driverVersion, cudaDriverVersion, pluginVersion, pluginPodUid, gpus, List.of(), List.of(),
        List.of(), List.of(), List.of(), null, conditions);
  }

  /** The same with other conditions. */
  public GpuNodeStatus withConditions(List<Condition> others) {
    return with(held, resizes(), otherDrivers, bindingClaims, setup, others);
  }

  /** The same with that to hold. */
  public GpuNodeStatus withHeld(List<HeldClaim> others) {
    return with(others, resizes(), otherDrivers, bindingClaims, setup, conditions);
  }

  /** What the controller tells of shares that are resized. */
  @JsonIgnore
  public NodeResizes resizes() {
    return new NodeResizes(grantedSizes, askedSizes);
  }

  /** The same with other resizes. */
  public GpuNodeStatus withResizes(NodeResizes others) {
    return with(held, others, otherDrivers, bindingClaims, setup, conditions);
  }

  /** The same with another setup. */
  public GpuNodeStatus withSetup(@Nullable NodeSetup other) {
    return with(held, resizes(), otherDrivers, bindingClaims, other, conditions);
  }

  /** The same where claims have that by other DRA drivers. */
  public GpuNodeStatus withOtherDrivers(List<OtherDriverDevice> others) {
    return with(held, resizes(), others, bindingClaims, setup, conditions);
  }

  /** The same where the pods of those claims wait to be bound. */
  public GpuNodeStatus withBindingClaims(List<BindingClaim> others) {
    return with(held, resizes(), otherDrivers, others, setup, conditions);
  }

  private GpuNodeStatus with(
      List<HeldClaim> holds,
      NodeResizes sizes,
      List<OtherDriverDevice> others,
      List<BindingClaim> binding,
      @Nullable NodeSetup state,
      List<Condition> says) {
    return new GpuNodeStatus(
        gpuCount, models, driverVersion, cudaDriverVersion, pluginVersion, pluginPodUid, gpus, holds, sizes.granted(),
        sizes.asked(), others, binding, state, says);
  }

  /** Whether the plugin makes MIG instances before the pods that they are for are bound. */
  @JsonIgnore
  public boolean makesInstancesEarly() {
    return setup != null && setup.makesInstancesEarly();
  }

  /** The other DRA drivers by which claims have the card of that UUID, or a part of it; by name. */
  public List<String> otherDriversOf(String uuid) {
    return otherDrivers.stream().filter(device -> device.uuid().equals(uuid)).map(OtherDriverDevice::driver).distinct()
        .sorted().toList();
  }

  /** Whether the plugin says that the cards can be handed out. */
  @JsonIgnore
  public boolean isReady() {
    return conditions.stream().anyMatch(c -> GpuNode.READY.equals(c.getType()) && "True".equals(c.getStatus()));
  }
}
