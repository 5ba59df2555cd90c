package dev.partita.admission.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;

class ClaimTemplateTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Pods that exist refer to these names: they must be the same in every version of Partita. */
  @Test
  void namesAreThoseOfEveryVersion() {
    assertThat(nameOf("nvidia.com/gpu", 1)).isEqualTo("partita-4e559524cc0f7e9146da");
    assertThat(nameOf("aliyun.com/gpu-mem", 8)).isEqualTo("partita-12479bc88582c53a0399");
  }

  @Test
  void equalRequestsOfDifferentDialectsHaveOneName() {
    assertThat(nameOf("aliyun.com/gpu-mem", 8)).isEqualTo(nameOf("elasticgpu.io/gpu-memory", 8192))
        .isEqualTo(nameOf("nvidia.com/gpumem", 8192));
  }

  @Test
  void everyDifferenceMakesAnotherName() {
    assertThat(nameOf("aliyun.com/gpu-mem", 8)).isNotEqualTo(nameOf("aliyun.com/gpu-mem", 9));
    assertThat(nameOf("nvidia.com/gpu", 1)).isNotEqualTo(nameOf("nvidia.com/gpu", 2));
    assertThat(chosen("A100")).isNotEqualTo(chosen("A100,H100")).isNotEqualTo(nameOf("nvidia.com/gpu", 1));
  }

  @Test
  void aLineBreakCannotForgeAnotherRequest() {
    ObjectNode pod = pod("nvidia.com/gpu", 1);
    pod.withObject("metadata").withObject("annotations").put("nvidia.com/use-gpuuuid", "x\nconfig coreLimit None");

    assertThat(convert(pod)).isInstanceOf(Conversion.Refused.class);
  }

  @Test
  void longAndEndlessNamesStayDnsLabels() {
    ObjectNode pod = pod("nvidia.com/gpu", 1);
    String name = "a".repeat(63);
    pod.withObject("spec").withArrayProperty("containers").add(container(name, "nvidia.com/gpu", 1))
        .add(container(name, "nvidia.com/gpu", 1));

    var converted = (Conversion.Converted) convert(pod);

    assertThat(converted.pod().path("spec").path("resourceClaims"))
        .extracting(claim -> claim.path("name").asText())
        .doesNotHaveDuplicates()
        .allMatch(label -> label.matches("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"));
  }

  private static String chosen(String models) {
    ObjectNode pod = pod("nvidia.com/gpu", 1);
    pod.withObject("metadata").withObject("annotations").put("nvidia.com/use-gputype", models);
    return name(convert(pod));
  }

  private static String nameOf(String resource, int amount) {
    return name(convert(pod(resource, amount)));
  }

  private static String name(Conversion conversion) {
    return ((Conversion.Converted) conversion).templates().getFirst().name();
  }

  private static Conversion convert(JsonNode pod) {
    return new PodConversion().convert(pod, "");
  }

  private static ObjectNode pod(String resource, int amount) {
    ObjectNode pod = JSON.createObjectNode();
    pod.withObject("spec").withArrayProperty("containers").add(container("cuda", resource, amount));
    return pod;
  }

  private static ObjectNode container(String name, String resource, int amount) {
    ObjectNode container = JSON.createObjectNode().put("name", name);
    container.withObject("resources").withObject("limits").put(resource, amount);
    return container;
  }
}
