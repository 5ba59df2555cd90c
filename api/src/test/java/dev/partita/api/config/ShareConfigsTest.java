package dev.partita.api.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfigurationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClaimConfigurationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassConfigurationBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.OpaqueDeviceConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.OpaqueDeviceConfigurationBuilder;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShareConfigsTest {
  /**
   * A config is a list of requests, a colon and its memoryPercent; {@code bad} is one that cannot be read,
   * {@code other} one for another driver, {@code none} one without opaque parameters.
   */
  @ParameterizedTest
  @CsvSource({
    // configs of the class, configs of the claim, result, what applies
    "'', '', a, default",
    ":10, '', a, 10",
    ":10 :11, '', a, 11",
    "'', :20, a, 20",
    "'', :20 :21, a, 21",
    "'', :20 :21, a/x, 21",
    ":10, :20, a, 20",
    ":10, b:20, a, 10",
    ":10, a:20, a/x, 20",
    ":10, a/x:20, a/x, 20",
    ":10, a/x:20, a/y, 10",
    "'', a/y:20, a, default",
    "'', a:20 b:30, a, 20",
    "'', a+b:20 c:30, b, 20",
    "'', a:20 :30, a, 30",
    ":10, :other, a, 10",
    ":10, :none, a, 10",
    ":other, '', a, default",
    // one that is wrong counts, wherever it stands, if it covers the result
    "'', :bad, a, wrong",
    ":bad, '', a, wrong",
    ":bad, :20, a, wrong",
    ":10, :bad, a, wrong",
    "'', :bad :20, a, wrong",
    "'', :20 :bad, a, wrong",
    "'', a:bad, a/x, wrong",
    "'', b:bad :20, a, 20",
    "'', a/y:bad, a/x, default"})
  void theLastThatCoversTheResultAppliesTheClaimsAfterItsClasss(
      String ofClass,
      String ofClaim,
      String resultName,
      String applies) {
    Decoded<GpuShareConfig> asked =
        ShareConfigs.of(words(ofClass).map(ShareConfigsTest::ofClass).toList(),
            words(ofClaim).map(ShareConfigsTest::ofClaim).toList(), resultName);
    assertThat(said(asked)).isEqualTo(applies);
    List<DeviceAllocationConfiguration> allocated =
        Stream.concat(
            words(ofClaim).map(config -> allocated(ShareConfigs.FROM_CLAIM, config)),
            words(ofClass).map(config -> allocated(ShareConfigs.FROM_CLASS, config)))
            .toList();
    assertThat(said(ShareConfigs.ofAllocation(allocated, resultName))).as("whatever the order of sources")
        .isEqualTo(applies);
  }

  @Test
  void aConfigAppliesAsAWholeAndNothingOfTheOnesBeforeIsLeft() {
    DeviceClaimConfiguration soft = ofClaim(":20");
    DeviceClaimConfiguration later =
        new DeviceClaimConfigurationBuilder().withOpaque(opaque("coreLimit", "Soft")).build();
    assertThat(ShareConfigs.of(List.of(), List.of(soft, later), "a"))
        .isInstanceOfSatisfying(Decoded.Valid.class,
            valid -> assertThat(((GpuShareConfig) valid.value()).memoryPercent()).isEmpty());
  }

  @Test
  void metadataThatTheClientGivesAnObjectIsNoErrorAndWrittenOneIs() {
    GenericKubernetesResource read = new GenericKubernetesResource();
    read.setApiVersion("gpu.partita.dev/v1alpha1");
    read.setKind("GpuShareConfig");
    read.setAdditionalProperty("memoryPercent", 20);
    assertThat(said(ofAllocation(read))).isEqualTo("20");
    read.setMetadata(new ObjectMetaBuilder().build());
    assertThat(said(ofAllocation(read))).isEqualTo("20");
    read.setMetadata(new ObjectMetaBuilder().withName("mine").build());
    assertThat(said(ofAllocation(read))).isEqualTo("wrong");
  }

  @Test
  void errorsSayWhereAndNothingOfOtherDriversConfigs() {
    Map<String, Object> misspelt = parameters("coreLimt", "Hard");
    assertThat(ShareConfigs.errors("spec.config[0].opaque.parameters", "gpu.partita.dev", misspelt))
        .extracting(FieldError::toString)
        .containsExactly(
            "spec.config[0].opaque.parameters.coreLimt: is not a known field; did you mean coreLimit?");
    assertThat(ShareConfigs.errors("p", "gpu.partita.dev", "text")).extracting(FieldError::path).containsOnly("p",
        "p.apiVersion", "p.kind");
    assertThat(ShareConfigs.errors("p", "gpu.example.com", misspelt)).isEmpty();
    assertThat(ShareConfigs.errors("p", null, misspelt)).isEmpty();
  }

  private static Decoded<GpuShareConfig> ofAllocation(Object parameters) {
    OpaqueDeviceConfiguration opaque =
        new OpaqueDeviceConfigurationBuilder().withDriver("gpu.partita.dev").withParameters(parameters).build();
    return ShareConfigs.ofAllocation(
        List.of(
            new DeviceAllocationConfigurationBuilder().withSource(ShareConfigs.FROM_CLAIM).withOpaque(opaque).build()),
        "a");
  }

  private static String said(Decoded<GpuShareConfig> decoded) {
    return switch (decoded) {
      case Decoded.Invalid<GpuShareConfig> _ -> "wrong";
      case Decoded.Valid<GpuShareConfig>(GpuShareConfig config) ->
          config.equals(GpuShareConfig.DEFAULT) ? "default" : String.valueOf(config.memoryPercent().orElseThrow());
    };
  }

  private static Stream<String> words(String configs) {
    return configs.isEmpty() ? Stream.of() : Stream.of(configs.split(" ", -1));
  }

  private static DeviceClassConfiguration ofClass(String config) {
    return new DeviceClassConfigurationBuilder().withOpaque(opaque(config)).build();
  }

  private static DeviceClaimConfiguration ofClaim(String config) {
    return new DeviceClaimConfigurationBuilder().withRequests(requests(config)).withOpaque(opaque(config)).build();
  }

  private static DeviceAllocationConfiguration allocated(String source, String config) {
    return new DeviceAllocationConfigurationBuilder().withSource(source).withRequests(requests(config))
        .withOpaque(opaque(config)).build();
  }

  private static List<String> requests(String config) {
    String list = config.substring(0, config.indexOf(':'));
    return list.isEmpty() ? List.of() : List.of(list.split("\\+", -1));
  }

  private static @Nullable OpaqueDeviceConfiguration opaque(String config) {
    String says = config.substring(config.indexOf(':') + 1);
    return switch (says) {
      case "none" -> null;
      case "bad" -> opaque("coreLimt", "Hard");
      case "other" ->
          new OpaqueDeviceConfigurationBuilder(opaque("coreLimt", "Hard")).withDriver("gpu.example.com").build();
      default -> opaque("memoryPercent", Integer.valueOf(says));
    };
  }

  private static OpaqueDeviceConfiguration opaque(String field, Object value) {
    return new OpaqueDeviceConfigurationBuilder().withDriver("gpu.partita.dev").withParameters(parameters(field, value))
        .build();
  }

  private static Map<String, Object> parameters(String field, Object value) {
    return new TreeMap<>(Map.of("apiVersion", "gpu.partita.dev/v1alpha1", "kind", "GpuShareConfig", field, value));
  }
}
