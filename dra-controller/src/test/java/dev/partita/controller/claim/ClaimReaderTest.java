package dev.partita.controller.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.classes.ClassPlan;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import dev.partita.controller.selector.DeviceSelectors;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClaimReaderTest {
  private final Map<String, DeviceClass> classes = new HashMap<>();
  private final ClaimReader reader = new ClaimReader(classes::get, new DeviceSelectors());

  @BeforeEach
  void classes() {
    Inventory inventory = Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 1, "NVIDIA H200", GpuNodes.GIB)));
    ClassPlan.of(inventory)
        .forEach(
            (name, selectors) -> classes.put(
                name,
                new DeviceClassBuilder()
                    .withNewMetadata()
                    .withName(name)
                    .addToLabels("app.kubernetes.io/managed-by", "partita-dra-controller")
                    .endMetadata()
                    .withNewSpec()
                    .withSelectors(selectors)
                    .endSpec()
                    .build()));
    addClass("nic.example.com", "device.driver == \"nic.example.com\"", "");
    addClass("any-but-partita", "device.driver != \"gpu.partita.dev\"", "");
    addClass("team-gpu", "device.driver == \"gpu.partita.dev\"", "");
    addClass(
        "half-gpu",
        "device.driver == \"gpu.partita.dev\"",
        """
              config:
              - opaque:
                  driver: gpu.partita.dev
                  parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, memoryPercent: 50}
            """);
    addClass(
        "soft-gpu",
        "device.driver == \"gpu.partita.dev\"",
        """
              config:
              - opaque:
                  driver: gpu.partita.dev
                  parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, placement: {gpus: Spread}}
            """);
  }

  @Test
  void aShareIsRead() {
    ClaimRequest claim =
        request(
            """
                requests:
                - name: gpu
                  exactly:
                    deviceClassName: h200.gpu.partita.dev
                    count: 2
                    capacity: {requests: {memory: 8Gi, cores: "25"}}
                """);
    DeviceRequest device = claim.requests().getFirst().alternatives().getFirst();
    assertThat(device.name()).isEqualTo("gpu");
    assertThat(device.count()).isEqualTo(new DeviceRequest.Count.Exactly(2));
    assertThat(device.memory()).isEqualTo(new MemoryRequest.Bytes(8L << 30));
    assertThat(device.cores()).hasValue(25);
    assertThat(device.selectors()).singleElement()
        .satisfies(s -> assertThat(s.origin()).isEqualTo("class h200.gpu.partita.dev"));
  }

  @Test
  void fractionsOfAUnitAreRoundedUp() {
    DeviceRequest device =
        request(share("memory: 1500m, cores: 12500m")).requests().getFirst().alternatives().getFirst();
    assertThat(device.memory()).isEqualTo(new MemoryRequest.Bytes(2));
    assertThat(device.cores()).hasValue(13);
  }

  @Test
  void memoryIsAskedForInPercentByTheConfigOfTheClaimOrItsClass() {
    assertThat(memory(config("memoryPercent: 40"))).isEqualTo(new MemoryRequest.Percent(40));
    assertThat(memory("requests: [{name: gpu, exactly: {deviceClassName: half-gpu}}]"))
        .isEqualTo(new MemoryRequest.Percent(50));
    assertThat(
        memory("requests: [{name: gpu, exactly: {deviceClassName: half-gpu, capacity: {requests: {memory: 8Gi}}}}]"))
        .as("an amount in the request stands for itself")
        .isEqualTo(new MemoryRequest.Bytes(8L << 30));
    assertThat(memory("requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}]"))
        .isEqualTo(new MemoryRequest.Unsaid());
  }

  @Test
  void percentAndAnAmountInOneClaimContradictEachOther() {
    String both = share("memory: 8Gi") + config("memoryPercent: 40").substring(config("").indexOf("\nconfig"));

    assertThat(problems(both))
        .containsExactly(
            "spec.devices.requests[0].exactly.capacity.requests[memory]: cannot be used together with memoryPercent of the claim's GpuShareConfig;"
                + " leave one of them out");
    assertThat(problems(config("memoryPercent: 0")))
        .containsExactly(
            "spec.devices.config[0].opaque.parameters.memoryPercent: must be a whole number from 1 to 100, not 0");
  }

  private MemoryRequest memory(String devices) {
    return request(devices).requests().getFirst().alternatives().getFirst().memory();
  }

  @Test
  void othersClaimsAreLeftAlone() {
    assertThat(read("requests: [{name: n, exactly: {deviceClassName: nic.example.com}}]"))
        .isInstanceOf(ClaimReading.Foreign.class);
    assertThat(read("requests: [{name: n, exactly: {deviceClassName: any-but-partita}}]"))
        .isInstanceOf(ClaimReading.Foreign.class);
    assertThat(read("requests: [{name: n, exactly: {deviceClassName: unheard-of}}]"))
        .isInstanceOf(ClaimReading.Foreign.class);
    assertThat(read("{}")).isInstanceOf(ClaimReading.Foreign.class);
  }

  @Test
  void aUsersOwnClassOfOurDevicesIsOurs() {
    assertThat(read("requests: [{name: gpu, exactly: {deviceClassName: team-gpu}}]"))
        .isInstanceOf(ClaimReading.Understood.class);
  }

  @Test
  void whatWouldLetKubeSchedulerHaveTheControllersCardsIsRefusedAlsoWhereAdmissionWasOff() {
    String tolerant =
        "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, %s tolerations: [{operator: Exists}]}}]";
    assertThat(problems(tolerant.formatted("")))
        .singleElement()
        .asString()
        .startsWith("spec.devices.requests[0].exactly.tolerations[0]: would let kube-scheduler allocate");
    assertThat(read(tolerant.formatted("adminAccess: true,"))).as("it takes nothing")
        .isInstanceOf(ClaimReading.Understood.class);
  }

  @Test
  void twoDriversInOneClaimNeedTwoClaims() {
    assertThat(
        problems(
            "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}, {name: nic, exactly: {deviceClassName: nic.example.com}}]"))
        .containsExactly(
            "spec.devices.requests[1].exactly.deviceClassName: nic.example.com is not a class of gpu.partita.dev; devices of two"
                + " drivers need two claims");
  }

  @Test
  void aClassOfOursThatDoesNotExistIsNamed() {
    assertThat(problems("requests: [{name: gpu, exactly: {deviceClassName: b300.gpu.partita.dev}}]"))
        .containsExactly(
            "spec.devices.requests[0].exactly.deviceClassName: there is no DeviceClass b300.gpu.partita.dev");
  }

  @Test
  void aMisspeltConfigFieldIsNamedByItsPath() {
    assertThat(problems(config("coreLimt: Hard")))
        .singleElement()
        .asString()
        .startsWith("spec.devices.config[0].opaque.parameters.coreLimt: is not a known field; did you mean coreLimit?");
    assertThat(problems(config("placement: {gpus: Tight}")))
        .singleElement()
        .asString()
        .startsWith("spec.devices.config[0].opaque.parameters.placement.gpus: must be one of Auto, Binpack, Spread");
  }

  @Test
  void aWrongKindIsNamed() {
    String document =
        "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}]\n"
            + "config: [{opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuConfig}}}]";
    assertThat(problems(document))
        .containsExactly("spec.devices.config[0].opaque.parameters.kind: must be GpuShareConfig, not \"GpuConfig\"");
  }

  @Test
  void anotherDriversConfigIsNoneOfOurBusiness() {
    assertThat(
        read(
            "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}]\n"
                + "config: [{opaque: {driver: nic.example.com, parameters: {anything: goes}}}]"))
        .isInstanceOf(ClaimReading.Understood.class);
  }

  @Test
  void whatIsNotUnderstoodIsNamedNotIgnored() {
    assertThat(problems(share("memory: 8Gi, bandwidth: 1Gi")))
        .containsExactly(
            "spec.devices.requests[0].exactly.capacity.requests[bandwidth]: is not a capacity of a GPU; known are memory and cores, and multiprocessors of MIG instances");
    assertThat(problems(share("memory: -8Gi")))
        .containsExactly("spec.devices.requests[0].exactly.capacity.requests[memory]: must not be negative: -8Gi");
    assertThat(problems("requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, allocationMode: Some}}]"))
        .containsExactly(
            "spec.devices.requests[0].exactly.allocationMode: Some is not supported; known are ExactCount and All");
    assertThat(problems("requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, colour: red}}]"))
        .containsExactly("spec.devices.requests[0].exactly.colour: is not supported");
    assertThat(problems("requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, count: 33}}]"))
        .containsExactly("spec.devices.requests: asks for 33 devices; one claim can hold 32");
    assertThat(problems(
        "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}]\nconstraints: [{requests: [gpu]}]"))
        .containsExactly("spec.devices.constraints[0]: only matchAttribute and distinctAttribute are supported");
  }

  @Test
  void aSelectorThatDoesNotCompileIsNamed() {
    assertThat(
        problems(
            "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, selectors: [{cel: {expression: 'device.driver =='}}]}}]"))
        .singleElement()
        .asString()
        .startsWith("spec.devices.requests[0].exactly.selectors[0].cel.expression: ");
  }

  @Test
  void theClaimsConfigCountsAfterTheClasss() {
    assertThat(placement("requests: [{name: gpu, exactly: {deviceClassName: soft-gpu}}]")).isEqualTo(Packing.SPREAD);
    assertThat(placement(config("placement: {gpus: Binpack}").replace("gpu.partita.dev}}]", "soft-gpu}}]")))
        .isEqualTo(Packing.BINPACK);
  }

  @Test
  void ofSeveralConfigsTheLastThatCoversARequestCounts() {
    ClaimRequest claim =
        request(
            """
                requests:
                - {name: a, exactly: {deviceClassName: half-gpu}}
                - {name: b, exactly: {deviceClassName: half-gpu}}
                - name: c
                  firstAvailable:
                  - {name: x, deviceClassName: half-gpu}
                  - {name: y, deviceClassName: half-gpu}
                - {name: d, exactly: {deviceClassName: half-gpu}}
                config:
                - {requests: [a, b], opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, memoryPercent: 10}}}
                - {requests: [c, b], opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, memoryPercent: 20}}}
                - {requests: [c/y], opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, memoryPercent: 30}}}
                - {opaque: {driver: nic.example.com, parameters: {memoryPercent: 40}}}
                """);
    assertThat(claim.requests().stream().flatMap(request -> request.alternatives().stream()))
        .extracting(DeviceRequest::name, DeviceRequest::memory)
        .containsExactly(
            tuple("a", new MemoryRequest.Percent(10)),
            tuple("b", new MemoryRequest.Percent(20)),
            tuple("c/x", new MemoryRequest.Percent(20)),
            tuple("c/y", new MemoryRequest.Percent(30)),
            tuple("d", new MemoryRequest.Percent(50)));
  }

  @Test
  void requiredPlacementIsAConstraintOverTheRequestsThatItCovers() {
    ClaimRequest claim = request(config("placement: {numa: Required}"));
    assertThat(claim.constraints())
        .containsExactly(new Constraint.Equal("resource.kubernetes.io/numaNode", List.of("gpu")));
  }

  @Test
  void preferredPlacementIsAPreferenceOfRequestsForSeveralCardsNvlinkFirst() {
    String both =
        "config: [{opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, placement: {numa: Preferred, nvlink: Preferred}}}}]";
    String two = "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, count: 2}}]";
    assertThat(request("{" + two + ", " + both + "}").preferences())
        .containsExactly(
            new Constraint.Equal("nvlinkDomain", List.of("gpu")),
            new Constraint.Equal("resource.kubernetes.io/numaNode", List.of("gpu")));
    assertThat(request("{" + two + "}").preferences()).as("nothing said").isEmpty();
    String all = "{deviceClassName: gpu.partita.dev, count: 2147483647, name: all}";
    String one = "{deviceClassName: gpu.partita.dev, name: one}";
    String twice =
        IntStream.range(0, 2).mapToObj(i -> "{name: gpu-" + i + ", firstAvailable: [" + all + ", " + one + "]}")
            .collect(Collectors.joining(", ", "requests: [", "]"));
    assertThat(request("{" + twice + ", " + both + "}").preferences()).as("more than any node has").hasSize(2);
    assertThat(request(config("placement: {numa: Preferred, nvlink: Preferred}")).preferences()).as("one card")
        .isEmpty();
  }

  @Test
  void alternativesHaveTheNamesOfSubrequests() {
    ClaimRequest claim =
        request(
            """
                requests:
                - name: gpu
                  firstAvailable:
                  - {name: big, deviceClassName: h200.gpu.partita.dev}
                  - {name: any, deviceClassName: gpu.partita.dev}
                """);
    assertThat(claim.requests().getFirst().alternatives()).extracting(DeviceRequest::name).containsExactly("gpu/big",
        "gpu/any");
  }

  @Test
  void kubeSchedulerHoldsToNothingThatBindsSeveralDevices() {
    String required =
        "config: [{opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, placement: {numa: Required, nvlink: Required}}}}]";
    String two = "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, count: 2}}]";
    String one = "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}]";
    assertThat(ControllerOnlyFields.fields(List.of(request("{" + two + ", " + required + "}"))))
        .containsExactly("placement.numa", "placement.nvlink");
    assertThat(ControllerOnlyFields.fields(List.of(request("{" + one + ", " + required + "}"))))
        .as("of one card there is nothing to hold to").isEmpty();
  }

  @Test
  void kubeSchedulerKeepsOthersOffACardOnlyIfAllOfItsMemoryIsGiven() {
    String alone =
        "config: [{opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, placement: {exclusive: true}}}}]";
    assertThat(ControllerOnlyFields.fields(List.of(request("{" + share("memory: 8Gi") + ", " + alone + "}"))))
        .containsExactly("placement.exclusive");
    assertThat(ControllerOnlyFields.fields(List.of(request("{" + share("cores: 50") + ", " + alone + "}"))))
        .as("all of the memory").isEmpty();
  }

  /** API servers keep such amounts; to write one out takes minutes, or all of the memory. */
  @ParameterizedTest
  @ValueSource(strings = {"1e300000000", "1e-300000000", "100e1999999998"})
  @Timeout(20)
  void anAmountThatNobodyCanWriteOutIsRefusedAtOnce(String amount) {
    assertThat(problems(share("memory: \"" + amount + "\""))).containsExactly(
        "spec.devices.requests[0].exactly.capacity.requests[memory]: is not a quantity: " + amount);
  }

  private static String share(String capacity) {
    return "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev, capacity: {requests: {" + capacity
        + "}}}}]";
  }

  private static String config(String fields) {
    return "requests: [{name: gpu, exactly: {deviceClassName: gpu.partita.dev}}]\n"
        + "config: [{opaque: {driver: gpu.partita.dev, parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, "
        + fields
        + "}}}]";
  }

  private Packing placement(String devices) {
    return request(devices).requests().getFirst().alternatives().getFirst().placement().gpus();
  }

  private ClaimRequest request(String devices) {
    ClaimReading reading = read(devices);
    assertThat(reading).isInstanceOf(ClaimReading.Understood.class);
    return ((ClaimReading.Understood) reading).request();
  }

  private List<String> problems(String devices) {
    ClaimReading reading = read(devices);
    assertThat(reading).isInstanceOf(ClaimReading.Unusable.class);
    return ((ClaimReading.Unusable) reading).problems();
  }

  private ClaimReading read(String devices) {
    String yaml =
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c, namespace: default, uid: u}\nspec:\n  devices:\n"
            + devices.indent(4);
    return reader.read(Serialization.unmarshal(yaml, ResourceClaim.class));
  }

  private void addClass(String name, String expression, String more) {
    String yaml =
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: " + name
            + "}\nspec:\n  selectors:\n  - cel: {expression: '"
            + expression + "'}\n" + more;
    classes.put(name, Serialization.unmarshal(yaml, DeviceClass.class));
  }
}
