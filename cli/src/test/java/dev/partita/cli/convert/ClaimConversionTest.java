package dev.partita.cli.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.controller.selector.DeviceSelectors;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims of other DRA drivers. */
class ClaimConversionTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void aCardIsAWholeCardAndAPartOfItsMemoryAShare() {
    JsonNode requests = converted(
        """
            requests:
            - {name: card, exactly: {deviceClassName: gpu.nvidia.com}}
            - {name: part, exactly: {deviceClassName: gpu.nvidia.com, capacity: {requests: {memory: 4Gi}}}}
            - {name: mig, exactly: {deviceClassName: mig.nvidia.com, count: 2}}
            - {name: nic, exactly: {deviceClassName: rdma.example.com, selectors: [{cel: {expression: 'device.attributes["rdma.example.com"].minor == 0'}}]}}
            """)
        .path("requests");

    assertThat(requests).extracting(each -> each.path("exactly").path("deviceClassName").asText())
        .containsExactly("whole.gpu.partita.dev", "gpu.partita.dev", "mig.gpu.partita.dev", "rdma.example.com");
    assertThat(requests.path(1).path("exactly").path("capacity").path("requests").path("memory").asText())
        .isEqualTo("4Gi");
    assertThat(requests.path(3).toString()).contains("rdma.example.com\\\"].minor");
  }

  @Test
  void whatIsOfAnOlderVersionComesOutInTheOneThatIsServed() {
    String flat = "{requests: [{name: gpu, deviceClassName: gpu.nvidia.com, count: 2, allocationMode: ExactCount,"
        + " selectors: [{cel: {expression: device.driver == 'gpu.nvidia.com'}}]}, {name: nic, deviceClassName:"
        + " nic.example.com}, {name: any, firstAvailable: [{name: a, deviceClassName: mig.nvidia.com}]}]}";
    JsonNode claim = claim("resource.k8s.io/v1beta1", flat);

    JsonNode converted = ((ClaimResult.Converted) ClaimConversion.convert(claim)).object();

    assertThat(converted.path("apiVersion").asText()).isEqualTo("resource.k8s.io/v1");
    assertThat(converted.at("/spec/devices")).isEqualTo(JSON.valueToTree(YamlText.read("""
        requests:
        - name: gpu
          exactly:
            deviceClassName: whole.gpu.partita.dev
            count: 2
            allocationMode: ExactCount
            selectors: [{cel: {expression: 'device.driver == "gpu.partita.dev"'}}]
        - {name: nic, exactly: {deviceClassName: nic.example.com}}
        - {name: any, firstAvailable: [{name: a, deviceClassName: mig.gpu.partita.dev}]}
        """)));
    String exactly = "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}";
    assertThat(((ClaimResult.Converted) ClaimConversion.convert(claim("resource.k8s.io/v1beta2", exactly))).object())
        .isEqualTo(((ClaimResult.Converted) ClaimConversion.convert(claim(exactly))).object());
  }

  @Test
  void aProblemOfAnOlderVersionIsWhereThatHasIt() {
    String flat = "{requests: [{name: gpu, deviceClassName: vfio.gpu.nvidia.com}]}";

    assertThat(((ClaimResult.Refused) ClaimConversion.convert(claim("resource.k8s.io/v1beta1", flat))).problems())
        .singleElement().asString()
        .startsWith("spec.devices.requests[0].deviceClassName: hands a card to a virtual machine");
  }

  @Test
  void whatNoApiServerTakesWhereItStandsIsNamed() {
    assertThat(problems("requests: [{name: gpu, deviceClassName: gpu.nvidia.com}]")).containsExactly(
        "spec.devices.requests[0].deviceClassName: stands under `exactly` in every version but v1beta1: move what the"
            + " request asks for there");
  }

  @Test
  void alternativesAreConvertedAsTheyAre() {
    assertThat(converted("requests: [{name: gpu, firstAvailable: [{name: a, deviceClassName: gpu.nvidia.com}, {name: b,"
        + " deviceClassName: mig.nvidia.com}]}]").path("requests").toString())
        .contains("whole.gpu.partita.dev", "mig.gpu.partita.dev").doesNotContain("nvidia");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "gpu | device.attributes['gpu.nvidia.com'].productName.lowerAscii().matches('^.*a100.*$') | device.attributes[\"gpu.partita.dev\"].productName.lowerAscii().matches('^.*a100.*$')",
        "gpu | device.attributes[ \"gpu.nvidia.com\" ] . index == 2 | device.attributes[\"gpu.partita.dev\"].index == 2",
        "gpu | device.attributes['gpu.nvidia.com'].uuid == 'GPU-1' | device.attributes[\"gpu.partita.dev\"].uuid == 'GPU-1'",
        "gpu | device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('40Gi')) | device.capacity[\"gpu.partita.dev\"].memory.isGreaterThan(quantity('40Gi'))",
        "gpu | device.driver == 'gpu.nvidia.com' | device.driver == \"gpu.partita.dev\"",
        "gpu | device.attributes['resource.kubernetes.io'].pciBusID == '0000:65:00.0' | device.attributes[\"gpu.partita.dev\"].pciBusID == '0000:65:00.0'",
        "gpu | device.attributes['resource.kubernetes.io'].pcieRoot == 'pci0000:64' | device.attributes['resource.kubernetes.io'].pcieRoot == 'pci0000:64'",
        "mig | device.attributes['gpu.nvidia.com'].profile == '1g.5gb' | device.attributes[\"gpu.partita.dev\"].profile == '1g.5gb'",
        "mig | device.attributes['gpu.nvidia.com'].parentUUID == 'GPU-1' | device.attributes[\"gpu.partita.dev\"].uuid == 'GPU-1'",
        "mig | device.capacity['gpu.nvidia.com'].multiprocessors.compareTo(quantity('14')) >= 0 | device.capacity[\"gpu.partita.dev\"].multiprocessors.compareTo(quantity('14')) >= 0",
      })
  void aSelectorAsksTheSameOfOurDevicesAndTheAllocatorCompilesIt(String kind, String theirs, String ours) {
    String expression = converted("requests: [{name: gpu, exactly: {deviceClassName: " + kind
        + ".nvidia.com, selectors: [{cel: {expression: " + quoted(theirs) + "}}]}}]")
        .at("/requests/0/exactly/selectors/0/cel/expression").asText();

    assertThat(expression).isEqualTo(ours);
    assertThat(new DeviceSelectors().compileError(expression)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "vgpu-manager | device.attributes[\"manager.nvidia.com\"].type == \"vgpu\" | device.attributes[\"gpu.partita.dev\"].type == \"gpu\"",
        "vgpu-manager | device.attributes['manager.nvidia.com'].uuid in ['gpu-1'] | device.attributes[\"gpu.partita.dev\"].uuid.lowerAscii() in ['gpu-1']",
        "mig-manager | device.attributes['manager.nvidia.com'].parentUUID == 'gpu-1' | device.attributes[\"gpu.partita.dev\"].uuid.lowerAscii() == 'gpu-1'",
        "hami-core-gpu.project-hami.io | device.attributes['hami-core-gpu.project-hami.io'].type=='hami-gpu' && device.attributes['hami-core-gpu.project-hami.io'].uuid == 'GPU-1' | device.attributes[\"gpu.partita.dev\"].type==\"gpu\" && device.attributes[\"gpu.partita.dev\"].uuid == 'GPU-1'",
        "vgpu-manager | device.attributes['example.com'].type == 'vgpu' | ",
        "vgpu-manager | device.attributes['manager.nvidia.com'].type != 'vgpu' | ",
      })
  void aSelectorOfAnotherDriversSharesFindsOurs(String className, String theirs, String ours) {
    String claim = "requests: [{name: gpu, exactly: {deviceClassName: " + className
        + ", selectors: [{cel: {expression: " + quoted(theirs) + "}}]}}]";
    if (ours == null) {
      assertThat(problems(claim)).singleElement().asString().contains("selectors[0].cel.expression", "type vgpu");
      return;
    }
    String expression = converted(claim).at("/requests/0/exactly/selectors/0/cel/expression").asText();

    assertThat(expression).isEqualTo(ours);
    assertThat(new DeviceSelectors().compileError(expression)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "gpu | device.attributes['gpu.nvidia.com'].addressingMode == 'HMM' | addressingMode",
        "mig | device.attributes['gpu.nvidia.com'].uuid == 'MIG-1' | uuid",
        "mig | device.capacity['gpu.nvidia.com'].copyEngines.isGreaterThan(quantity('0')) | copyEngines",
        "gpu | device.capacity['gpu.nvidia.com'].multiprocessors.isGreaterThan(quantity('100')) | multiprocessors",
        "gpu | device.capacity['gpu.nvidia.com'].cores.isGreaterThan(quantity('100')) | cores",
      })
  void whatASelectorAsksThatHasNoEqualIsNamed(String kind, String theirs, String name) {
    assertThat(problems("requests: [{name: gpu, exactly: {deviceClassName: " + kind
        + ".nvidia.com, selectors: [{cel: {expression: " + quoted(theirs) + "}}]}}]"))
        .containsExactly("spec.devices.requests[0].exactly.selectors[0].cel.expression: asks about " + name
            + ", which devices of gpu.partita.dev have no equal of");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'gpu.nvidia.com' in device.attributes",
        "device.attributes[?'gpu.nvidia.com'].?index.orValue(0) == 0",
        "device.attributes['gpu.nvidia.com']['productName'] == 'NVIDIA H200'",
        "device.attributes['gpu.nvidia.com'].?productName.orValue('') == 'NVIDIA H200'",
        "cel.bind(a, device.attributes['gpu.nvidia.com'], a.productName == 'NVIDIA H200')",
        "device.driver.startsWith('gpu.nvidia')",
        "'gpu.nvidia.com' == device.driver"})
  void aSelectorThatIsNotLookedIntoSaysSo(String theirs) {
    assertThat(problems("requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, selectors: [{cel:"
        + " {expression: " + quoted(theirs) + "}}]}}]")).containsExactly(
            "spec.devices.requests[0].exactly.selectors[0].cel.expression: is written in a way that is not translated:"
                + " device.attributes['gpu.nvidia.com'].<name> would be, and device.driver == 'gpu.nvidia.com'");
  }

  @Test
  void instancesMayBeAskedForByMultiprocessors() {
    String request = "requests: [{name: gpu, exactly: {deviceClassName: %s.nvidia.com, capacity: {requests: {%s}}}}]";

    assertThat(converted(request.formatted("mig", "memory: 8Gi, multiprocessors: 28")).toString())
        .contains("mig.gpu.partita.dev", "\"multiprocessors\":28");
    assertThat(problems(request.formatted("mig", "cores: 10"))).containsExactly(
        "spec.devices.requests[0].exactly.capacity.requests[cores]: has no equal: ask for memory or multiprocessors, by"
            + " which the smallest instance that will do is taken");
    assertThat(problems(request.formatted("gpu", "multiprocessors: 28"))).singleElement().asString()
        .startsWith(
            "spec.devices.requests[0].exactly.capacity.requests[multiprocessors]: has no equal: ask for memory");
  }

  @Test
  void aStandardAttributeThatOurDevicesHaveByAnotherNameIsTranslatedInConstraints() {
    JsonNode devices = converted(
        """
            requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com}}, {name: b, exactly: {deviceClassName: nic.example.com}}]
            constraints: [{requests: [a], distinctAttribute: resource.kubernetes.io/pciBusID}, {requests: [b], matchAttribute: resource.kubernetes.io/pciBusID}]
            """);

    assertThat(devices.path("constraints").findValuesAsText("distinctAttribute"))
        .containsExactly("gpu.partita.dev/pciBusID");
    assertThat(devices.path("constraints").findValuesAsText("matchAttribute")).as("of devices of others")
        .containsExactly("resource.kubernetes.io/pciBusID");
  }

  @Test
  void fieldsOfAConfigThatAreNotKnownAreNamed() {
    assertThat(problems(
        "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}], config: [{opaque: {driver: gpu.nvidia.com,"
            + " parameters: {kind: GpuConfig, persistence: true, sharing: {strategy: TimeSlicing, weight: 3}}}}]}"))
        .containsExactly(
            "spec.devices.config[0].opaque.parameters.persistence: is not known here, and has no equal",
            "spec.devices.config[0].opaque.parameters.sharing.weight: is not known here, and has no equal");
  }

  @Test
  void instancesOfOneCardAreOfOneCard() {
    JsonNode devices = converted(
        """
            requests:
            - {name: a, exactly: {deviceClassName: mig.nvidia.com}}
            - {name: b, exactly: {deviceClassName: mig.nvidia.com}}
            constraints: [{requests: [], matchAttribute: gpu.nvidia.com/parentUUID}, {matchAttribute: resource.kubernetes.io/pcieRoot}]
            """);

    assertThat(devices.path("constraints").toString()).isEqualTo(
        "[{\"requests\":[],\"matchAttribute\":\"gpu.partita.dev/uuid\"},{\"matchAttribute\":\"resource.kubernetes.io/pcieRoot\"}]");
    assertThat(problems(
        "{requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com}}], constraints: [{matchAttribute: gpu.nvidia.com/cliqueID}]}"))
        .containsExactly("spec.devices.constraints[0].matchAttribute: gpu.nvidia.com/cliqueID has no equal");
  }

  /** The UUID of an instance is its own there, and its card's here. */
  @Test
  void aConstraintOnTheUuidOfInstancesHasNoEqual() {
    assertThat(problems(
        "{requests: [{name: a, exactly: {deviceClassName: mig.nvidia.com, count: 2}}], constraints: [{distinctAttribute: gpu.nvidia.com/uuid}]}"))
        .containsExactly("spec.devices.constraints[0].distinctAttribute: gpu.nvidia.com/uuid has no equal");
    assertThat(converted(
        "{requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}], constraints: [{distinctAttribute: gpu.nvidia.com/uuid}]}")
        .path("constraints").toString()).isEqualTo("[{\"distinctAttribute\":\"gpu.partita.dev/uuid\"}]");
  }

  @Test
  void timeSlicingOfAClaimIsWhatItsPodsHaveOfAWholeCardAnyway() {
    String config =
        "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}], config: [{opaque: {driver: gpu.nvidia.com,"
            + " parameters: {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig, sharing: {strategy: TimeSlicing, timeSlicingConfig: {interval: %s}}}}},"
            + " {opaque: {driver: nic.example.com, parameters: {}}}]}";

    assertThat(converted(config.formatted("Default")).toString()).contains("whole.gpu.partita.dev", "nic.example.com")
        .doesNotContain("nvidia");
    assertThat(notes(config.formatted("Default"))).isEmpty();
    assertThat(notes(config.formatted("Long"))).singleElement().asString()
        .startsWith("spec.devices.config[0].opaque.parameters.sharing.timeSlicingConfig.interval: Long is left out: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"vgpu-manager", "hami-core-gpu.project-hami.io"})
  void aShareWithoutCoresHasAllOfACardsThereAndThatIsSaid(String className) {
    String request = "requests: [{name: gpu, exactly: {deviceClassName: " + className
        + ", capacity: {requests: {memory: 4Gi%s}}}}]";

    assertThat(notes(request.formatted(""))).singleElement().asString()
        .startsWith("spec.devices.requests[0].exactly.capacity.requests: asks for no cores");
    assertThat(notes(request.formatted(", cores: 30"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"ResourceClaim, ''", "ResourceClaimTemplate, spec."})
  void howTheCoresOfVgpuManagersClaimAreLimitedIsSaidNotToBeRead(String kind, String at) {
    Map<String, Object> metadata =
        Map.of("annotations", Map.of("nvidia.com/vgpu-compute-policy", "none", "other", "1"));
    Map<String, Object> spec = Map.of("devices", YamlText.read(
        "requests: [{name: gpu, exactly: {deviceClassName: vgpu-manager, capacity: {requests: {cores: 30}}}}]"));
    JsonNode claim = JSON.valueToTree(kind.equals("ResourceClaim")
        ? Map.of("apiVersion", "resource.k8s.io/v1", "kind", kind, "metadata", metadata, "spec", spec)
        : Map.of("apiVersion", "resource.k8s.io/v1", "kind", kind, "spec", Map.of("metadata", metadata, "spec", spec)));

    assertThat(((ClaimResult.Converted) ClaimConversion.convert(claim)).notes()).singleElement().asString()
        .startsWith(at + "metadata.annotations[nvidia.com/vgpu-compute-policy]: is not read: `coreLimit`");
  }

  @Test
  void mpsSaysWhatToAskForInstead() {
    assertThat(problems(
        "{requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}], config: [{opaque: {driver: gpu.nvidia.com,"
            + " parameters: {kind: GpuConfig, sharing: {strategy: MPS, mpsConfig: {defaultActiveThreadPercentage: 50, defaultPinnedDeviceMemoryLimit: 10Gi}}}}}]}"))
        .singleElement().asString()
        .startsWith(
            "spec.devices.config[0].opaque.parameters.sharing.strategy: MPS limits every process of a claim alike")
        .endsWith(
            "give each container a claim of its own of class gpu.partita.dev, with capacity memory 10Gi and cores 50");
  }

  @Test
  void classesWithoutAnEqualSayWhy() {
    assertThat(problems("requests: [{name: channel, exactly: {deviceClassName: imex.nvidia.com}}]")).singleElement()
        .asString()
        .startsWith("spec.devices.requests[0].exactly.deviceClassName: is a channel of memory between nodes");
    assertThat(problems("requests: [{name: gpu, exactly: {deviceClassName: vfio.gpu.nvidia.com}}]"))
        .containsExactly(
            "spec.devices.requests[0].exactly.deviceClassName: hands a card to a virtual machine, which Partita does not");
    assertThat(problems(
        "requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, capacity: {requests: {shares: 1}}}}]"))
        .containsExactly(
            "spec.devices.requests[0].exactly.capacity.requests[shares]: has no equal: ask for memory, and for cores where the time is to be limited");
  }

  @Test
  void sharesOfVgpuManagerAndOfHamiAreSharesOfTheSameSize() {
    for (String name : List.of("vgpu-manager", "hami-core-gpu.project-hami.io")) {
      assertThat(converted("requests: [{name: gpu, exactly: {deviceClassName: " + name
          + ", count: 2, capacity: {requests: {cores: 50, memory: 4Gi}}}}]").path("requests").path(0).path("exactly")
          .toString())
          .isEqualTo(
              "{\"deviceClassName\":\"gpu.partita.dev\",\"count\":2,\"capacity\":{\"requests\":{\"cores\":50,\"memory\":\"4Gi\"}}}");
    }
  }

  @Test
  void aClassOfOnesOwnIsToldByItsNameOrByWhatTheClaimSays() {
    String own = " is a class of your own, of devices of gpu.nvidia.com: write the driver's class here, with what yours"
        + " selects, and convert the claim then";
    assertThat(problems("requests: [{name: gpu, exactly: {deviceClassName: rtx5090.gpu.nvidia.com}}]"))
        .containsExactly("spec.devices.requests[0].exactly.deviceClassName: rtx5090.gpu.nvidia.com" + own);
    assertThat(problems("requests: [{name: a, deviceClassName: large, selectors: [{cel: {expression:"
        + " 'device.attributes[\"gpu.nvidia.com\"].index == 0'}}]}]"))
        .containsExactly("spec.devices.requests[0].deviceClassName: large" + own);
    assertThat(problems("{requests: [{name: a, exactly: {deviceClassName: large}}], config: [{opaque: {driver:"
        + " gpu.nvidia.com, parameters: {kind: GpuConfig}}}]}"))
        .containsExactly("spec.devices.requests[0].exactly.deviceClassName: large" + own);
    assertThat(ClaimConversion.convert(claim("requests: [{name: a, exactly: {deviceClassName: rdma.example.com}}]")))
        .isInstanceOf(ClaimResult.NothingAsked.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com}}, {name: b, exactly: {deviceClassName: large, selectors: [{cel: {expression: 'device.driver == \"gpu.nvidia.com\"'}}]}}, {name: c, exactly: {deviceClassName: net.example}}]}",
        "{requests: [{name: a, exactly: {deviceClassName: whole.gpu.partita.dev}}, {name: b, exactly: {deviceClassName: large}}, {name: c, exactly: {deviceClassName: net.example}}], constraints: [{requests: [b], distinctAttribute: gpu.nvidia.com/uuid}]}",
        "{requests: [{name: a, exactly: {deviceClassName: net.example}}, {name: b, exactly: {deviceClassName: large}}], config: [{requests: [b], opaque: {driver: gpu.nvidia.com, parameters: {kind: GpuConfig}}}]}",
      })
  void aClassOfOnesOwnIsToldByWhatIsSaidOfItsRequest(String devices) {
    assertThat(problems(devices))
        .containsExactly("spec.devices.requests[1].exactly.deviceClassName: large is a class of"
            + " your own, of devices of gpu.nvidia.com: write the driver's class here, with what yours selects, and convert"
            + " the claim then");
  }

  /** The driver of the network card passes over the config of another driver. */
  @Test
  void whatIsSaidOfAKnownClassAsWellTellsNothingOfAnother() {
    assertThat(converted("{requests: [{name: a, exactly: {deviceClassName: gpu.nvidia.com}}, {name: nic, exactly:"
        + " {deviceClassName: net.example}}], config: [{requests: [a, nic], opaque: {driver: gpu.nvidia.com, parameters:"
        + " {apiVersion: resource.nvidia.com/v1beta1, kind: GpuConfig}}}]}").toString()).contains("net.example");
  }

  /** Steps that grow with the square of its length take hours. */
  @ParameterizedTest
  @ValueSource(strings = {"gpu", "mig", "gpu."})
  void aClassNameOfManyMegabytesIsReadInOneGo(String repeated) {
    JsonNode claim = claim("requests: [{name: a, exactly: {deviceClassName: x}}]");
    ((ObjectNode) claim.at("/spec/devices/requests/0/exactly")).put("deviceClassName",
        "gpu." + repeated.repeat((4 << 20) / repeated.length()) + "\n");

    assertTimeoutPreemptively(Duration.ofSeconds(60), () -> ClaimConversion.convert(claim));
  }

  @Test
  void aClassOfCardsOfADriverThatIsNotKnownIsNamed() {
    assertThat(problems("requests: [{name: a, exactly: {deviceClassName: gpu.example.com}}]")).containsExactly(
        "spec.devices.requests[0].exactly.deviceClassName: gpu.example.com looks like a class of GPUs of another DRA"
            + " driver, and none that is known here has it; whole.gpu.partita.dev is a card of ours");
    assertThat(converted("requests: [{name: a, firstAvailable: [{name: x, deviceClassName: gpu.nvidia.com}, {name: y,"
        + " deviceClassName: gpu.example.com}]}]").toString()).contains("whole.gpu.partita.dev", "gpu.example.com");
    assertThat(ClaimConversion.convert(claim("requests: [{name: a, exactly: {deviceClassName: small-gpu}}]")))
        .isInstanceOf(ClaimResult.NothingAsked.class);
  }

  @Test
  void claimsOfOtherDevicesAndOfOursAreLeftAlone() {
    assertThat(ClaimConversion.convert(claim("requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}]")))
        .isInstanceOf(ClaimResult.NothingAsked.class);
    assertThat(ClaimConversion.convert(JSON.valueToTree(YamlText.read(
        "{apiVersion: resource.k8s.io/v1alpha2, kind: ResourceClaim, spec: {resourceClassName: gpu.nvidia.com}}"))))
        .isInstanceOf(ClaimResult.Refused.class);
  }

  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static JsonNode claim(String devices) {
    return claim("resource.k8s.io/v1", devices);
  }

  private static JsonNode claim(String apiVersion, String devices) {
    Object spec = Map.of("devices", YamlText.read(devices));
    return JSON.valueToTree(Map.of("apiVersion", apiVersion, "kind", "ResourceClaim", "spec", spec));
  }

  private static JsonNode converted(String devices) {
    JsonNode claim = claim(devices);
    JsonNode before = claim.deepCopy();
    var converted = (ClaimResult.Converted) ClaimConversion.convert(claim);
    assertThat(claim).isEqualTo(before);
    assertThat(ClaimConversion.convert(converted.object())).isInstanceOf(ClaimResult.NothingAsked.class);
    return converted.object().path("spec").path("devices");
  }

  private static List<String> notes(String devices) {
    return ((ClaimResult.Converted) ClaimConversion.convert(claim(devices))).notes().stream()
        .map(Object::toString).toList();
  }

  private static List<String> problems(String devices) {
    return ((ClaimResult.Refused) ClaimConversion.convert(claim(devices))).problems().stream()
        .map(Object::toString).toList();
  }
}
