package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What claims have of cards together, in whichever way.
 *
 * @param cards by pool and the card's place on the node
 */
public record AllocatedCards(Map<String, List<Part>> cards) {
  private static final Pattern DEVICE = Pattern.compile("(gpu-[0-9]+)(?:-mig-([0-9])g-[^-]+-([0-9]+)|-shared|)");

  private static final Pattern GRANTED = Pattern.compile("([0-9a-f-]{36}):memory=([^,;]+),cores=([0-9]+)");

  /** How many of a card's memory slices an instance has, by its number of compute slices. */
  private static final Map<String, Integer> MEMORY_SLICES = Map.of("1", 1, "2", 2, "3", 4, "4", 4, "7", 8);

  /** How a claim has a card. */
  public enum Way {
    WHOLE, INSTANCE, SHARE, MPS, TURN
  }

  /**
   * What one device of a claim has of a card.
   *
   * @param memory in bytes
   * @param cores in percent
   * @param slices of memory that its instance has
   */
  public record Part(Way way, long memory, long cores, BitSet slices) {}

  public static AllocatedCards of(Collection<ResourceClaim> claims) {
    Map<String, List<Part>> cards = new HashMap<>();
    for (ResourceClaim claim : claims) {
      if (claim.getStatus() != null && claim.getStatus().getAllocation() != null) {
        for (DeviceRequestAllocationResult result : claim.getStatus().getAllocation().getDevices().getResults()) {
          Matcher device = DEVICE.matcher(result.getDevice());
          assertThat(device.matches()).as(result.getDevice()).isTrue();
          cards.computeIfAbsent(result.getPool() + "/" + device.group(1), card -> new ArrayList<>())
              .add(part(claim, result, device));
        }
      }
    }
    return new AllocatedCards(Map.copyOf(cards));
  }

  private static Part part(ResourceClaim claim, DeviceRequestAllocationResult result, Matcher device) {
    BitSet slices = new BitSet();
    if (device.group(2) != null) {
      int start = Integer.parseInt(device.group(3));
      slices.set(start, start + MEMORY_SLICES.getOrDefault(device.group(2), 8));
    }
    Part allocated =
        new Part(way(claim, result.getDevice()), consumed(result, "memory"), consumed(result, "cores"), slices);
    return GRANTED.matcher(claim.getMetadata().getAnnotations().getOrDefault("gpu.partita.dev/granted-sizes", ""))
        .results()
        .filter(granted -> granted.group(1).equalsIgnoreCase(result.getShareID()))
        .map(granted -> new Part(allocated.way(), bytes(new Quantity(granted.group(2))),
            Long.parseLong(granted.group(3)), slices))
        .findFirst().orElse(allocated);
  }

  private static Way way(ResourceClaim claim, String device) {
    String config = String.valueOf(claim.getSpec().getDevices().getConfig());
    if (!device.endsWith("-shared")) {
      return device.contains("-mig-") ? Way.INSTANCE : Way.WHOLE;
    }
    if (config.contains("exclusive=true")) {
      return Way.WHOLE;
    }
    if (config.contains("strategy=TimeSlicing")) {
      return Way.TURN;
    }
    return config.contains("strategy=MPS") ? Way.MPS : Way.SHARE;
  }

  private static long consumed(DeviceRequestAllocationResult result, String capacity) {
    Quantity quantity = result.getConsumedCapacity() == null ? null : result.getConsumedCapacity().get(capacity);
    return quantity == null ? 0 : bytes(quantity);
  }

  private static long bytes(Quantity quantity) {
    return quantity.getNumericalAmount().longValueExact();
  }

  /** Fails if a card is had in two ways that exclude each other, or is allocated beyond what it has. */
  public void areAllocatedOnce() {
    assertThat(cards).allSatisfy((card, parts) -> {
      Way way = parts.getFirst().way();
      assertThat(parts).allSatisfy(part -> assertThat(part.way()).isEqualTo(way));
      switch (way) {
        case WHOLE -> assertThat(parts).hasSize(1);
        case INSTANCE -> assertThat(parts.stream().mapToInt(part -> part.slices().cardinality()).sum())
            .as("memory slices, each counted once").isEqualTo(together(parts).cardinality());
        case SHARE, MPS -> {
          assertThat(parts.stream().mapToLong(Part::memory).sum())
              .isLessThanOrEqualTo(RealCluster.CARD_MEMORY - RealCluster.CARD_RESERVED);
          assertThat(parts.stream().mapToLong(Part::cores).sum()).isLessThanOrEqualTo(100);
        }
        case TURN -> {}
      }
    });
  }

  private static BitSet together(List<Part> parts) {
    BitSet slices = new BitSet();
    parts.forEach(part -> slices.or(part.slices()));
    return slices;
  }
}
