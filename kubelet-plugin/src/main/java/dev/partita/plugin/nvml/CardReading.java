package dev.partita.plugin.nvml;

import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.MigProfile;
import java.util.List;
import java.util.Optional;

/**
 * All cards at one moment.
 *
 * @param driverVersion such as 580.95.05
 * @param cudaDriverVersion such as 13.0; empty if the driver does not tell
 * @param cards the cards that answered, by NVML's index
 * @param faults the cards that did not
 */
public record CardReading(
    String driverVersion,
    Optional<String> cudaDriverVersion,
    List<Card> cards,
    List<Fault> faults) {

  public CardReading {
    cards = List.copyOf(cards);
    faults = List.copyOf(faults);
  }

  /**
   * One card.
   *
   * @param index NVML's index at this moment
   * @param uuid {@code GPU-…}
   * @param minor of /dev/nvidia&lt;minor&gt;
   * @param limitsMemory whether the driver can limit what of its memory a cgroup has
   * @param signs of its health
   */
  public record Card(
      int index,
      String uuid,
      int minor,
      GpuProduct product,
      Memory memory,
      Topology topology,
      Mig mig,
      boolean limitsMemory,
      CardSigns signs) {}

  /**
   * A card's memory.
   *
   * @param bytes all of it
   * @param reservedBytes what of it the driver keeps for itself; 0 if it does not tell
   */
  public record Memory(long bytes, long reservedBytes) {}

  /**
   * Where a card is plugged in, as far as NVML knows.
   *
   * @param pciBusId 0000:1b:00.0; empty if the driver does not tell
   * @param nvlink what its active NVLinks lead to
   */
  public record Topology(Optional<String> pciBusId, Optional<Integer> numaNode, Nvlink nvlink) {}

  /**
   * A card's NVLink connections.
   *
   * @param fabric cluster and clique of a multi-node fabric, if the card is part of one
   * @param toSwitch whether an active link leads to an NVSwitch
   * @param peers PCI bus ids of the cards that active links lead to, one for each link
   */
  public record Nvlink(Optional<String> fabric, boolean toSwitch, List<String> peers) {
    public static final Nvlink NONE = new Nvlink(Optional.empty(), false, List.of());

    public Nvlink {
      peers = List.copyOf(peers);
    }
  }

  /**
   * A card's part in MIG.
   *
   * @param profiles which instances can be made of it
   * @param on whether its MIG mode is on
   * @param instances which there are of it, by whomever; empty if the driver does not tell
   */
  public record Mig(List<MigProfile> profiles, boolean on, Optional<List<MigControl.GpuInstance>> instances) {
    /** That of a card that cannot do it. */
    public static final Mig NONE = new Mig(List.of(), false, Optional.of(List.of()));

    public Mig {
      profiles = List.copyOf(profiles);
      instances = instances.map(List::copyOf);
    }
  }

  /** A card that did not answer. */
  public record Fault(int index, int code, String message) {}
}
