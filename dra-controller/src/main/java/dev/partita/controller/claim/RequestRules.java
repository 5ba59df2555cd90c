package dev.partita.controller.claim;

import dev.partita.api.AllocatorTaint;
import dev.partita.api.Amount;
import dev.partita.api.Bytes;
import dev.partita.api.DeviceMode;
import dev.partita.api.Driver;
import dev.partita.api.RequestName;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.FieldError;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.ShareConfigs;
import dev.partita.api.device.CapacityName;
import dev.partita.api.sharing.SharingStrategy;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceToleration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTolerationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds what is wrong with a claim's requests for our devices by its spec alone, so that such a claim can be refused
 * before it is made.
 */
public final class RequestRules {

  private static final Set<String> LIMITED = Set.of(CapacityName.MEMORY, CapacityName.CORES);

  private final Function<String, @Nullable DeviceClass> classes;

  /**
   * @param classes a DeviceClass by name; null if there is none, or none is known yet
   */
  public RequestRules(Function<String, @Nullable DeviceClass> classes) {
    this.classes = classes;
  }

  /** Whether one of the claim's requests is for our devices. */
  public boolean isOurs(ResourceClaimSpec spec) {
    return Ownership.isOurs(spec, classes);
  }

  /** All that is wrong; paths begin with {@code spec}, as they do in a ResourceClaim. */
  public List<FieldError> errors(ResourceClaimSpec spec) {
    List<FieldError> errors = new ArrayList<>();
    for (RequestPart part : RequestPart.of(spec)) {
      if (Ownership.isOurs(part, classes)) {
        @Nullable DeviceClass deviceClass = classes.apply(part.className());
        List<DeviceClaimConfiguration> configs = spec.getDevices().getConfig();
        errors.addAll(errors(part, configs, deviceClass, config(part, configs, deviceClass)));
      }
    }
    byMpsAlone(spec).ifPresent(errors::add);
    return errors;
  }

  /**
   * All that is wrong with one request by itself; a wrong config is said where it stands.
   *
   * @param config that applies to the request
   */
  static List<FieldError> errors(
      RequestPart part,
      List<DeviceClaimConfiguration> configs,
      @Nullable DeviceClass deviceClass,
      Decoded<GpuShareConfig> config) {
    List<FieldError> errors = new ArrayList<>();
    memoryTwice(part, configs).ifPresent(errors::add);
    if (config instanceof Decoded.Valid<GpuShareConfig>(GpuShareConfig valid)) {
      forSharesOnly(part, deviceClass, valid).ifPresent(errors::add);
      errors.addAll(notLimited(part, valid));
      limitTooLow(part, valid).ifPresent(errors::add);
    }
    tolerated(part, errors);
    return errors;
  }

  /**
   * A device by MPS beside another one of the claim. A program reaches a single MPS daemon, and has no card but that
   * daemon's then.
   */
  Optional<FieldError> byMpsAlone(@Nullable ResourceClaimSpec spec) {
    List<RequestPart> ours = RequestPart.of(spec).stream().filter(part -> Ownership.isOurs(part, classes)).toList();
    long requests = ours.stream().map(part -> RequestName.withoutSubrequest(part.name())).distinct().count();
    return ours.stream()
        .filter(part -> !part.adminAccess() && config(part, Objects.requireNonNull(spec).getDevices().getConfig(),
            classes.apply(part.className())) instanceof Decoded.Valid<GpuShareConfig>(GpuShareConfig config)
            && config.sharing() instanceof GpuShareConfig.Sharing.Mps)
        .filter(part -> requests > 1 || part.count().orElse(1L) > 1 || part.mode().filter("All"::equals).isPresent())
        .findFirst()
        .map(part -> new FieldError(part.path(),
            "sharing.strategy MPS of the GpuShareConfig is for claims of one device:"
                + " a program reaches the MPS daemon of one card, and sees no other; ask for one device in one request"));
  }

  /** The config that applies to the request: the claim's, or its class's. */
  static Decoded<GpuShareConfig> config(
      RequestPart part,
      List<DeviceClaimConfiguration> configs,
      @Nullable DeviceClass deviceClass) {
    return ShareConfigs.of(deviceClass == null ? List.of() : deviceClass.getSpec().getConfig(), configs, part.name());
  }

  /**
   * An amount of memory where the claim's own config says a part; what its class says does not count beside an amount.
   */
  private static Optional<FieldError> memoryTwice(RequestPart part, List<DeviceClaimConfiguration> configs) {
    boolean amount = part.amounts().containsKey(CapacityName.MEMORY);
    return amount
        && config(part, configs, null) instanceof Decoded.Valid<GpuShareConfig>(GpuShareConfig ofClaim)
        && ofClaim.memoryPercent().isPresent()
            ? Optional.of(
                new FieldError(
                    part.path() + ".capacity.requests[" + CapacityName.MEMORY + "]",
                    "cannot be used together with memoryPercent of the claim's GpuShareConfig; leave one of them out"))
            : Optional.empty();
  }

  /** A share that is to grow to less than what is set aside for it. */
  private static Optional<FieldError> limitTooLow(RequestPart part, GpuShareConfig config) {
    @Nullable Quantity memory = part.amounts().get(CapacityName.MEMORY);
    return memory != null && config.memoryLimit().isPresent() && Amount.problem(memory).isEmpty()
        && Bytes.of(memory) > config.memoryLimit().getAsLong()
            ? Optional.of(new FieldError(part.path() + ".capacity.requests[" + CapacityName.MEMORY + "]",
                "is more than memoryLimit of the GpuShareConfig, which is what the share may grow to: " + memory
                    + " and " + Bytes.quantity(config.memoryLimit().getAsLong())))
            : Optional.empty();
  }

