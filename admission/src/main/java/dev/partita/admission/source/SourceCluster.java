package dev.partita.admission.source;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * What is known of the cluster whose pods are read, where it changes what these mean.
 *
 * @param cardMemory bytes of a card, to make an amount of what is asked for in percent of it; empty: it stays a part of
 *        each card
 * @param gpuShareUnit what {@code aliyun.com/gpu-mem} counts there, a setting of gpushare's device plugin; empty: its
 *        default is assumed, and said
 */
public record SourceCluster(OptionalLong cardMemory, Optional<MemoryUnit> gpuShareUnit) {
  /** A cluster of which nothing is known. */
  public static final SourceCluster UNKNOWN = new SourceCluster(OptionalLong.empty(), Optional.empty());
}
