package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What claims have of cards together, counted by what the API server holds alone.
 *
 * @param cards by pool and the card's place on its node
 */
record AllocatedCards(Map<String, List<Part>> cards) {
  private static final Pattern DEVICE = Pattern.compile("(gpu-[0-9]+)(|-shared|-mig-.*)");
  private static final Pattern SIZE = Pattern.compile("memory=([^,;]+),cores=([0-9]+)");

  private static final Pattern INSTANCE = Pattern.compile("-mig-([13])g-[0-9]+gb-([0-9])$");

  /** How a claim has a card. */
  enum Way {
    WHOLE, SHARE, MPS, TURN, INSTANCE
  }

  /** What a device of a claim has of a card: bytes, and percent of its time. */
  record Part(String claim, Way way, String device, long memory, long cores) {}

  static AllocatedCards of(Collection<ResourceClaim> claims) {
    Map<String, List<Part>> cards = new TreeMap<>();
    for (ResourceClaim claim : claims) {
      for (DeviceRequestAllocationResult result : results(claim)) {
        if (!Driver.NAME.equals(result.getDriver())) {
          continue;
        }
        Matcher device = DEVICE.matcher(result.getDevice());
        assertThat(device.matches()).as(result.getDevice()).isTrue();
        cards.computeIfAbsent(result.getPool() + "/" + device.group(1), card -> new ArrayList<>())
            .add(part(claim, result));
      }
    }
    return new AllocatedCards(cards);
  }

  static List<DeviceRequestAllocationResult> results(ResourceClaim claim) {
    return claim.getStatus() == null || claim.getStatus().getAllocation() == null
        ? List.of()
        : claim.getStatus().getAllocation().getDevices().getResults();
  }

  private static Part part(ResourceClaim claim, DeviceRequestAllocationResult result) {
    long[] allocated = {consumed(result, "memory"), consumed(result, "cores")};
    long[] inForce = inForce(claim, result).orElse(allocated);
    long[] granted = granted(claim, result).orElse(allocated);
    return new Part(claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName(),
        way(claim, result.getDevice()), result.getDevice(),
        Math.max(inForce[0], granted[0]), Math.max(inForce[1], granted[1]));
  }

  private static Optional<long[]> inForce(ResourceClaim claim, DeviceRequestAllocationResult result) {
    return claim.getStatus().getDevices().stream()
        .filter(status -> status.getShareID() != null && status.getShareID().equals(result.getShareID()))
        .flatMap(status -> sizes(String.valueOf(status.getData())).stream())
        .findFirst();
  }

  private static Optional<long[]> granted(ResourceClaim claim, DeviceRequestAllocationResult result) {
    String all =
        claim.getMetadata().getAnnotations().getOrDefault(Driver.GRANTED_SIZES_ANNOTATION, "");
    return Stream.of(all.split(";", -1))
        .filter(one -> result.getShareID() != null && one.contains(result.getShareID()))
        .flatMap(one -> sizes(one).stream()).findFirst();
  }

  private static Optional<long[]> sizes(String words) {
    Matcher size = SIZE.matcher(words);
    return size.find()
        ? Optional.of(new long[]{bytes(new Quantity(size.group(1))), Long.parseLong(size.group(2))})
        : Optional.empty();
  }

  private static Way way(ResourceClaim claim, String device) {
    String config = String.valueOf(claim.getSpec().getDevices().getConfig());
    if (device.contains("-mig-")) {
      return Way.INSTANCE;
    }
    if (!device.endsWith("-shared") || config.contains("exclusive=true")) {
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

  /** Fails if a card is had in two ways that exclude each other, or is allocated beyond the bytes that it has. */
  void areAllocatedOnce(Map<String, Long> memoryOfNode) {
    cards.forEach((card, parts) -> {
      Way way = parts.getFirst().way();
      assertThat(parts).as(card).allSatisfy(part -> assertThat(part.way()).isEqualTo(way));
      switch (way) {
        case WHOLE -> assertThat(parts).as(card).hasSize(1);
        case SHARE, MPS -> {
          assertThat(parts.stream().mapToLong(Part::memory).sum()).as("memory of " + card + ": " + parts)
              .isLessThanOrEqualTo(ofNode(card, memoryOfNode));
          assertThat(parts.stream().mapToLong(Part::cores).sum()).as("cores of " + card + ": " + parts)
              .isLessThanOrEqualTo(100);
        }
        case INSTANCE -> {
          boolean[] taken = new boolean[8]; // memory slices of an H200
          for (Part part : parts) {
            Matcher instance = INSTANCE.matcher(part.device());
            assertThat(instance.find()).as(part.device()).isTrue();
            int start = Integer.parseInt(instance.group(2));
            for (int slice = start; slice < start + (instance.group(1).equals("1") ? 1 : 4); slice++) {
              assertThat(taken[slice]).as("slice " + slice + " of " + card + ": " + parts).isFalse();
              taken[slice] = true;
            }
          }
        }
        case TURN -> {}
      }
    });
  }

  /** Bytes that count for quotas, of one namespace: a whole card with all that it has. */
  long memoryOf(String namespace, Map<String, Long> memoryOfNode) {
    long sum = 0;
    for (Map.Entry<String, List<Part>> card : cards.entrySet()) {
      for (Part part : card.getValue()) {
        if (part.claim().startsWith(namespace + "/")) {
          sum += part.way() == Way.WHOLE ? ofNode(card.getKey(), memoryOfNode) : part.memory();
        }
      }
    }
    return sum;
  }

  private static long ofNode(String card, Map<String, Long> memoryOfNode) {
    return Objects.requireNonNull(memoryOfNode.get(card.substring(0, card.indexOf('/'))));
  }
}
