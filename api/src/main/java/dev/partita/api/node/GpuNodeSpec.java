package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.MigProfile;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigInteger;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Knobs of one node.
 *
 * @param allocator who allocates this node's devices
 * @param publish the modes in which each card is offered
 * @param reservedMemory memory of each card that is kept from shares, besides what the driver keeps for itself; null
 *        means what the node's plugin was told
 * @param memoryPercent how much memory shares can have, in percent of what each card has for them, from 100 to 1000;
 *        null means 100. Beyond 100 a share holds only its part of the card, and the rest of its memory is managed
 *        memory, which moves between card and host
 * @param withhold UUIDs of cards that are not offered to anybody, in no mode; what is allocated of them already stays
 *        so
 * @param cordoned UUIDs of cards that new claims are kept off, as cordoned nodes keep off pods: their devices have the
 *        taint {@link Driver#CORDON_TAINT}, which a claim may tolerate; what is allocated of them already stays so
 * @param evictFrom reasons of a card's health for which pods that have the card are evicted, as the status has them;
 *        {@value #ANY_XID} means every XID error. Otherwise an unhealthy card only gets no new claims
 * @param lending how memory that no claim has is lent to shares that may grow; null means {@link Lending#DEFAULT}
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuNodeSpec(
    @JsonPropertyDescription("Who allocates this node's devices: Partita's controller, or kube-scheduler.")
    @Default("Controller")
    @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE) Allocator allocator,
    @JsonPropertyDescription("The modes in which each card is offered; Whole and Shared if empty. Mig needs a plugin that may make MIG instances; MigShared offers shares of instances that somebody else made.")
    @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE) List<PublishedMode> publish,
    @JsonPropertyDescription("Memory of each card that is kept from shares, besides what the driver keeps for itself; what the plugin was told if empty.")
    @Nullable Quantity reservedMemory,
    @JsonPropertyDescription("How much memory shares can have, in percent of what each card has for them. Beyond 100 a share holds only its part of the"
        + " card; the rest of its memory moves between card and host. 100 if empty.")
    @Min(100)
    @Max(1000)
    @Nullable Integer memoryPercent,
    @JsonPropertyDescription("UUIDs of cards that are not offered to anybody, as status.gpus has them. What claims have of them already stays theirs.") List<String> withhold,
    @JsonPropertyDescription("UUIDs of cards that new claims are kept off, unless they tolerate the taint gpu.partita.dev/cordoned. What claims have of them"
        + " already stays theirs.")
    @Size(max = MOST_CORDONED) List<String> cordoned,
    @JsonPropertyDescription("Reasons of a card's health for which pods that have the card are evicted, as status.gpus has them; XID means every XID error."
        + " Nobody is evicted if empty.")
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> evictFrom,
    @JsonPropertyDescription("How memory that no claim has is lent to shares that may grow (memoryLimit of a GpuShareConfig).")
    @Nullable Lending lending) {
  /** In {@link #evictFrom}: every XID error. */
  public static final String ANY_XID = "XID";

  /** How many cards may be cordoned: more than a node has. */
  public static final int MOST_CORDONED = 64;

  /**
   * What is offered where nothing else is said. MIG must be asked for: it changes what the card can be used for
   * meanwhile.
   */
  public static final List<PublishedMode> DEFAULT_MODES = List.of(PublishedMode.Whole, PublishedMode.Shared);

  public static final GpuNodeSpec DEFAULT = new GpuNodeSpec(Allocator.Controller, List.of(), null);

  /** A node that offers no more memory than its cards have. */
  public GpuNodeSpec(Allocator allocator, List<PublishedMode> publish, @Nullable Quantity reservedMemory) {
    this(allocator, publish, reservedMemory, null);
  }

  /** A node that offers all its cards. */
  public GpuNodeSpec(
      Allocator allocator,
      List<PublishedMode> publish,
      @Nullable Quantity reservedMemory,
      @Nullable Integer memoryPercent) {
    this(allocator, publish, reservedMemory, memoryPercent, List.of());
  }

  /** A node of which no card is cordoned, and from whose cards nobody is evicted. */
  public GpuNodeSpec(
      Allocator allocator,
      List<PublishedMode> publish,
      @Nullable Quantity reservedMemory,
      @Nullable Integer memoryPercent,
      List<String> withhold) {
    this(allocator, publish, reservedMemory, memoryPercent, withhold, List.of(), List.of(), null);
  }

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public GpuNodeSpec {
    allocator = allocator == null ? Allocator.Controller : allocator;
    publish = publish == null ? List.of() : List.copyOf(publish);
    withhold = withhold == null ? List.of() : List.copyOf(withhold);
    cordoned = cordoned == null ? List.of() : List.copyOf(cordoned);
    evictFrom = evictFrom == null ? List.of() : List.copyOf(evictFrom);
  }

  /** The modes in which each card is offered: those in {@link #publish}, or {@link #DEFAULT_MODES}. */
  public List<PublishedMode> publishedModes() {
    return publish.isEmpty() ? DEFAULT_MODES : publish;
  }

  /**
   * How much memory shares can have, in percent of what each card has for them; what is out of bounds counts as the
   * nearest bound.
   */
  public int allocatablePercent() {
    return memoryPercent == null ? 100 : Math.clamp(memoryPercent, 100, 1000);
  }

  /**
   * What of a share's memory is the card's own, in bytes: all of it, unless the node offers more than its cards have.
   */
  public long physicalBytes(long shareBytes) {
    return allocatablePercent() == 100
        ? shareBytes
        : BigInteger.valueOf(shareBytes).multiply(BigInteger.valueOf(100))
            .divide(BigInteger.valueOf(allocatablePercent()))
            .longValue();
  }

  /** How memory that no claim has is lent. A node that offers more than its cards have lends none. */
  public Lending loans() {
    return allocatablePercent() > 100 ? new Lending(0, null) : lending == null ? Lending.DEFAULT : lending;
  }

  /** Whether pods are evicted from a card that is unhealthy for that reason. */
  public boolean evictsFrom(String reason) {
    return evictFrom.contains(reason) || (evictFrom.contains(ANY_XID) && reason.startsWith(ANY_XID + " "));
  }

  /** Bytes a card that {@link #reservedMemory} says; 0 if it says nothing. */
  public long reservedMemoryBytes() {
    return reservedMemory == null ? 0 : reservedMemory.getNumericalAmount().longValue();
  }

  /**
   * The memory of a card that shares can be made of, in bytes: without what the driver keeps, and without what this
   * spec or, where it says nothing, the node's plugin reserves besides, and as many percent of that as the node offers.
   * Never negative.
   */
  public long allocatableBytes(Gpu gpu) {
    long driver = gpu.reserved() == null ? 0 : gpu.reserved().driverBytes();
    long besides =
        reservedMemory != null ? reservedMemoryBytes() : gpu.reserved() == null ? 0 : gpu.reserved().configuredBytes();
    long own = Math.max(0, gpu.memoryBytes() - Math.max(0, driver) - Math.max(0, besides));
    return Bytes.percentOf(own, allocatablePercent());
  }

  /**
   * The memory of a MIG instance that shares can be made of, in bytes: without its part of what this spec or, where it
   * says nothing, the node's plugin reserves of the card. The node offers no more of it than there is.
   */
  public long allocatableBytes(Gpu gpu, MigProfile instance) {
    long besides =
        reservedMemory != null ? reservedMemoryBytes() : gpu.reserved() == null ? 0 : gpu.reserved().configuredBytes();
    long reserved = BigInteger.valueOf(Math.max(0, besides)).multiply(BigInteger.valueOf(instance.memoryBytes()))
        .divide(BigInteger.valueOf(Math.max(1, gpu.memoryBytes()))).min(BigInteger.valueOf(instance.memoryBytes()))
        .longValue();
    return Math.max(0, instance.memoryBytes() - reserved);
  }

  /** Whether shares of static MIG instances are offered: an administrator has to ask for that. */
  public boolean publishesInstanceShares() {
    return allocator == Allocator.Controller && publish.contains(PublishedMode.MigShared);
  }

  /** Who allocates a node's devices. The constants are spelt as a user writes them. */
  public enum Allocator {
    Controller,
    Scheduler,
    /** One that only a newer release knows: nothing of the node is offered. */
    @JsonEnumDefaultValue
    @JsonIgnore Unknown
  }

  /** A mode in which a card is offered. The constants are spelt as a user writes them. */
  public enum PublishedMode {
    Whole,
    Shared,
    /** As MIG instances, of every profile at every placement that the plugin reports that it can make. */
    Mig,
    /**
     * As MIG instances that somebody else has made, to take shares of, besides each instance as a whole; nothing on
     * other cards, and nothing where kube-scheduler allocates.
     */
    MigShared,
    /** One that only a newer release knows: nothing is offered in it. */
    @JsonEnumDefaultValue
    @JsonIgnore Unknown
  }
}
