package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What claims have of cards together, whole ones and shares.
 *
 * @param cards by pool and the card's place on the node
 */
public record SoldCards(Map<String, Sold> cards) {
  /**
   * What of a card is sold.
   *
   * @param whole how many claims have it for themselves
   * @param memory of its shares, in bytes
   * @param cores of its shares, in percent
   */
  public record Sold(int whole, long memory, long cores) {
    private Sold and(Sold other) {
      return new Sold(whole + other.whole, memory + other.memory, cores + other.cores);
    }
  }

  public static SoldCards of(Collection<ResourceClaim> claims) {
    Map<String, Sold> cards = new HashMap<>();
    for (ResourceClaim claim : claims) {
      if (claim.getStatus() != null && claim.getStatus().getAllocation() != null) {
        List<DeviceRequestAllocationResult> results = claim.getStatus().getAllocation().getDevices().getResults();
        results.forEach(result -> cards.merge(result.getPool() + "/" + result.getDevice().replace("-shared", ""),
            sold(result), Sold::and));
      }
    }
    return new SoldCards(Map.copyOf(cards));
  }

  private static Sold sold(DeviceRequestAllocationResult result) {
    return result.getDevice().endsWith("-shared")
        ? new Sold(0, consumed(result, "memory"), consumed(result, "cores"))
        : new Sold(1, 0, 0);
  }

  private static long consumed(DeviceRequestAllocationResult result, String capacity) {
    Quantity quantity = result.getConsumedCapacity().get(capacity);
    return quantity == null ? 0 : quantity.getNumericalAmount().longValueExact();
  }

  /** Fails if a card has two owners, or is sold beyond what it has. */
  public void areSoldOnce() {
    assertThat(cards)
        .allSatisfy(
            (card, sold) -> {
              assertThat(sold.whole()).isLessThanOrEqualTo(1);
              assertThat(sold.whole() == 0 || sold.memory() == 0).isTrue();
              assertThat(sold.memory()).isLessThanOrEqualTo(RealCluster.CARD_MEMORY - RealCluster.CARD_RESERVED);
              assertThat(sold.cores()).isLessThanOrEqualTo(100);
            });
  }
}
