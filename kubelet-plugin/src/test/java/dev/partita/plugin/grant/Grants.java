package dev.partita.plugin.grant;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import java.util.List;
import java.util.Optional;

/** Grants for tests. */
public final class Grants {
  public static final long GIB = 1L << 30;

  private Grants() {}

  /** A card of 80 GiB; a lower number comes first on the bus. */
  public static CardIdentity card(int number) {
    return new CardIdentity(number, number, "GPU-" + number, "NVIDIA H100", 80 * GIB,
        Optional.of("0000:0" + number + ":00.0"));
  }

  /** A share whose key is {@code id}. */
  public static Grant share(String request, int card, String id, long gib, int cores) {
    return new Grant(
        List.of(request),
        "gpu-" + card + "-shared",
        Optional.of(id),
        card(card),
        new HookedShare(new Share(gib * GIB, cores, CoreLimit.HARD, 1)));
  }

  /** The same for which nobody else may be on the card. */
  public static Grant alone(Grant share) {
    CardUse alone = new ExclusiveShare(share.share().orElseThrow());
    return new Grant(share.requests(), share.device(), share.shareId(), share.card(), alone);
  }

  public static Grant whole(String request, int card) {
    return new Grant(List.of(request), "gpu-" + card, Optional.empty(), card(card), new WholeCard());
  }

  /** A MIG instance of that many memory slices. */
  public static Grant instance(String request, int card, int start, int size) {
    return new Grant(
        List.of(request), "gpu-" + card + "-mig-" + size + "g-" + start, Optional.empty(), card(card),
        new MigInstance(size + "g", start, size, 10L * size * GIB));
  }

  /** All of a card in turn with others. */
  public static Grant inTurn(String request, int card) {
    return new Grant(List.of(request), "gpu-" + card + "-shared", Optional.empty(), card(card),
        new TimeSlicing(TimeSlice.DEFAULT));
  }

  public static Grant admin(String request, int card) {
    return new Grant(List.of(request), "gpu-" + card, Optional.empty(), card(card), new AdminAccess());
  }
}
