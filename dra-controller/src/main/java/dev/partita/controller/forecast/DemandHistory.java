package dev.partita.controller.forecast;

import dev.partita.api.config.GpuShareConfig;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.PodNeeds;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Counts what pods have asked for, to forecast what later pods will ask for. Old arrivals weigh less and less. Others
 * compute with a snapshot, which changes only when half as many pods again have arrived (at least 20), so that their
 * results can be kept. For one thread.
 */
public final class DemandHistory {
  private static final int FIRST = 20;
  private static final long MOST = 40_000;

  /** Whoever makes pods chooses how many kinds there are, and how long their selectors. */
  private static final int MOST_KINDS = 4_096;

  private static final int LONGEST_SELECTORS = 4_096;

  private final Map<Kind, Long> arrivals = new LinkedHashMap<>();
  private long total;
  private long next = 1;
  private Snapshot snapshot = Snapshot.of(0, Map.of());

  /**
   * One kind of pods.
   *
   * @param request the cards that it asks for; empty for a pod without
   */
  record Kind(PodNeeds needs, Optional<DeviceRequest> request) {}

  /**
   * What was asked for, as it was at one moment.
   *
   * @param number from 0; another snapshot has another number
   * @param arrivals in the order of their first arrival
   * @param needsRoom whether any pod asked for CPU or memory: else cards are all that can run out
   */
  record Snapshot(long number, Map<Kind, Long> arrivals, boolean needsRoom) {
    static Snapshot of(long number, Map<Kind, Long> arrivals) {
      Map<Kind, Long> copy = Collections.unmodifiableMap(new LinkedHashMap<>(arrivals));
      return new Snapshot(number, copy, copy.keySet().stream().anyMatch(kind -> !kind.needs().isNothing()));
    }
  }

  /** A pod with these claims has arrived; each pod is to be told once. */
  public void arrived(PodNeeds needs, List<ClaimRequest> claims) {
    kind(needs, claims).ifPresent(this::count);
  }

  /** The request of these claims if {@link Kind} can describe it: none, or one for a number of cards. */
  static Optional<Kind> kind(PodNeeds needs, List<ClaimRequest> claims) {
    List<DeviceRequest> requests =
        claims.stream()
            .flatMap(claim -> claim.requests().stream())
            .map(request -> request.alternatives().getFirst())
            .filter(request -> !request.isAdminAccess())
            .toList();
    return switch (requests.size()) {
      case 0 -> Optional.of(new Kind(needs, Optional.empty()));
      case 1 -> isUsual(requests.getFirst())
          ? Optional.of(kind(needs, requests.getFirst()))
          : Optional.empty();
      default -> Optional.empty();
    };
  }

  /** Whether it is for a number of devices that a claim can hold, and says in few words for which. */
  private static boolean isUsual(DeviceRequest request) {
    return request.count() instanceof DeviceRequest.Count.Exactly(int devices) && devices <= ClaimRequest.MOST_RESULTS
        && request.characters() <= LONGEST_SELECTORS;
  }

  static Kind kind(PodNeeds needs, DeviceRequest request) {
    return new Kind(
        needs,
        Optional.of(new DeviceRequest("", request.selectors(), request.count(),
            new CapacityRequest(request.memory(), request.cores(), GpuShareConfig.NOT_OVERSUBSCRIBED,
                request.capacity().sharing()),
            request.tolerations(), request.placement(),
            DeviceRequest.Access.OWN, DeviceRequest.Modes.INFERRED)));
  }

  private void count(Kind kind) {
    arrivals.merge(kind, 1L, Long::sum);
    total++;
    if (arrivals.size() > MOST_KINDS) {
      halve();
      next = Math.min(next, afterTotal());
    }
    if (total < next) {
      return;
    }
    if (total >= MOST) {
      halve();
    }
    next = afterTotal();
    snapshot = Snapshot.of(snapshot.number() + 1, arrivals);
  }

  private long afterTotal() {
    return total + Math.max(FIRST, total / 2);
  }

  private void halve() {
    total = 0;
    for (Iterator<Map.Entry<Kind, Long>> each = arrivals.entrySet().iterator(); each.hasNext();) {
      Map.Entry<Kind, Long> entry = each.next();
      entry.setValue(entry.getValue() / 2);
      total += entry.getValue();
      if (entry.getValue() == 0) {
        each.remove();
      }
    }
  }

  Snapshot snapshot() {
    return snapshot;
  }
}
