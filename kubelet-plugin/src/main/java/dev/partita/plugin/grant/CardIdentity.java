package dev.partita.plugin.grant;

import dev.partita.api.gpu.Gpu;
import java.util.Comparator;
import java.util.Optional;

/**
 * The card behind a device, as it was when the claim was prepared.
 *
 * @param index of the card on the node
 * @param minor of /dev/nvidia&lt;minor&gt;; -1 of an opaque card
 * @param uuid {@code GPU-…}, or {@code OPAQUE-…}
 * @param productName such as "NVIDIA H200"
 * @param memoryBytes the card's whole memory
 * @param pciBusId such as 0000:1b:00.0
 */
public record CardIdentity(
    int index,
    int minor,
    String uuid,
    String productName,
    long memoryBytes,
    Optional<String> pciBusId) {

  /** CUDA's order with CUDA_DEVICE_ORDER=PCI_BUS_ID, and the usual one among equal cards. */
  public static final Comparator<CardIdentity> CUDA_ORDER =
      Comparator.comparing((CardIdentity card) -> card.pciBusId().orElse("~")).thenComparingInt(CardIdentity::index);

  public static CardIdentity of(Gpu gpu) {
    return new CardIdentity(
        gpu.index(), gpu.minor(), gpu.uuid(), gpu.productName(), gpu.memoryBytes(),
        Optional.ofNullable(gpu.pciBusId()));
  }
}
