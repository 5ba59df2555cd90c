package dev.partita.controller.replay;

import dev.partita.controller.replay.Scenarios.ClaimKind;
import dev.partita.controller.request.PodNeeds;

/**
 * CPU and memory that the pods of a scenario's claims request, and that a host has.
 *
 * @param share CPU and memory of a pod for each card of which it has a share
 * @param wholeCard CPU and memory of a pod for each card that it has as a whole
 * @param host all that a host has for pods; none: it is not known, as where nobody requests any
 */
public record PodSizes(PodNeeds share, PodNeeds wholeCard, PodNeeds host) {
  private static final long GIB = 1L << 30;

  /** Pods that request no CPU and no memory, of which real clusters have few. */
  public static final PodSizes NONE = new PodSizes(PodNeeds.NONE, PodNeeds.NONE, PodNeeds.NONE);

  /** Hosts of 128 CPUs and 1 TiB: more than the claims' pods take, so that the cards decide about who finds a place. */
  public static final PodSizes USUAL =
      new PodSizes(new PodNeeds(1_000, 4 * GIB), new PodNeeds(8_000, 64 * GIB), new PodNeeds(128_000, 1024 * GIB));

  PodNeeds of(ClaimKind kind) {
    PodNeeds each = kind.isWhole() ? wholeCard : share;
    return new PodNeeds(each.milliCpu() * kind.count(), each.memory() * kind.count());
  }
}