  /** Amounts where the config has nobody held to any: whoever asks for one relies on it. */
  private static List<FieldError> notLimited(RequestPart part, GpuShareConfig config) {
    if (!(config.sharing() instanceof GpuShareConfig.Sharing.TimeSlicing) || part.adminAccess()) {
      return List.of();
    }
    return part.amounts().keySet().stream().filter(LIMITED::contains).sorted()
        .map(name -> new FieldError(part.path() + ".capacity.requests[" + name + "]",
            "cannot be used together with sharing.strategy TimeSlicing of the GpuShareConfig, which limits no " + name
                + " and promises none: what one claim takes, the others on the card lack; leave one of them out"))
        .toList();
  }

  /**
   * What the config says of shares where the class gives none, or shares of opaque cards: no card can serve that, and
   * kube-scheduler, which reads no configs, would allocate one all the same. Of several alternatives another one may
   * do.
   */
  private static Optional<FieldError> forSharesOnly(
      RequestPart part,
      @Nullable DeviceClass deviceClass,
      GpuShareConfig config) {
    if (part.adminAccess() || part.isAlternative()) {
      return Optional.empty();
    }
    boolean managed = deviceClass == null || Ownership.isManaged(deviceClass);
    if (Driver.isOpaqueClass(part.className()) && managed) {
      return SharingStrategy.unfulfilledByOpaque(config)
          .map(field -> new FieldError(part.path() + ".deviceClassName",
              part.className() + " gives opaque cards, and " + SharingStrategy.insteadOnOpaque(field)));
    }
    if (part.className().equals(Driver.MIG_SHARE_CLASS) && managed) {
      return ofCardsOnly(part, config);
    }
    boolean mig = part.className().equals(Driver.MIG_CLASS);
    boolean undivided = (mig || part.className().equals(Driver.WHOLE_CLASS))
        && managed;
    if (!undivided) {
      return Optional.empty();
    }
    DeviceMode mode = mig ? DeviceMode.MIG : DeviceMode.WHOLE;
    return SharingStrategy.unfulfilled(mode, config.oversubscribe(), config.placement(), config.sharing())
        .map(SharingStrategy.ModeField::path)
        .or(() -> config.memoryLimit().isPresent() ? Optional.of("memoryLimit") : Optional.empty())
        .map(
            field -> new FieldError(
                part.path() + ".deviceClassName",
                part.className() + " gives " + (mig ? "MIG instances" : "whole cards") + ", and " + field
                    + " of the GpuShareConfig is for shares only; leave it out, or use a class of shares such as "
                    + Driver.SHARE_CLASS));
  }

  /** What is said of shares of cards where the class gives shares of MIG instances, which have memory alone. */
  private static Optional<FieldError> ofCardsOnly(RequestPart part, GpuShareConfig config) {
    if (part.amounts().containsKey(CapacityName.CORES)) {
      return Optional.of(new FieldError(part.path() + ".capacity.requests[" + CapacityName.CORES + "]",
          "is for shares of cards only: of a MIG instance's shares only memory is divided; leave it out, or take the"
              + " whole instance (class " + Driver.MIG_CLASS + ")"));
    }
    return SharingStrategy
        .unfulfilled(DeviceMode.MIG_SHARED, config.oversubscribe(), config.placement(), config.sharing())
        .or(() -> config.memoryLimit().isPresent()
            ? Optional.of(SharingStrategy.ModeField.MEMORY_LIMIT)
            : Optional.empty())
        .map(field -> new FieldError(part.path() + ".deviceClassName",
            part.className() + " gives shares of MIG instances, and " + field.path()
                + " of the GpuShareConfig is for shares of cards only; leave it out, or use a class of those such as "
                + Driver.SHARE_CLASS));
  }

  /**
   * Tolerations of the taint that keeps kube-scheduler from what the controller allocates: it would take such a device
   * for free. Who only looks at devices takes nothing.
   */
  private static void tolerated(RequestPart part, List<FieldError> errors) {
    for (int i = 0; i < part.tolerations().size() && !part.adminAccess(); i++) {
      if (coversAllocatorTaint(part.tolerations().get(i))) {
        errors.add(
            new FieldError(
                part.path() + ".tolerations[" + i + "]",
                "would let kube-scheduler allocate what Partita's controller allocates (taint " + Driver.ALLOCATOR_TAINT
                    + "); name the keys of the taints that the request is to tolerate, such as "
                    + Driver.HEALTH_TAINT));
      }
    }
  }

  private static boolean coversAllocatorTaint(DeviceToleration toleration) {
    return AllocatorTaint.isCoveredBy(
        toleration.getKey(), toleration.getOperator(), toleration.getValue(), toleration.getEffect());
  }

  /**
   * What a result says of a request's tolerations. One of the allocator's taint in a result is a mark of what
   * kube-scheduler took past the controller, which no plugin prepares; against evictions (NoExecute) the request is
   * tolerant as before.
   *
   * <p>A request that tolerates every taint, {@code {operator: Exists}}, gives {@code {operator: Exists, effect:
   * NoExecute}}.
   */
  static List<DeviceToleration> inResults(List<DeviceToleration> tolerations) {
    return tolerations.stream().flatMap(toleration -> inResults(toleration).stream()).toList();
  }

  private static Optional<DeviceToleration> inResults(DeviceToleration toleration) {
    if (!AllocatorTaint.isMeantBy(toleration.getKey(), toleration.getEffect())) {
      return Optional.of(toleration);
    }
    boolean everyEffect = toleration.getEffect() == null || toleration.getEffect().isEmpty();
    return everyEffect
        ? Optional.of(new DeviceTolerationBuilder(toleration).withEffect("NoExecute").build())
        : Optional.empty();
  }
}
