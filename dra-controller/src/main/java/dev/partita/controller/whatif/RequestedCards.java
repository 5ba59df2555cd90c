package dev.partita.controller.whatif;

import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.device.CapacityName;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ExactDeviceRequestBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a pod on paper asks for: whole cards if neither memory nor cores are said, else shares.
 *
 * @param namespace whose quotas count
 * @param count cards, all of one node
 * @param memory bytes of each
 * @param cores percent of each card's time
 * @param model of the cards; empty for any
 */
public record RequestedCards(
    String namespace,
    int count,
    OptionalLong memory,
    OptionalLong cores,
    Optional<String> model) {
  /** A whole card of a model. */
  public static RequestedCards whole(String namespace, String model) {
    return new RequestedCards(namespace, 1, OptionalLong.empty(), OptionalLong.empty(), Optional.of(model));
  }

  /** A share of a card of a model, of so many bytes. */
  public static RequestedCards share(String namespace, String model, long memory) {
    return new RequestedCards(namespace, 1, OptionalLong.of(memory), OptionalLong.empty(), Optional.of(model));
  }

  private static String name(int number) {
    return "what-if-" + number;
  }

  /** The claim of such a pod. */
  ResourceClaim claim(int number) {
    boolean isWhole = memory.isEmpty() && cores.isEmpty();
    ExactDeviceRequestBuilder request =
        new ExactDeviceRequestBuilder().withDeviceClassName(isWhole ? Driver.WHOLE_CLASS : Driver.SHARE_CLASS)
            .withCount((long) count);
    if (!isWhole) {
      Map<String, Quantity> amounts = new HashMap<>();
      memory.ifPresent(bytes -> amounts.put(CapacityName.MEMORY, Bytes.quantity(bytes)));
      cores.ifPresent(percent -> amounts.put(CapacityName.CORES, new Quantity(String.valueOf(percent))));
      request.withNewCapacity().withRequests(amounts).endCapacity();
    }
    model.ifPresent(
        name -> request.addNewSelector()
            .withNewCel("device.attributes[\"" + Driver.NAME + "\"].model == \"" + Driver.modelOf(name) + "\"")
            .endSelector());
    return new ResourceClaimBuilder()
        .withNewMetadata().withNamespace(namespace).withName(name(number)).withUid(name(number))
        .withResourceVersion("1").endMetadata()
        .withNewSpec().withNewDevices()
        .withRequests(new DeviceRequestBuilder().withName("gpu").withExactly(request.build()).build())
        .endDevices().endSpec().build();
  }

  /** A pod that requests no CPU and no memory of its node. */
  Pod pod(int number, List<Toleration> tolerations, Instant created) {
    return new PodBuilder()
        .withNewMetadata().withNamespace(namespace).withName(name(number)).withUid(name(number))
        .withCreationTimestamp(created.toString()).endMetadata()
        .withNewSpec().withTolerations(tolerations)
        .addNewResourceClaim().withName("gpu").withResourceClaimName(name(number)).endResourceClaim()
        .endSpec().build();
  }
}
