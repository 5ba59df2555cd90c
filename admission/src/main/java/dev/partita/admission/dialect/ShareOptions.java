package dev.partita.admission.dialect;

import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The fields of a GpuShareConfig that a pod's own way of asking says something about, as a user would write them. What
 * it says nothing about is left out, and takes its default where the config is read.
 *
 * @param coreLimit {@code Hard}, {@code Soft} or {@code None}
 * @param priority 0 or 1
 * @param placement value by field: {@code nodes}, {@code gpus}, {@code numa}, {@code nvlink}
 */
public record ShareOptions(Optional<String> coreLimit, OptionalInt priority, SortedMap<String, String> placement) {
  /** Nothing but defaults. */
  public static final ShareOptions NONE = new ShareOptions(Optional.empty(), OptionalInt.empty(), new TreeMap<>());

  public ShareOptions {
    placement = Collections.unmodifiableSortedMap(new TreeMap<>(placement));
  }

  ShareOptions withCoreLimit(String limit) {
    return new ShareOptions(Optional.of(limit), priority, placement);
  }

  ShareOptions withPriority(int level) {
    return new ShareOptions(coreLimit, OptionalInt.of(level), placement);
  }

  /** Without what means nothing for a card that is not shared. */
  ShareOptions ofWholeCards() {
    return new ShareOptions(Optional.empty(), OptionalInt.empty(), placement);
  }

  static ShareOptions placed(Map<String, String> placement) {
    return new ShareOptions(Optional.empty(), OptionalInt.empty(), new TreeMap<>(placement));
  }
}
