package dev.partita.plugin.allocation;

import dev.partita.api.Bytes;
import dev.partita.api.Amount;
import dev.partita.api.Driver;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.device.CapacityName;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.resize.ShareSize;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.plugin.grant.BookedShare;
import dev.partita.plugin.grant.CardUse;
import dev.partita.plugin.grant.ExclusiveShare;
import dev.partita.plugin.grant.Growth;
import dev.partita.plugin.grant.HookedShare;
import dev.partita.plugin.grant.InstanceShare;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.grant.Mps;
import dev.partita.plugin.grant.Share;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;

/**
 * Reads what a result for a shared device gives of its card: the capacity that is consumed, under the terms of its
 * config.
 */
final class ShareDecoder {
  private ShareDecoder() {}

  /**
   * Reads one result. A share that has its card alone may hold on it what is allocated to the share, as far as the card
   * has that for shares: where the node offers more than its cards have, nobody else needs the rest.
   *
   * @param resized what a resize has given it in the place of what it was allocated
   * @param strategy whether the share has its card alone, or by MPS
   * @param node the node's settings: what of a card a share of all its memory gets
   * @return of a refusal a text that goes on where one ends that begins with the device
   */
  static Part<CardUse> read(
      DeviceRequestAllocationResult result,
      Optional<ShareSize> resized,
      SharingStrategy strategy,
      GpuShareConfig config,
      Gpu gpu,
      GpuNodeSpec node) {
    Map<String, Quantity> consumed = result.getConsumedCapacity() == null ? Map.of() : result.getConsumedCapacity();
    long allocatable = node.allocatableBytes(gpu);
    long most = Math.max(gpu.memoryBytes(), allocatable);
    BigDecimal bytes;
    BigDecimal percent;
    try {
      bytes = resized.map(size -> BigDecimal.valueOf(size.memoryBytes()))
          .or(() -> capacity(consumed, CapacityName.MEMORY)).orElse(BigDecimal.valueOf(allocatable));
      percent = resized.map(size -> BigDecimal.valueOf(size.cores()))
          .or(() -> capacity(consumed, CapacityName.CORES)).orElse(BigDecimal.ZERO);
    } catch (IllegalArgumentException e) {
      return new Part.Refused<>(" has a capacity allocated that is no amount: " + e.getMessage());
    }
    if (bytes.compareTo(BigDecimal.ONE) < 0 || bytes.compareTo(BigDecimal.valueOf(most)) > 0) {
      return new Part.Refused<>(" has " + bytes + " bytes of memory allocated, the card has " + most
          + "; if the node offered more than that when it was allocated (spec.memoryPercent of its GpuNode), offer as much again, or make the pod anew");
    }
    boolean all = bytes.compareTo(BigDecimal.valueOf(allocatable)) >= 0;
    if (config.memoryPercent().orElse(100) < 100 && all) {
      return new Part.Refused<>(
          " has all of the card's memory allocated, and its config asks for " + config.memoryPercent().getAsInt()
              + " percent: kube-scheduler allocated it, which knows no memoryPercent; ask for an amount, or have the controller allocate on this node");
    }
    Optional<String> unknown = strategy.fieldUnknownToScheduler(all);
    if (unknown.isPresent() && node.allocator() == Allocator.Scheduler) {
      return new Part.Refused<>(
          strategy instanceof SharingStrategy.Mps
              ? ", by its config, is to be shared by MPS: kube-scheduler allocated it, which knows no " + unknown.get()
                  + "; have the controller allocate on this node"
              : " has a part of the card's memory allocated, and its config asks for a card of its own: kube-scheduler allocated it, which knows no "
                  + unknown.get() + "; ask for no amount, or have the controller allocate on this node");
    }
    if (percent.signum() < 0 || percent.compareTo(BigDecimal.valueOf(100)) > 0) {
      return new Part.Refused<>(" has " + percent + " cores allocated, a card has 100");
    }
    long allocated = bytes.longValue();
    long memory = Math.min(Bytes.percentOf(allocated, config.oversubscribe()), Share.MOST_BYTES);
    long part = node.physicalBytes(allocated);
    if (strategy instanceof SharingStrategy.BookedShare) {
      return new Part.Granted<>(new BookedShare(memory, Math.clamp(part, 1, memory), percent.intValue()));
    }
    boolean alone = strategy instanceof SharingStrategy.ExclusiveShare;
    if (alone) {
      part = Math.max(part, Math.min(allocated, node.physicalBytes(allocatable)));
    }
    boolean byMps = strategy instanceof SharingStrategy.Mps;
    Share share =
        new Share(memory, Math.clamp(part, 1, memory), percent.intValue(), byMps ? CoreLimit.NONE : config.coreLimit(),
            config.priority(), resized, part == memory ? growth(config, memory) : Optional.empty());
    return new Part.Granted<>(alone ? new ExclusiveShare(share) : byMps ? new Mps(share) : new HookedShare(share));
  }

  /**
   * Reads one result for a share of a MIG instance, of which there is memory alone.
   *
   * @param uuid the instance's
   */
  static Part<CardUse> ofInstance(DeviceRequestAllocationResult result, MigInstance instance, String uuid) {
    Map<String, Quantity> consumed = result.getConsumedCapacity() == null ? Map.of() : result.getConsumedCapacity();
    BigDecimal bytes;
    try {
      bytes = capacity(consumed, CapacityName.MEMORY).orElse(BigDecimal.valueOf(instance.memoryBytes()));
    } catch (IllegalArgumentException e) {
      return new Part.Refused<>(" has a capacity allocated that is no amount: " + e.getMessage());
    }
    if (bytes.compareTo(BigDecimal.ONE) < 0 || bytes.compareTo(BigDecimal.valueOf(instance.memoryBytes())) > 0) {
      return new Part.Refused<>(
          " has " + bytes + " bytes of memory allocated, the MIG instance has " + instance.memoryBytes());
    }
    if (consumed.containsKey(CapacityName.CORES)) {
      return new Part.Refused<>(" has cores allocated, which there are not of a MIG instance's shares");
    }
    Share share = new Share(bytes.longValue(), 0, CoreLimit.NONE, GpuShareConfig.DEFAULT.priority());
    return new Part.Granted<>(new InstanceShare(instance, uuid, share));
  }

  private static Optional<Growth> growth(GpuShareConfig config, long memory) {
    long most = Math.min(config.memoryLimit().orElse(0), Share.MOST_BYTES);
    return most > memory ? Optional.of(new Growth(most, 0)) : Optional.empty();
  }

  private static Optional<BigDecimal> capacity(Map<String, Quantity> consumed, String name) {
    Quantity quantity = consumed.getOrDefault(name, consumed.get(Driver.NAME + "/" + name));
    return quantity == null ? Optional.empty() : Optional.of(Amount.of(quantity));
  }
}
