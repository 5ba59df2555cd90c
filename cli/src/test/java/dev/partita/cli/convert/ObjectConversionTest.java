package dev.partita.cli.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.admission.convert.PodConversion;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ObjectConversionTest {
  @Test
  void anObjectOfThousandsOfPodsIsConvertedInOneGo() {
    Object task = YamlText.read("{template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}");
    JsonNode job = new ObjectMapper().valueToTree(Map.of("apiVersion", "batch.volcano.sh/v1alpha1", "kind", "Job",
        "spec", Map.of("tasks", Collections.nCopies(20_000, task))));

    JsonNode converted = assertTimeoutPreemptively(Duration.ofSeconds(60),
        () -> new ObjectConversion(new PodConversion(), ConvertTarget.PARTITA).convert(job).object());

    assertThat(converted.at("/spec/tasks")).hasSize(20_000)
        .allMatch(each -> each.at("/template/spec").has("resourceClaims"));
  }
}
