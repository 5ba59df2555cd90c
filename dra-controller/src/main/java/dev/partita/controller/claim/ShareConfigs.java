package dev.partita.controller.claim;

import dev.partita.api.Driver;
import dev.partita.api.RequestName;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.FieldError;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.GpuShareConfigDecoder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.OpaqueDeviceConfiguration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Our opaque configs of a claim and its classes: the last one that covers a request counts, the claim's after the
 * class's.
 */
final class ShareConfigs {
  private ShareConfigs() {}

  /**
   * The config of that result name in the claim; empty if none covers it. Wrong ones are skipped: they are reported
   * apart.
   */
  static Optional<GpuShareConfig> ofClaim(List<DeviceClaimConfiguration> configs, String resultName) {
    return configs.stream()
        .filter(config -> RequestName.covers(config.getRequests(), resultName))
        .flatMap(config -> valid(config.getOpaque()).stream())
        .reduce((first, second) -> second);
  }

  /** The config of that result name: the claim's, else its class's, else what holds where nothing is said. */
  static GpuShareConfig of(
      List<DeviceClaimConfiguration> configs,
      String resultName,
      @Nullable DeviceClass deviceClass) {
    return ofClaim(configs, resultName)
        .or(() -> deviceClass == null ? Optional.empty() : ofClass(deviceClass.getSpec().getConfig()))
        .orElse(GpuShareConfig.DEFAULT);
  }

  private static Optional<GpuShareConfig> ofClass(List<DeviceClassConfiguration> configs) {
    return configs.stream().flatMap(config -> valid(config.getOpaque()).stream()).reduce((first, second) -> second);
  }

  /** The config that an allocation has for the result of that name, whoever wrote it. */
  static Optional<GpuShareConfig> ofAllocation(List<DeviceAllocationConfiguration> configs, String resultName) {
    return Stream.of("FromClass", "FromClaim")
        .flatMap(source -> configs.stream().filter(config -> source.equals(config.getSource())))
        .filter(config -> RequestName.covers(config.getRequests(), resultName))
        .flatMap(config -> valid(config.getOpaque()).stream())
        .reduce((first, second) -> second);
  }

  /** What is wrong with a config of our driver. */
  static void report(String path, @Nullable OpaqueDeviceConfiguration opaque, List<String> problems) {
    if (isOurs(opaque) && GpuShareConfigDecoder
        .decode(OpaqueParameters.of(opaque)) instanceof Decoded.Invalid<?>(List<FieldError> errors)) {
      for (FieldError error : errors) {
        String field = error.path().isEmpty() ? path : path + "." + error.path();
        problems.add(field + ": " + error.problem());
      }
    }
  }

  static boolean isOurs(@Nullable OpaqueDeviceConfiguration opaque) {
    return opaque != null && Driver.NAME.equals(opaque.getDriver());
  }

  private static Optional<GpuShareConfig> valid(@Nullable OpaqueDeviceConfiguration opaque) {
    return isOurs(opaque) && GpuShareConfigDecoder
        .decode(OpaqueParameters.of(opaque)) instanceof Decoded.Valid<GpuShareConfig>(GpuShareConfig config)
            ? Optional.of(config)
            : Optional.empty();
  }
}
