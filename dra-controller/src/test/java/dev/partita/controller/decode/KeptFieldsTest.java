package dev.partita.controller.decode;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.controller.DraController;
import dev.partita.controller.decode.KeptFields.Fields;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.instruction.InvokeInstruction;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class KeptFieldsTest {
  private static final String MODEL = "io/fabric8/kubernetes/api/model/";

  /** Where in informers' objects the client's types stand of which a part is kept. */
  private static final Map<String, List<String>> PARTLY_KEPT =
      Map.ofEntries(
          Map.entry(
              "ObjectMeta",
              Stream
                  .of("pods", "resourceclaims", "resourceclaimtemplates", "nodes", "namespaces", "resourceslices",
                      "deviceclasses", "devicetaintrules", "podgroups", "gpunodes", "gpuquotas")
                  .map(kind -> kind + " metadata")
                  .toList()),
          Map.entry("Pod", List.of("pods")),
          Map.entry("PodSpec", List.of("pods spec")),
          Map.entry("PodStatus", List.of("pods status")),
          Map.entry("NodeAllocatableResourceClaimStatus", List.of("pods status nodeAllocatableResourceClaimStatuses")),
          Map.entry("PodCondition", List.of("pods status conditions")),
          Map.entry("Container", List.of("pods spec containers", "pods spec initContainers")),
          Map.entry("ResourceRequirements",
              List.of("pods spec containers resources", "pods spec resources", "pods status resources",
                  "pods status containerStatuses resources")),
          Map.entry("ContainerStatus", List.of("pods status containerStatuses", "pods status initContainerStatuses")),
          Map.entry("Affinity", List.of("pods spec affinity")),
          Map.entry("NodeAffinity", List.of("pods spec affinity nodeAffinity")),
          Map.entry("Node", List.of("nodes")),
          Map.entry("NodeSpec", List.of("nodes spec")),
          Map.entry("NodeStatus", List.of("nodes status")),
          Map.entry("Namespace", List.of("namespaces")),
          Map.entry("resource/v1/ResourceClaim", List.of("resourceclaims")),
          Map.entry("resource/v1/ResourceClaimStatus", List.of("resourceclaims status")),
          Map.entry("resource/v1/AllocationResult", List.of("resourceclaims status allocation")),
          Map.entry("resource/v1/DeviceAllocationResult", List.of("resourceclaims status allocation devices")),
          Map.entry("resource/v1/AllocatedDeviceStatus", List.of("resourceclaims status devices")),
          Map.entry("resource/v1/ResourceClaimTemplate", List.of("resourceclaimtemplates")),
          Map.entry("resource/v1/ResourceClaimTemplateSpec", List.of("resourceclaimtemplates spec")),
          Map.entry("resource/v1/ResourceSlice", List.of("resourceslices")),
          Map.entry("resource/v1/DeviceClass", List.of("deviceclasses")));

  /** Types that stand in fields which are kept whole. */
  private static final Set<String> KEPT_WHOLE =
      Set.of(
          "LabelSelector", "LabelSelectorRequirement", "NodeSelector", "NodeSelectorRequirement",
          "NodeSelectorTerm", "PodResourceClaim", "PodResourceClaimStatus", "PodSchedulingGate", "PodSchedulingGroup",
          "Quantity",
          "Taint", "Toleration", "Condition", "resource/v1/CELDeviceSelector", "resource/v1/CapacityRequirements",
          "resource/v1/Counter", "resource/v1/CounterSet", "resource/v1/Device",
          "resource/v1/DeviceAllocationConfiguration",
          "resource/v1/DeviceAttribute",
          "resource/v1/DeviceCapacity", "resource/v1/DeviceClaim", "resource/v1/DeviceClaimConfiguration",
          "resource/v1/DeviceClassConfiguration", "resource/v1/DeviceClassSpec", "resource/v1/DeviceConstraint",
          "resource/v1/DeviceCounterConsumption", "resource/v1/DeviceRequest",
          "resource/v1/DeviceRequestAllocationResult", "resource/v1/DeviceSelector",
          "resource/v1/DeviceSubRequest", "resource/v1/DeviceTaint", "resource/v1/DeviceToleration",
          "resource/v1/ExactDeviceRequest", "resource/v1/OpaqueDeviceConfiguration",
          "resource/v1/ResourceClaimConsumerReference", "resource/v1/ResourceClaimSpec",
          "resource/v1/ResourcePool", "resource/v1/ResourceSliceSpec", "runtime/RawExtension");

  /** Types of objects that no informer of the view keeps, the interface of all, and what a list says of itself. */
  private static final Set<String> READ_OTHERWISE =
      Set.of(
          "ConfigMap", "HasMetadata", "KubernetesResourceList", "ListMeta", "PodList", "Secret", "Status",
          "StatusCause",
          "StatusDetails", "apps/Deployment", "apps/DeploymentSpec",
          "admissionregistration/v1/MutatingWebhook", "admissionregistration/v1/MutatingWebhookConfiguration",
          "admissionregistration/v1/ValidatingWebhook", "admissionregistration/v1/ValidatingWebhookConfiguration",
          "admissionregistration/v1/WebhookClientConfig", "authentication/UserInfo", "events/v1/Event",
          "policy/v1/PodDisruptionBudget", "policy/v1/PodDisruptionBudgetList", "policy/v1/PodDisruptionBudgetSpec",
          "policy/v1/PodDisruptionBudgetStatus");

  @Test
  void everyFieldThatTheControllerReadsIsKept() throws IOException {
    SortedSet<String> dropped = new TreeSet<>();
    getters()
        .forEach(
            (type, fields) -> {
              if (PARTLY_KEPT.containsKey(type)) {
                fields.stream()
                    .filter(field -> !field.equals("additionalProperties")) // where LeftOut stands
                    .filter(field -> PARTLY_KEPT.get(type).stream().noneMatch(path -> isKept(path + " " + field)))
                    .forEach(field -> dropped.add(type + "." + field));
              } else if (!KEPT_WHOLE.contains(type) && !READ_OTHERWISE.contains(type)) {
                dropped.add(type + " " + fields);
              }
            });
    assertThat(dropped).as(
        "fields that are read, but dropped by KeptFields; of a type that this test does not know, say where it stands")
        .isEmpty();
  }

  @Test
  void annotationsAndLabelsThatTheControllerGoesByAreKept() {
    assertThat(
        List.of(
            "pods metadata annotations " + Driver.GANG_ANNOTATION,
            "pods metadata annotations " + Driver.GANG_SIZE_ANNOTATION,
            "pods metadata annotations " + Driver.CONVERTED_REQUESTS_ANNOTATION,
            "pods metadata labels " + Driver.NAME + "/admission",
            "resourceclaims metadata annotations " + Driver.PROPOSAL_ANNOTATION,
            "resourceclaims metadata annotations " + Driver.RESIZE_ANNOTATION,
            "resourceclaims metadata annotations " + Driver.RESIZE_ANSWER_ANNOTATION,
            "resourceclaims metadata annotations " + Driver.GRANTED_SIZES_ANNOTATION,
            "resourceclaims status devices data " + DeviceStatusData.SIZE_IN_FORCE.key(),
            "resourceclaims status devices data " + DeviceStatusData.MEMORY_USED.key(),
            "resourceclaims status devices data " + DeviceStatusData.CORES_USED.key(),
            "resourceclaimtemplates metadata labels " + Driver.MANAGED_BY_LABEL,
            "podgroups spec schedulingPolicy gang minCount",
            "pods spec containers resources limits nvidia.com/gpumem",
            "nodes status allocatable tencent.com/vcuda-core"))
        .allMatch(KeptFieldsTest::isKept);
    assertThat(List.of("pods metadata annotations kubectl.kubernetes.io/last-applied-configuration",
        "pods spec containers env", "nodes status images"))
        .noneMatch(KeptFieldsTest::isKept);
  }

  private static boolean isKept(String path) {
    String[] names = path.split(" ", -1);
    Optional<Fields> fields = KeptFields.ofPlural(names[0]).map(KeptFields.Kind::fields);
    for (int i = 1; i < names.length; i++) {
      String name = names[i];
      fields = fields.flatMap(each -> Optional.ofNullable(each.of(name)));
    }
    return fields.isPresent();
  }

  /** The fields of the client's types that the controller's classes read, by type. */
  private static SortedMap<String, SortedSet<String>> getters() throws IOException {
    Path classes = Path.of(DraController.class.getProtectionDomain().getCodeSource().getLocation().getPath())
        .resolve("dev/partita/controller");
    SortedMap<String, SortedSet<String>> getters = new TreeMap<>();
    try (Stream<Path> files = Files.walk(classes)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
        ClassFile.of().parse(file).methods().stream()
            .flatMap(method -> method.code().stream())
            .flatMap(code -> code.elementStream())
            .filter(InvokeInstruction.class::isInstance)
            .map(InvokeInstruction.class::cast)
            .filter(call -> call.owner().asInternalName().startsWith(MODEL)
                && call.name().stringValue().matches("(get|is)[A-Z].*"))
            .forEach(
                call -> {
                  String name = call.name().stringValue().replaceFirst("^(get|is)", "");
                  getters
                      .computeIfAbsent(call.owner().asInternalName().substring(MODEL.length()), type -> new TreeSet<>())
                      .add(name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1));
                });
      }
    }
    return getters;
  }
}
