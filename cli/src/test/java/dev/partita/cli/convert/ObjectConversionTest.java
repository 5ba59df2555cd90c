package dev.partita.cli.convert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.admission.convert.PodConversion;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ObjectConversionTest {
  private static final String CARD = """
      {apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: card, namespace: team},
       spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}}
      """;
  private static final String POD = """
      {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: team},
       spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: card}]}}
      """;
  private static final String DEPLOYMENT = """
      {apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: team}, spec: {replicas: 4, template:
       {spec: {resourceClaims: [{name: gpu, resourceClaimTemplateName: card}]}}}}
      """;

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

  static Stream<List<String>> severalPodsOfATemplate() {
    return Stream.of(List.of(CARD, DEPLOYMENT), List.of(POD, CARD, POD.replace("name: a", "name: b")),
        List.of(CARD.replace("gpu.nvidia.com", "gpu-manager"), DEPLOYMENT),
        List.of(CARD, DEPLOYMENT.replace("apps/v1", "batch/v1").replace("Deployment", "Job").replace("replicas",
            "parallelism")),
        List.of(CARD, """
            {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, metadata: {name: j, namespace: team}, spec:
             {replicatedJobs: [{replicas: 2, template: {spec: {template: {spec: {resourceClaims:
              [{name: gpu, resourceClaimTemplateName: card}]}}}}}]}}
            """));
  }

  /** Nothing in the claim tells whether NVIDIA's driver gave each of its pods a card, or all of them one. */
  @ParameterizedTest
  @MethodSource("severalPodsOfATemplate")
  void thatEachOfSeveralPodsHasACardAloneIsSaidSinceTheirDriverMayHaveSharedOne(List<String> objects) {
    ObjectConversion conversion = converted(objects);

    assertThat(conversion.warnings()).filteredOn(line -> line.contains("ResourceClaimTemplate")).singleElement()
        .asString().isEqualTo("ResourceClaimTemplate team/card: spec.spec.devices.requests[0].exactly: gives"
            + " each pod cards of its own, and several pods name this template; where the DRA driver had"
            + " --consumable-shares=unlimited or a number, they had them together: ask for memory then");
    assertThat(conversion.leftSomethingOut()).isFalse();
  }

  static Stream<List<String>> eachWithItsOwn() {
    return Stream.of(List.of(CARD, POD),
        List.of(CARD, POD.replace("[{", "[{name: b, resourceClaimTemplateName: card}, {")),
        List.of(CARD, DEPLOYMENT.replace("replicas: 4", "replicas: 1")),
        List.of(CARD.replace("gpu.nvidia.com", "gpu.nvidia.com, capacity: {requests: {memory: 4Gi}}"), DEPLOYMENT),
        List.of(CARD.replace("gpu.nvidia.com", "gpu.nvidia.com, allocationMode: All"), DEPLOYMENT),
        List.of(CARD.replace("gpu.nvidia", "mig.nvidia"), DEPLOYMENT),
        List.of(CARD, DEPLOYMENT.replace("team", "other")),
        List.of(CARD, DEPLOYMENT.replace("Name: card", "Name: others")),
        List.of(CARD, DEPLOYMENT.replace("resourceClaimTemplateName", "resourceClaimName")));
  }

  @ParameterizedTest
  @MethodSource("eachWithItsOwn")
  void nothingIsSaidOfPodsThatHadNoCardTogetherInAnyCase(List<String> objects) {
    assertThat(converted(objects).warnings()).isEmpty();
  }

  @Test
  void thatCardsMayHaveBeenSharedIsSaidOnceForAllTemplates() {
    String other = CARD.replace("name: card", "name: other");

    assertThat(converted(List.of(CARD, DEPLOYMENT, other, DEPLOYMENT.replace("Name: card", "Name: other"))).warnings())
        .singleElement().asString().contains("team/card", "several pods name this template, as they do 1 more;");
  }

  private static ObjectConversion converted(List<String> objects) {
    ObjectConversion conversion = new ObjectConversion(new PodConversion(), ConvertTarget.PARTITA);
    objects.forEach(object -> conversion.convert(new ObjectMapper().valueToTree(YamlText.read(object))));
    return conversion;
  }
}
