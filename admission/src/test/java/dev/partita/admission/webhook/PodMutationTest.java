package dev.partita.admission.webhook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.admission.convert.ConvertedRequests;
import dev.partita.api.Driver;
import dev.partita.api.config.Decoded;
import io.fabric8.zjsonpatch.JsonPatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PodMutationTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private final PodMutation mutation = new PodMutation(ClaimLookup.NONE);

  @Test
  void aPodWithoutGpusAndClaimsStaysAsItIs() {
    ObjectNode pod = pod("cpu", "2");

    assertThat(mutation.mutate(pod, "team")).isEqualTo(new PodAnswer(JSON.createArrayNode(), List.of()));
  }

  @Test
  void aConvertedPodHasTheGateAndCarriesWhatItsTemplatesAreMadeFrom() {
    ObjectNode pod = pod("nvidia.com/gpumem", "8192");
    pod.withObject("metadata").withObject("annotations").put("kept", "yes");
    JsonNode before = pod.deepCopy();

    JsonNode after = applied(pod);

    assertThat(pod).isEqualTo(before);
    assertThat(after.at("/spec/containers/0/resources").toString()).isEqualTo("{\"claims\":[{\"name\":\"gpu\"}]}");
    assertThat(gates(after)).containsExactly(Driver.ALLOCATION_GATE);
    assertThat(after.at("/metadata/annotations/kept").asText()).isEqualTo("yes");
    assertThat(templatesNotedOn(after)).isEqualTo(templatesReferredToBy(after)).hasSize(1);
  }

  @Test
  void thatPodIsNotChangedAgain() {
    JsonNode once = applied(pod("nvidia.com/gpumem", "8192"));

    assertThat(mutation.mutate(once, "team")).isEqualTo(new PodAnswer(JSON.createArrayNode(), List.of()));
  }

  @Test
  void aContainerThatAnotherWebhookAddedInTheMeantimeIsConvertedAsWell() {
    ObjectNode once = (ObjectNode) applied(pod("nvidia.com/gpumem", "8192"));
    once.withObject("spec").withArrayProperty("containers").add(container("added", "nvidia.com/gpumem", "1024"));

    JsonNode twice = applied(once);

    assertThat(gates(twice)).containsExactly(Driver.ALLOCATION_GATE);
    assertThat(templatesNotedOn(twice)).isEqualTo(templatesReferredToBy(twice)).hasSize(2);
  }

  @Test
  void aCopyOfAConvertedPodWithoutTheGateGetsIt() {
    ObjectNode copy = (ObjectNode) applied(pod("nvidia.com/gpumem", "8192"));
    copy.withObject("spec").remove("schedulingGates");

    assertThat(gates(applied(copy))).containsExactly(Driver.ALLOCATION_GATE);
  }

  @Test
  void whatSomebodyElseWroteIntoTheAnnotationIsNotKept() {
    ObjectNode pod = pod("nvidia.com/gpu", "1");
    pod.withObject("metadata").withObject("annotations").put(Driver.CONVERTED_REQUESTS_ANNOTATION,
        "{\"version\":1,\"requests\":[{\"count\":32,\"whole\":true}]}");

    JsonNode after = applied(pod);

    assertThat(templatesNotedOn(after)).isEqualTo(templatesReferredToBy(after)).hasSize(1);
  }

  @Test
  void otherGatesStayBesideOurs() {
    ObjectNode pod = pod("nvidia.com/gpu", "1");
    pod.withObject("spec").withArrayProperty("schedulingGates").addObject().put("name", "example.com/first");

    assertThat(gates(applied(pod))).containsExactly("example.com/first", Driver.ALLOCATION_GATE);
  }

  @Test
  void aPodThatHasItsNodeIsConvertedButNotGated() {
    ObjectNode pod = pod("nvidia.com/gpu", "1");
    pod.withObject("spec").put("nodeName", "node-0");

    JsonNode after = applied(pod);

    assertThat(templatesReferredToBy(after)).hasSize(1);
    assertThat(gates(after)).isEmpty();
  }

  @Test
  void whatKubeletShowsOfPodsThatItRunsFromFilesIsLeftAlone() {
    ObjectNode pod = pod("nvidia.com/gpu", "1");
    pod.withObject("metadata").withObject("annotations").put("kubernetes.io/config.mirror", "x");

    assertThat(mutation.mutate(pod, "team").patch()).isEmpty();
  }

  /** API servers send pods alone, but whoever reaches the webhook can send anything. */
  @ParameterizedTest
  @ValueSource(strings = {"'x'", "7", "[]", "{}", "null", "[7]", "{'x': {}}", "[[]]"})
  void whatStandsInThePlaceOfAPartOfAPodIsNoHarm(String odd) throws JsonProcessingException {
    String gpus = "{'name': 'c', 'env': [{'name': 'A', 'value': 'b'}], 'resources': {'limits': {'nvidia.com/gpu': '1'},"
        + " 'requests': {'nvidia.com/gpu': '1'}, 'claims': [{'name': 'x'}]}}";
    String claims = "'resourceClaims': [{'name': 'x', 'resourceClaimName': 'ours'}],"
        + " 'schedulingGates': [{'name': 'g'}], 'tolerations': [{'key': 'a'}], 'nodeSelector': {'a': 'b'},";
    String annotations = "'metadata': {'name': 'p', 'labels': {'a': 'b'}, 'annotations': {%s}}";
    for (String pod : List.of(
        "{" + annotations.formatted("'a': 'b'") + ", 'spec': {" + claims + "'initContainers': [" + gpus
            + "], 'containers': [" + gpus + "]}}",
        "{" + annotations.formatted("'gpu-fraction': '0.5'") + ", 'spec': {" + claims
            + "'containers': [{'name': 'c', 'resources': {}}]}}",
        "{" + annotations.formatted("'a': 'b'") + ", 'spec': {" + claims + "'containers': [{'name': 'c'}]}}")) {
      JsonNode whole = JSON.readTree(pod.replace('\'', '"'));
      for (JsonPointer part : partsOf(whole)) {
        ObjectNode given = whole.deepCopy();
        JsonNode parent = given.at(part.head());
        JsonNode value = JSON.readTree(odd.replace('\'', '"'));
        if (parent instanceof ObjectNode object) {
          object.set(part.last().getMatchingProperty(), value);
        } else {
          ((ArrayNode) parent).set(part.last().getMatchingIndex(), value);
        }
        assertThatCode(() -> mutation().mutate(given, "team")).as("%s at %s", odd, part).doesNotThrowAnyException();
      }
    }
  }

  private static List<JsonPointer> partsOf(JsonNode tree) {
    List<JsonPointer> parts = new ArrayList<>();
    tree.properties().forEach(field -> parts.add(JsonPointer.empty().appendProperty(field.getKey())));
    for (int i = 0; tree.isArray() && i < tree.size(); i++) {
      parts.add(JsonPointer.empty().appendIndex(i));
    }
    for (JsonPointer part : List.copyOf(parts)) {
      partsOf(tree.at(part)).forEach(below -> parts.add(part.append(below)));
    }
    return parts;
  }

  @Test
  void aPodWithClaimsIsGatedIfTheyAreKnownToBeOurs() {
    assertThat(gates(applied(claiming("resourceClaimTemplateName", "ours")))).containsExactly(Driver.ALLOCATION_GATE);
    assertThat(gates(applied(claiming("resourceClaimName", "ours")))).containsExactly(Driver.ALLOCATION_GATE);
    assertThat(mutation().mutate(claiming("resourceClaimTemplateName", "another-drivers"), "team").patch()).isEmpty();
    assertThat(mutation().mutate(claiming("resourceClaimName", "another-drivers"), "team").patch()).isEmpty();
    assertThat(mutation().mutate(claiming("resourceClaimName", "ours"), "elsewhere").patch()).isEmpty();
  }

  @Test
  void aPodThatVolcanoHoldsBackForItsQueueHasNoGateForWhichVolcanoWouldWait() {
    ObjectNode pod = pod("nvidia.com/gpumem", "8192");
    ObjectNode annotations = pod.withObject("metadata").withObject("annotations");
    annotations.put("scheduling.volcano.sh/queue-allocation-gate", "true");
    assertThat(gates(applied(pod))).isEmpty();
    annotations.put("scheduling.volcano.sh/queue-allocation-gate", "false");
    assertThat(gates(applied(pod))).containsExactly(Driver.ALLOCATION_GATE);
  }

  @Test
  void aPodThatIsNotUnderstoodStaysExactlyAsItIsAndSaysWhy() {
    ObjectNode pod = pod("nvidia.com/mig-small", "1");
    pod.withObject("spec").withArrayProperty("containers").add(container("second", "nvidia.com/gpu", "1"));

    PodAnswer answer = mutation.mutate(pod, "team");

    assertThat(answer.patch()).isEmpty();
    assertThat(answer.warnings())
        .singleElement()
        .asString()
        .startsWith(
            "GPUs not converted to claims: spec.containers[0].resources.limits[nvidia.com/mig-small]: is not converted; ");
  }

  @Test
  void warningsAreAsManyAsThePassedOnOnesAndTheLastSaysHowManyMoreThereAre() {
    ObjectNode pod = pod("nvidia.com/gpu", "many");
    IntStream.range(0, 15).forEach(i -> pod.withObject("spec").withArrayProperty("containers")
        .add(container("c" + i, "nvidia.com/gpu", "many")));
    assertThat(mutation.mutate(pod, "team").warnings()).hasSize(16).last().asString().contains("containers[15]");

    IntStream.range(15, 20).forEach(i -> pod.withObject("spec").withArrayProperty("containers")
        .add(container("c" + i, "nvidia.com/gpu", "many")));
    assertThat(mutation.mutate(pod, "team").warnings()).hasSize(16).last().isEqualTo("and 6 more");
  }

  @Test
  void warningsHaveTheLengthAndTheCharactersThatTheApiServerPassesOn() {
    ObjectNode pod = pod("nvidia.com/gpu", "many");
    pod.withObject("metadata").withObject("annotations").put("nvidia.com/numa-bind",
        "x\n\u001b[31m" + "y".repeat(10_000));
    IntStream.range(0, 100).forEach(i -> pod.withObject("spec").withArrayProperty("containers")
        .add(container("c" + i, "nvidia.com/gpu" + "-".repeat(200), "1")));

    List<String> warnings = mutation.mutate(pod, "team").warnings();

    assertThat(warnings).hasSizeGreaterThan(10)
        .allSatisfy(warning -> assertThat(warning.length()).isLessThanOrEqualTo(256));
    assertThat(warnings.stream().mapToInt(String::length).sum()).isLessThanOrEqualTo(4096);
    assertThat(warnings.getLast()).isEqualTo("and " + (101 - (warnings.size() - 1)) + " more");

    ObjectNode other = pod("nvidia.com/gpu", "1");
    other.withObject("metadata").withObject("annotations").put("nvidia.com/numa-bind", "x\n\u001b[31m");
    assertThat(mutation.mutate(other, "team").warnings()).singleElement().asString().doesNotContain("\n", "\u001b")
        .contains("x\uFFFD\uFFFD[31m");
  }

  @Test
  void whatWantsAttentionIsSaidToWhoMakesThePod() {
    ObjectNode pod = pod("nvidia.com/gpu", "1");
    pod.withObject("spec").put("runtimeClassName", "nvidia");

    PodAnswer answer = mutation.mutate(pod, "team");

    assertThat(answer.patch()).isNotEmpty();
    assertThat(answer.warnings()).singleElement().asString()
        .startsWith("GPUs asked for by claims now; spec.runtimeClassName: nvidia is kept");
  }

  @Test
  void aPodWithoutRoomForTheAnnotationStaysAsItIsRatherThanBeingRefusedByTheApiServer() {
    ObjectNode pod = pod("nvidia.com/gpu", "1");
    pod.withObject("metadata").withObject("annotations").put("big", "x".repeat(256 * 1024 - 50));

    PodAnswer answer = mutation.mutate(pod, "team");

    assertThat(answer.patch()).isEmpty();
    assertThat(answer.warnings()).singleElement().asString().contains("metadata.annotations: leave no room");
  }

  @Test
  void aPodThatAsksInMoreWaysThanAreKeptStaysAsItIs() {
    ObjectNode pod = pod("nvidia.com/gpumem", "1");
    IntStream.range(2, 35).forEach(i -> pod.withObject("spec").withArrayProperty("containers")
        .add(container("c" + i, "nvidia.com/gpumem", "" + i)));

    PodAnswer answer = mutation.mutate(pod, "team");

    assertThat(answer.patch()).isEmpty();
    assertThat(answer.warnings()).containsExactly(
        "GPUs not converted to claims: spec.containers: ask for GPUs in 34 different ways; one pod can have 32");
  }

  /** As many containers as a review can hold: a pod of 256 KiB, whose patch must not take gigabytes. */
  @Test
  @Timeout(30)
  void aPodOfManyContainersIsConvertedAsOneOfFewIs() {
    ObjectNode pod = pod("nvidia.com/gpu", "1");
    IntStream.range(0, 70_000)
        .forEach(i -> pod.withObject("spec").withArrayProperty("containers").addObject());

    JsonNode after = applied(pod);

    assertThat(after.at("/spec/containers")).hasSize(70_001);
    assertThat(templatesNotedOn(after)).isEqualTo(templatesReferredToBy(after)).hasSize(1);
  }

  /** The API server asks before it looks at names. */
  @Test
  @Timeout(15)
  void manyContainersOfOneNameHaveAClaimEach() {
    ObjectNode pod = pod("nvidia.com/gpu", "1");
    ArrayNode containers = pod.withObject("spec").withArrayProperty("containers");
    IntStream.range(0, 12_000).forEach(i -> containers.add(container("cuda", "nvidia.com/gpu", "1")));

    List<JsonNode> operations = mutation.mutate(pod, "team").patch().valueStream().toList();

    assertThat(operations).filteredOn(operation -> operation.path("path").asText().equals("/spec/resourceClaims"))
        .singleElement().satisfies(added -> assertThat(
            added.path("value").valueStream().map(claim -> claim.path("name").asText()).distinct()).hasSize(12_001));
  }

  /** Whoever reaches the webhooks' port can ask so. */
  @Test
  @Timeout(10)
  void anAmountOfVeryManyDigitsIsRefusedAtOnce() {
    PodAnswer answer = mutation.mutate(pod("nvidia.com/gpumem", "9".repeat(1_400_000)), "team");

    assertThat(answer.patch()).isEmpty();
    assertThat(answer.warnings()).singleElement().asString().contains("is not a whole number from 0 to ");
  }

  private JsonNode applied(ObjectNode pod) {
    return JsonPatch.apply(mutation().mutate(pod, "team").patch(), pod.deepCopy());
  }

  private static PodMutation mutation() {
    return new PodMutation(
        new ClaimLookup() {
          @Override
          public boolean isOurClaim(String namespace, String claim) {
            return namespace.equals("team") && claim.equals("ours");
          }

          @Override
          public boolean isOurTemplate(String namespace, String template) {
            return namespace.equals("team") && template.equals("ours");
          }
        });
  }

  private static Set<String> templatesNotedOn(JsonNode pod) {
    var read = ConvertedRequests
        .read(pod.path("metadata").path("annotations").path(Driver.CONVERTED_REQUESTS_ANNOTATION).asText());
    return ((Decoded.Valid<ConvertedRequests>) read).value().requests().stream()
        .map(request -> new ClaimTemplate(request).name()).collect(Collectors.toSet());
  }

  private static Set<String> templatesReferredToBy(JsonNode pod) {
    return StreamSupport.stream(pod.at("/spec/resourceClaims").spliterator(), false)
        .map(claim -> claim.path("resourceClaimTemplateName").asText())
        .collect(Collectors.toSet());
  }

  private static List<String> gates(JsonNode pod) {
    return StreamSupport.stream(pod.at("/spec/schedulingGates").spliterator(), false)
        .map(gate -> gate.path("name").asText()).toList();
  }

  private static ObjectNode claiming(String how, String name) {
    ObjectNode pod = pod("cpu", "1");
    pod.withObject("spec").withArrayProperty("resourceClaims").addObject().put("name", "gpu").put(how, name);
    return pod;
  }

  private static ObjectNode pod(String resource, String amount) {
    ObjectNode pod = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Pod");
    pod.withObject("metadata").put("generateName", "train-");
    pod.withObject("spec").withArrayProperty("containers").add(container("cuda", resource, amount));
    return pod;
  }

  private static ObjectNode container(String name, String resource, String amount) {
    ObjectNode container = JSON.createObjectNode().put("name", name);
    container.withObject("resources").withObject("limits").put(resource, amount);
    return container;
  }
}
