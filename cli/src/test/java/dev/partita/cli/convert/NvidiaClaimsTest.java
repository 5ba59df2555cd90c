package dev.partita.cli.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims of ours, for who leaves. */
class NvidiaClaimsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "gpu.nvidia.com | device.attributes['gpu.nvidia.com'].productName.lowerAscii().contains('h200')",
        "gpu.nvidia.com | device.attributes['gpu.nvidia.com'].uuid == 'GPU-1'",
        "gpu.nvidia.com | device.attributes['resource.kubernetes.io'].pciBusID == '0000:65:00.0'",
        "mig.nvidia.com | device.attributes['gpu.nvidia.com'].profile == '1g.5gb'",
        "mig.nvidia.com | device.attributes['gpu.nvidia.com'].parentUUID == 'GPU-1'",
      })
  void whatCameFromNvidiasDriverGoesBackAsItWas(String className, String selector) {
    String devices = "requests: [{name: gpu, exactly: {deviceClassName: " + className
        + ", count: 2, selectors: [{cel: {expression: \"" + selector.replace("'", "\\\"") + "\"}}]}}]";
    JsonNode theirs = claim(devices);
    JsonNode ours = ((ClaimResult.Converted) ClaimConversion.convert(theirs)).object();

    assertThat(((ClaimResult.Converted) NvidiaClaims.convert(ours)).object()).isEqualTo(theirs);
  }

  @Test
  void aShareByMemoryIsCountedAndANoteSaysThatNobodyIsHeldToIt() {
    var converted = (ClaimResult.Converted) NvidiaClaims.convert(claim(
        "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, capacity: {requests: {memory: 8Gi}}}}]"));

    assertThat(converted.object().toString()).contains("\"deviceClassName\":\"gpu.nvidia.com\"", "\"memory\":\"8Gi\"");
    assertThat(converted.notes()).singleElement().asString().contains("limits nobody");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "whole.gpu.partita.dev | gpu.nvidia.com | uuid", "mig.gpu.partita.dev | mig.nvidia.com | parentUUID"})
  void aConstraintOnCardsIsWhatTheDevicesThereCallTheirCard(String ours, String theirs, String attribute) {
    String requests =
        "{name: a, exactly: {deviceClassName: %1$s}}, {name: b, firstAvailable: [{name: c, deviceClassName: %1$s}]}";
    JsonNode claim = claim("{requests: [" + requests.formatted(ours)
        + ", {name: d, exactly: {deviceClassName: another.example}}], constraints: [{distinctAttribute: gpu.partita.dev/uuid}]}");
    assertThat(((ClaimResult.Converted) NvidiaClaims.convert(claim)).object().toString())
        .contains("\"distinctAttribute\":\"gpu.nvidia.com/" + attribute + "\"");
    JsonNode mixed = claim("{requests: [" + requests.formatted(ours)
        + ", {name: d, exactly: {deviceClassName: whole.gpu.partita.dev}}, {name: e, exactly: {deviceClassName: mig.gpu.partita.dev}}],"
        + " constraints: [{requests: [a, b/c], distinctAttribute: gpu.partita.dev/uuid}]}");
    assertThat(((ClaimResult.Converted) NvidiaClaims.convert(mixed)).object().toString())
        .contains("\"distinctAttribute\":\"gpu.nvidia.com/" + attribute + "\"");
  }

  @Test
  void whatIsOneAttributeHereAndTwoThereIsRefusedForBothTogether() {
    assertThat(problems(
        "{requests: [{name: a, exactly: {deviceClassName: whole.gpu.partita.dev}}, {name: b, exactly: {deviceClassName: mig.gpu.partita.dev}}],"
            + " constraints: [{distinctAttribute: gpu.partita.dev/uuid}]}"))
        .singleElement().asString().startsWith("spec.devices.constraints[0].distinctAttribute: gpu.partita.dev/uuid");
  }

  @Test
  void whatHasNoEqualIsNamed() {
    assertThat(problems(
        """
            requests:
            - {name: a, exactly: {deviceClassName: gpu.partita.dev, capacity: {requests: {memory: 8Gi, cores: 25}}}}
            - {name: b, exactly: {deviceClassName: gpu.partita.dev}}
            - {name: c, exactly: {deviceClassName: whole.gpu.partita.dev, selectors: [{cel: {expression: 'device.attributes["gpu.partita.dev"].model == "h200"'}}]}}
            constraints: [{matchAttribute: gpu.partita.dev/nvlinkDomain}]
            config: [{opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, coreLimit: Soft, placement: {numa: Required}}}}]
            """))
        .extracting(problem -> problem.substring("spec.devices.".length())).satisfiesExactly(
            problem -> assertThat(problem).startsWith("requests[0].exactly.capacity.requests[cores]: has no equal"),
            problem -> assertThat(problem)
                .startsWith("requests[1].exactly.deviceClassName: is a share of a whole card's memory"),
            problem -> assertThat(problem)
                .startsWith("requests[2].exactly.selectors[0].cel.expression: asks about model"),
            problem -> assertThat(problem)
                .isEqualTo("constraints[0].matchAttribute: gpu.partita.dev/nvlinkDomain has no equal"),
            problem -> assertThat(problem).isEqualTo("config[0].opaque.parameters.coreLimit: has no equal"),
            problem -> assertThat(problem).isEqualTo("config[0].opaque.parameters.placement: has no equal"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "whole.gpu.partita.dev | device.attributes['gpu.partita.dev'].index == 0 | index",
        "whole.gpu.partita.dev | device.attributes['gpu.partita.dev'].minor == 0 | minor",
        "whole.gpu.partita.dev | device.capacity['gpu.partita.dev'].cores.isGreaterThan(quantity('1')) | cores",
        "whole.gpu.partita.dev | device.capacity['gpu.partita.dev'].multiprocessors.isGreaterThan(quantity('1')) | multiprocessors",
        "mig.gpu.partita.dev | device.capacity['gpu.partita.dev'].multiprocessors.isGreaterThan(quantity('1')) | "})
  void aSelectorOnWhatThatDriversDevicesDoNotHaveIsNamed(String className, String ours, String name) {
    String devices =
        "requests: [{name: a, exactly: {deviceClassName: " + className + ", selectors: [{cel: {expression: \""
            + ours + "\"}}]}}]";
    if (name == null) {
      assertThat(NvidiaClaims.convert(claim(devices))).isInstanceOf(ClaimResult.Converted.class);
    } else {
      assertThat(problems(devices)).containsExactly("spec.devices.requests[0].exactly.selectors[0].cel.expression: asks"
          + " about " + name + ", which devices of gpu.nvidia.com have no equal of");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "shared.mig.gpu.partita.dev | is a part of a MIG instance, which that driver hands out as a whole",
        "opaque.gpu.partita.dev | is of another vendor's cards, and that driver serves NVIDIA's",
        "mi300x.opaque.gpu.partita.dev | is of another vendor's cards, and that driver serves NVIDIA's"})
  void aClassWhoseDevicesThatDriverDoesNotHaveIsNamed(String name, String reason) {
    assertThat(problems("requests: [{name: a, exactly: {deviceClassName: " + name
        + ", capacity: {requests: {memory: 8Gi, cores: 25}}}}]"))
        .containsExactly("spec.devices.requests[0].exactly.deviceClassName: " + reason);
  }

  @Test
  void whereCardsArePreferredIsLeftOutWithANote() {
    var converted = (ClaimResult.Converted) NvidiaClaims.convert(claim(
        "{requests: [{name: gpu, exactly: {deviceClassName: whole.gpu.partita.dev}}], config: [{opaque: {driver: gpu.partita.dev,"
            + " parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, placement: {nodes: Spread}}}}]}"));

    assertThat(converted.object().path("spec").path("devices").has("config")).isFalse();
    assertThat(converted.notes()).singleElement().asString()
        .startsWith("spec.devices.config[0].opaque.parameters.placement: is left out");
  }

  @Test
  void whatIsOfAnOlderVersionComesOutInTheOneThatIsServed() {
    JsonNode older = JSON.valueToTree(YamlText.read("{apiVersion: resource.k8s.io/v1beta1, kind: ResourceClaim, spec:"
        + " {devices: {requests: [{name: gpu, deviceClassName: whole.gpu.partita.dev}]}}}"));

    assertThat(((ClaimResult.Converted) NvidiaClaims.convert(older)).object())
        .isEqualTo(claim("requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]"));
    assertThat(problems("requests: [{name: gpu, deviceClassName: whole.gpu.partita.dev}]")).singleElement().asString()
        .startsWith("spec.devices.requests[0].deviceClassName: stands under `exactly`");
  }

  @Test
  void aClassOfOnesOwnIsToldByWhatTheClaimSays() {
    String own = "spec.devices.requests[0].exactly.deviceClassName: large is a class of your own, of devices of"
        + " gpu.partita.dev: write Partita's class here, with what yours selects, and convert the claim then";
    assertThat(problems("requests: [{name: a, exactly: {deviceClassName: large, selectors: [{cel: {expression:"
        + " 'device.attributes[\"gpu.partita.dev\"].model == \"h200\"'}}]}}]")).containsExactly(own);
    assertThat(problems("{requests: [{name: a, exactly: {deviceClassName: large}}, {name: b, exactly: {deviceClassName:"
        + " gpu.nvidia.com}}], config: [{opaque: {driver: gpu.partita.dev, parameters: {kind: GpuShareConfig}}}]}"))
        .containsExactly(own);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{requests: [{name: a, exactly: {deviceClassName: whole.gpu.partita.dev}}, {name: b, exactly: {deviceClassName: large, selectors: [{cel: {expression: 'device.driver == \"gpu.partita.dev\"'}}]}}, {name: c, exactly: {deviceClassName: net.example}}]}",
        "{requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com}}, {name: b, exactly: {deviceClassName: large}}, {name: c, exactly: {deviceClassName: net.example}}], constraints: [{requests: [b], distinctAttribute: gpu.partita.dev/uuid}]}",
        "{requests: [{name: a, exactly: {deviceClassName: whole.gpu.partita.dev}}, {name: b, exactly: {deviceClassName: large}}, {name: c, exactly: {deviceClassName: net.example}}], config: [{requests: [b], opaque: {driver: gpu.partita.dev, parameters: {kind: GpuShareConfig}}}]}",
      })
  void aClassOfOnesOwnIsToldByWhatIsSaidOfItsRequest(String devices) {
    assertThat(problems(devices))
        .containsExactly("spec.devices.requests[1].exactly.deviceClassName: large is a class of"
            + " your own, of devices of gpu.partita.dev: write Partita's class here, with what yours selects, and convert the"
            + " claim then");
  }

  @Test
  void claimsOfOthersAreLeftAlone() {
    assertThat(NvidiaClaims.convert(claim("requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]")))
        .isInstanceOf(ClaimResult.NothingAsked.class);
  }

  private static JsonNode claim(String devices) {
    Object spec = Map.of("devices", YamlText.read(devices));
    return JSON.valueToTree(Map.of("apiVersion", "resource.k8s.io/v1", "kind", "ResourceClaim", "spec", spec));
  }

  private static List<String> problems(String devices) {
    return ((ClaimResult.Refused) NvidiaClaims.convert(claim(devices))).problems().stream().map(Object::toString)
        .toList();
  }
}
