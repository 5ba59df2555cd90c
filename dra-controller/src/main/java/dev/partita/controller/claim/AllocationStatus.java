package dev.partita.controller.claim;

import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.RequestName;
import dev.partita.api.config.ShareConfigs;
import dev.partita.api.device.CapacityName;
import dev.partita.controller.match.Taking;
import dev.partita.controller.place.ClaimPlacement.DevicePlacement;
import dev.partita.controller.place.ClaimPlacement;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.NodeSelectorBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfigurationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Writes a placement as {@code status.allocation}, just as kube-scheduler would have written it. */
public final class AllocationStatus {
  private AllocationStatus() {}

  /**
   * @param classes a DeviceClass by name; null if there is none
   * @param shareIds gives a new one for every share
   */
  public static AllocationResult of(
      ResourceClaim claim,
      ClaimPlacement placement,
      String node,
      Function<String, @Nullable DeviceClass> classes,
      Supplier<UUID> shareIds,
      Instant now) {
    return new AllocationResultBuilder()
        .withNewDevices()
        .withResults(placement.devices().stream().map(device -> result(claim, device, node, shareIds)).toList())
        .withConfig(configs(claim, placement, classes))
        .endDevices()
        .withNodeSelector(onlyOn(node))
        .withAllocationTimestamp(now.truncatedTo(ChronoUnit.SECONDS).toString())
        .build();
  }

  private static DeviceRequestAllocationResult result(
      ResourceClaim claim,
      DevicePlacement placement,
      String node,
      Supplier<UUID> shareIds) {
    DeviceRequestAllocationResultBuilder result =
        new DeviceRequestAllocationResultBuilder()
            .withRequest(placement.request().name())
            .withDriver(Driver.NAME)
            .withPool(Driver.poolOf(node))
            .withDevice(placement.device().name().toString());
    part(claim, placement.request().name())
        .map(part -> part.adminAccess() ? part.tolerations() : RequestRules.inResults(part.tolerations()))
        .ifPresent(result::withTolerations);
    if (placement.given().takes() == Taking.NOTHING) {
      result.withAdminAccess(true); // and nothing consumed: no share of anything
    } else if (placement.device().allowsMultipleAllocations()) {
      boolean turn = placement.given().takes() == Taking.TURNS;
      // in turn it can take all: kube-scheduler, should it come to allocate there, is to allocate nothing beside it
      long memory = turn ? placement.device().total(CapacityName.MEMORY) : placement.memory();
      Map<String, Quantity> consumed = new TreeMap<>();
      consumed.put(CapacityName.MEMORY, Bytes.quantity(memory));
      if (placement.device().capacities().containsKey(CapacityName.CORES)) {
        consumed.put(CapacityName.CORES, new Quantity(Integer.toString(placement.cores())));
      }
      result.withShareID(shareIds.get().toString()).withConsumedCapacity(consumed);
    }
    return result.build();
  }

  /**
   * Configs of the classes first, then the claim's: later ones count more. The API takes as many as one class and one
   * claim may have together (64), so those of a class stand there once, with all requests of that class.
   */
  private static List<DeviceAllocationConfiguration> configs(
      ResourceClaim claim,
      ClaimPlacement placement,
      Function<String, @Nullable DeviceClass> classes) {
    List<DeviceAllocationConfiguration> configs = new ArrayList<>();
    Set<String> names =
        placement.devices().stream()
            .map(device -> device.request().name())
            .collect(Collectors.toCollection(java.util.LinkedHashSet::new));
    Map<String, List<String>> byClass = new LinkedHashMap<>();
    names.forEach(name -> part(claim, name)
        .ifPresent(part -> byClass.computeIfAbsent(part.className(), _ -> new ArrayList<>()).add(name)));
    for (Map.Entry<String, List<String>> ofClass : byClass.entrySet()) {
      @Nullable DeviceClass deviceClass = classes.apply(ofClass.getKey());
      if (deviceClass != null) {
        deviceClass.getSpec().getConfig().stream()
            .filter(config -> config.getOpaque() != null)
            .map(
                config -> new DeviceAllocationConfigurationBuilder()
                    .withSource(ShareConfigs.FROM_CLASS)
                    .withRequests(ofClass.getValue())
                    .withOpaque(config.getOpaque())
                    .build())
            .forEach(configs::add);
      }
    }
    claim.getSpec().getDevices().getConfig().stream()
        .filter(config -> config.getOpaque() != null)
        .filter(config -> names.stream().anyMatch(name -> RequestName.covers(config.getRequests(), name)))
        .map(
            config -> new DeviceAllocationConfigurationBuilder()
                .withSource(ShareConfigs.FROM_CLAIM)
                .withRequests(config.getRequests())
                .withOpaque(config.getOpaque())
                .build())
        .forEach(configs::add);
    return configs;
  }

  private static java.util.Optional<RequestPart> part(ResourceClaim claim, String resultName) {
    List<DeviceRequest> requests = claim.getSpec().getDevices().getRequests();
    for (int i = 0; i < requests.size(); i++) {
      for (RequestPart part : RequestPart.of(requests.get(i), i)) {
        if (part.name().equals(resultName)) {
          return java.util.Optional.of(part);
        }
      }
    }
    return java.util.Optional.empty();
  }

  /** Exactly the form that kube-scheduler writes for a device with a node name. */
  public static NodeSelector onlyOn(String node) {
    return new NodeSelectorBuilder()
        .addNewNodeSelectorTerm()
        .addNewMatchField()
        .withKey("metadata.name")
        .withOperator("In")
        .withValues(node)
        .endMatchField()
        .endNodeSelectorTerm()
        .build();
  }
}
