package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Knobs of one node.
 *
 * @param allocator who allocates this node's devices
 * @param publish the modes in which each card is offered
 * @param reservedMemory memory a card that is not sold, for the driver's own use; null means none
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuNodeSpec(
    @JsonPropertyDescription("Who allocates this node's devices: Partita's controller, or kube-scheduler.")
        @Default("Controller")
        Allocator allocator,
    @JsonPropertyDescription("The modes in which each card is offered; Whole and Shared if empty.") List<PublishedMode> publish,
    @JsonPropertyDescription("Memory a card that is kept out of what is sold, for the driver's own use.")
        @Nullable Quantity reservedMemory) {

  public static final GpuNodeSpec DEFAULT = new GpuNodeSpec(Allocator.Controller, List.of(), null);

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public GpuNodeSpec {
    allocator = allocator == null ? Allocator.Controller : allocator;
    publish = publish == null ? List.of() : List.copyOf(publish);
  }

  /** The modes in which each card is offered: those in {@link #publish}, or all. */
  public List<PublishedMode> publishedModes() {
    return publish.isEmpty() ? List.of(PublishedMode.values()) : publish;
  }

  /** Bytes a card that are not sold. */
  public long reservedMemoryBytes() {
    return reservedMemory == null ? 0 : reservedMemory.getNumericalAmount().longValue();
  }

  /** Who allocates a node's devices. The constants are spelt as a user writes them. */
  public enum Allocator {
    Controller,
    Scheduler
  }

  /** A mode in which a card is offered. The constants are spelt as a user writes them. */
  public enum PublishedMode {
    Whole,
    Shared
  }
}
