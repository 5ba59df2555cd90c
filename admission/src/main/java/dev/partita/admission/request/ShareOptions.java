package dev.partita.admission.request;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The fields of a GpuShareConfig that a pod's own way of asking says something about, as a user would write them. What
 * it says nothing about is left out, and takes its default where the config is read.
 *
 * @param coreLimit {@code Hard}, {@code Soft} or {@code None}
 * @param priority 0 or 1
 * @param memoryLimit bytes up to which the share may grow while no claim needs them
 * @param placement value by field: {@code nodes}, {@code gpus}, {@code numa}, {@code nvlink}
 */
public record ShareOptions(
    Optional<String> coreLimit,
    OptionalInt priority,
    OptionalLong memoryLimit,
    SortedMap<String, String> placement) {
  /** Nothing but defaults. */
  public static final ShareOptions NONE =
      new ShareOptions(Optional.empty(), OptionalInt.empty(), OptionalLong.empty(), new TreeMap<>());

  public ShareOptions {
    placement = Collections.unmodifiableSortedMap(new TreeMap<>(placement));
  }

  public ShareOptions withCoreLimit(String limit) {
    return new ShareOptions(Optional.of(limit), priority, memoryLimit, placement);
  }

  public ShareOptions withPriority(int level) {
    return new ShareOptions(coreLimit, OptionalInt.of(level), memoryLimit, placement);
  }

  public ShareOptions withMemoryLimit(long bytes) {
    return new ShareOptions(coreLimit, priority, OptionalLong.of(bytes), placement);
  }

  /** Without what means nothing for what is held by no library: a whole card, a MIG instance, a turn. */
  public ShareOptions ofUnlimited() {
    return placed(placement);
  }

  public static ShareOptions placed(Map<String, String> placement) {
    return new ShareOptions(Optional.empty(), OptionalInt.empty(), OptionalLong.empty(), new TreeMap<>(placement));
  }
}
