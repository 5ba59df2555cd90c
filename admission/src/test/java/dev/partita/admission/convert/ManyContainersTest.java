package dev.partita.admission.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.api.config.FieldError;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pods as large as a request to the API server can be, which asks webhooks before it looks at names and lengths. */
class ManyContainersTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MANY = 10_000;

  @Test
  @Timeout(30)
  void aLongAnnotationThatChoosesCardsIsReadOnceForAllContainers() {
    ObjectNode pod = hami();
    annotate(pod, "nvidia.com/use-gpuuuid", "GPU-1,".repeat(300_000));
    annotate(pod, "hami.io/gpu-scheduler-policy", "numa,".repeat(200_000) + "numa");

    assertThat(new PodConversion().convert(pod, "")).isInstanceOfSatisfying(Conversion.Converted.class,
        converted -> assertThat(converted.templates()).singleElement()
            .satisfies(template -> assertThat(template.request().choice().uuids()).containsExactly("GPU-1")));
  }

  @Test
  @Timeout(30)
  void ofALongValueThatIsWrongTheBeginningIsQuotedForEachContainer() {
    ObjectNode pod = hami();
    annotate(pod, "nvidia.com/numa-bind", "x".repeat(500_000));
    annotate(pod, "nvidia.com/vgpu-mode", " " + "y".repeat(500_000));

    assertThat(new PodConversion().convert(pod, "")).isInstanceOfSatisfying(Conversion.Refused.class,
        refused -> assertThat(refused.problems()).hasSize(2).extracting(FieldError::problem).allSatisfy(
            problem -> assertThat(problem).hasSizeLessThan(200)));
  }

  @Test
  @Timeout(30)
  void annotationsOfContainersAreLookedThroughOnce() {
    ObjectNode pod = JSON.createObjectNode();
    IntStream.range(0, MANY).forEach(i -> {
      pod.withObject("spec").withArrayProperty("containers").addObject().put("name", "c" + i);
      annotate(pod, "kai.scheduler/container.c" + i + ".gpu-memory.request", "1Gi");
      annotate(pod, "kai.scheduler/container.c" + i + ".gpu-compute.mode", "sm-sharing");
    });
    annotate(pod, "kai.scheduler/gpu-compute-sharing-mode", "sm-sharing");

    assertThat(new PodConversion().convert(pod, "")).isInstanceOfSatisfying(Conversion.Converted.class,
        converted -> assertThat(converted.notes()).as("of its own annotation and of the pod's").hasSize(2 * MANY));
  }

  private static ObjectNode hami() {
    JsonNode container = JSON.createObjectNode().set("resources",
        JSON.createObjectNode().set("limits", JSON.createObjectNode().put("nvidia.com/gpu", 1)));
    ObjectNode pod = JSON.createObjectNode();
    IntStream.range(0, MANY).forEach(i -> pod.withObject("spec").withArrayProperty("containers").add(container));
    return pod;
  }

  private static void annotate(ObjectNode pod, String name, String value) {
    pod.withObject("metadata").withObject("annotations").put(name, value);
  }
}
