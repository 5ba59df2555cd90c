package dev.partita.controller.claims;

import dev.partita.api.DeviceAttribute;
import dev.partita.api.config.FieldError;
import io.fabric8.kubernetes.api.model.resource.v1.CapacityRequirements;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a claim's own spec tells to be wrong with its requests for our devices, so that it need not be made. */
public final class RequestRules {
  private final Function<String, @Nullable DeviceClass> classes;

  /**
   * @param classes a DeviceClass by name; null if there is none, or none is known yet
   */
  public RequestRules(Function<String, @Nullable DeviceClass> classes) {
    this.classes = classes;
  }

  /** All that is wrong; paths begin with {@code spec}, as they do in a ResourceClaim. */
  public List<FieldError> errors(ResourceClaimSpec spec) {
    List<FieldError> errors = new ArrayList<>();
    for (RequestPart part : RequestPart.of(spec)) {
      if (Ownership.isOurs(part.className(), classes.apply(part.className()), part.selectors())) {
        memoryTwice(part, spec.getDevices().getConfig()).ifPresent(errors::add);
      }
    }
    return errors;
  }

  /** An amount of memory where the claim's own config says a part; what its class says does not count beside an amount. */
  static Optional<FieldError> memoryTwice(RequestPart part, List<DeviceClaimConfiguration> configs) {
    boolean amount = amounts(part).containsKey(DeviceAttribute.MEMORY);
    return amount && Configs.ofClaim(configs, part.name()).filter(config -> config.memoryPercent().isPresent()).isPresent()
        ? Optional.of(
            new FieldError(
                part.path() + ".capacity.requests[" + DeviceAttribute.MEMORY + "]",
                "cannot be used together with memoryPercent of the claim's GpuShareConfig; leave one of them out"))
        : Optional.empty();
  }

  private static Map<String, ?> amounts(RequestPart part) {
    return part.capacity().map(CapacityRequirements::getRequests).orElse(Map.of());
  }
}
