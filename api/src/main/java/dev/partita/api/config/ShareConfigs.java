package dev.partita.api.config;

import dev.partita.api.Driver;
import dev.partita.api.RequestName;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.OpaqueDeviceConfiguration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which of the opaque configs for our driver applies to a request: the last one that covers it, where the claim's come
 * after its class's. It applies as a whole, so that nothing of those before it is left; where none covers the request,
 * {@link GpuShareConfig#DEFAULT} applies.
 *
 * <p>Every one of ours that covers the request must be right, even one that a later one overrides: else the answer is
 * what is wrong with it. What cannot be read may have been a limit, and nobody is to get more than was meant because it
 * was passed over.
 */
public final class ShareConfigs {
  /** Source of an allocated config that its class has. */
  public static final String FROM_CLASS = "FromClass";

  /** Source of an allocated config that the claim has. */
  public static final String FROM_CLAIM = "FromClaim";

  private ShareConfigs() {}

  /**
   * The config of a claim that is not allocated.
   *
   * @param ofClass the configs of the request's class; none if there is no such class
   * @param ofClaim the configs of the claim
   * @param resultName the request, or {@code request/subrequest}
   */
  public static Decoded<GpuShareConfig> of(
      List<DeviceClassConfiguration> ofClass,
      List<DeviceClaimConfiguration> ofClaim,
      String resultName) {
    return last(
        Stream.concat(
            ofClass.stream().map(DeviceClassConfiguration::getOpaque),
            ofClaim.stream()
                .filter(config -> RequestName.covers(config.getRequests(), resultName))
                .map(DeviceClaimConfiguration::getOpaque)));
  }

  /**
   * The config of an allocation, whoever wrote it and in whatever order.
   *
   * @param resultName the request, or {@code request/subrequest}, of the result
   */
  public static Decoded<GpuShareConfig> ofAllocation(
      List<DeviceAllocationConfiguration> configs,
      String resultName) {
    return last(
        Stream.of(FROM_CLASS, FROM_CLAIM)
            .flatMap(source -> configs.stream().filter(config -> source.equals(config.getSource())))
            .filter(config -> RequestName.covers(config.getRequests(), resultName))
            .map(DeviceAllocationConfiguration::getOpaque));
  }

  /**
   * What is wrong with an opaque config, nothing if it is for another driver.
   *
   * @param path where its parameters stand; paths of errors begin with it
   * @param parameters as {@link GpuShareConfigDecoder#decode} takes them
   */
  public static List<FieldError> errors(String path, @Nullable String driver, @Nullable Object parameters) {
    return Driver.NAME.equals(driver)
        && GpuShareConfigDecoder.decode(parameters) instanceof Decoded.Invalid<GpuShareConfig>(List<FieldError> errors)
            ? errors.stream().map(error -> error.below(path)).toList()
            : List.of();
  }

  private static Decoded<GpuShareConfig> last(Stream<@Nullable OpaqueDeviceConfiguration> inOrder) {
    Decoded<GpuShareConfig> last = new Decoded.Valid<>(GpuShareConfig.DEFAULT);
    for (@Nullable OpaqueDeviceConfiguration opaque : inOrder.toList()) {
      if (opaque != null && Driver.NAME.equals(opaque.getDriver())) {
        last = GpuShareConfigDecoder.decode(opaque.getParameters());
        if (last instanceof Decoded.Invalid) {
          return last;
        }
      }
    }
    return last;
  }
}
