package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where in its node a card is plugged in, and which cards its NVLinks lead to.
 *
 * @param pciBusId domain:bus:device.function, such as 0000:1b:00.0; null if not known
 * @param pcieRoot PCIe root complex, such as pci0000:17; null if not known
 * @param numaNode NUMA node; null if not known
 * @param nvlinkDomain cards with the same value reach each other over NVLink; null without NVLink
 * @param nvlinkPeers cards of the node to which its NVLinks lead directly; none where they all lead to switches, over
 *        which every card of the domain is as near as any other
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record GpuTopology(
    @Nullable String pciBusId,
    @Nullable String pcieRoot,
    @Nullable Integer numaNode,
    @Nullable String nvlinkDomain,
    List<NvlinkPeer> nvlinkPeers) {
  /** Nothing is known of it. */
  public static final GpuTopology UNKNOWN = new GpuTopology(null, null, null, null, List.of());

  public GpuTopology {
    nvlinkPeers = List.copyOf(nvlinkPeers);
  }

  /** A card from which no NVLink leads directly to another card. */
  public GpuTopology(
      @Nullable String pciBusId,
      @Nullable String pcieRoot,
      @Nullable Integer numaNode,
      @Nullable String nvlinkDomain) {
    this(pciBusId, pcieRoot, numaNode, nvlinkDomain, List.of());
  }
}
