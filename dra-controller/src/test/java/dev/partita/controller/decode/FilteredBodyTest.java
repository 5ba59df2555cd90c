package dev.partita.controller.decode;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.WatchEvent;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimList;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FilteredBodyTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final KeptFields.Kind PODS = KeptFields.ofPlural("pods").orElseThrow();

  private static final String POD =
      """
          {"kind": "Pod", "metadata": {"name": "p{\\"[", "managedFields": [{"a": {"b": ["}"]}}], "annotations": {"x": "]}", "gpu.partita.dev/gang": "g"}},
           "spec": {"nodeName": "n\\\\", "volumes": [{"name": "v"}], "containers": [{"name": "c", "env": [{"name": "A"}],
             "resources": {"requests": {"cpu": "1", "ephemeral-storage": "1Gi", "nvidia.com/gpu": 2}}}, {"image": "i"}]},
           "status": {"phase": "Running", "hostIP": "10.0.0.1"}}
          """;
  private static final String KEPT =
      """
          {"kind": "Pod", "metadata": {"name": "p{\\"[", "annotations": {"gpu.partita.dev/gang": "g"}},
           "spec": {"nodeName": "n\\\\", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "nvidia.com/gpu": 2}}}, {}]}, "status": {"phase": "Running"}}
          """;

  @Test
  void aListHasOfEachObjectWhatIsKeptHoweverItsBytesArrive() throws IOException {
    String list =
        "{\"kind\": \"PodList\", \"metadata\": {\"continue\": \"[{\", \"resourceVersion\": \"7\"}, \"items\": [%s,%s , %s]}";
    JsonNode expected = JSON.readTree(list.formatted(KEPT, KEPT, KEPT));
    Random random = new Random(1);
    for (int i = 0; i < 200; i++) {
      assertThat(JSON.readTree(filtered(new FilteredBody(PODS, true), list.formatted(POD, POD, POD), random)))
          .isEqualTo(expected);
    }
  }

  @Test
  void eventsAreOneALineAsTheyCame() throws IOException {
    String events =
        IntStream.range(0, 3).mapToObj(i -> "{\"type\": \"MODIFIED\", \"object\": " + POD.replace("\n", "") + "}\n")
            .collect(Collectors.joining());
    List<String> lines = filtered(new FilteredBody(PODS, false), events, new Random(2)).lines().toList();
    assertThat(lines).hasSize(3);
    for (String line : lines) {
      assertThat(JSON.readTree(line)).isEqualTo(JSON.readTree("{\"type\": \"MODIFIED\", \"object\": " + KEPT + "}"));
    }
  }

  @Test
  void whatTheServerSaysInsteadOfObjectsIsPassedOn() throws IOException {
    String status =
        "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"too old\",\"reason\":\"Expired\",\"code\":410,\"details\":{\"causes\":[{\"reason\":\"x\"}]}}";
    assertThat(filtered(new FilteredBody(PODS, true), status, new Random(3))).isEqualTo(status);
    String event =
        filtered(new FilteredBody(PODS, false), "{\"type\":\"ERROR\",\"object\":" + status + "}", new Random(3));
    assertThat(JSON.readTree(event).path("object").path("code").asInt()).isEqualTo(410);
  }

  @Test
  void aFieldOfTenantsThatIsTooLargeIsLeftOutAndNamed() throws IOException {
    String tolerations =
        IntStream.range(0, 2000).mapToObj(i -> "{\"key\":\"k" + i + "\"}").collect(Collectors.joining(","));
    String containers = IntStream.range(0, 9000).mapToObj(i -> "{}").collect(Collectors.joining(","));
    String pod =
        "{\"metadata\":{\"name\":\"p\",\"annotations\":{\"gpu.partita.dev/gang\":\"" + "x".repeat(200_000)
            + "\"}},\"partitaLeftOut\":[\"spec.nodeName\"],"
            + "\"spec\":{\"tolerations\":[" + tolerations + "],\"containers\":[" + containers + "],\"priority\":3}}";
    byte[] bytes = pod.getBytes(StandardCharsets.UTF_8);
    JsonNode kept = JSON.readTree(ObjectFilter.object(PODS, bytes, bytes.length));
    assertThat(kept)
        .isEqualTo(
            JSON.readTree(
                "{\"metadata\":{\"name\":\"p\",\"annotations\":{}},\"spec\":{\"priority\":3},"
                    + "\"partitaLeftOut\":[\"metadata.annotations.gpu.partita.dev/gang\",\"spec.tolerations\",\"spec.containers\"]}"));
  }

  /** Containers and tolerations that just fit stand before all of these, in the order in which API servers write. */
  @Test
  void whosePodItIsAndWhatItUsesIsKeptHoweverMuchStandsBeforeIt() throws IOException {
    String before = "\"containers\":[" + many(100, "{\"name\":\"c\"}") + "],\"nodeName\":\"n\",\"tolerations\":[%s],";
    String its =
        "\"priority\":-5,\"preemptionPolicy\":\"Never\",\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":\"c\"}]";
    String status = "\"containerStatuses\":[" + many(187, "{\"name\":\"c\"}")
        + "],\"resourceClaimStatuses\":[{\"name\":\"c\",\"resourceClaimName\":\"c\"}]";
    String pod = "{\"spec\":{" + before + its + "},\"status\":{" + status + "}}";
    byte[] bytes = pod.formatted("{\"key\":\"" + "k".repeat(30_100) + "\"}").getBytes(StandardCharsets.UTF_8);
    JsonNode kept = JSON.readTree(ObjectFilter.object(PODS, bytes, bytes.length));
    for (String field : List.of("/spec/nodeName", "/spec/priority", "/spec/preemptionPolicy", "/spec/resourceClaims",
        "/status/resourceClaimStatuses")) {
      assertThat(kept.at(field)).as(field).isEqualTo(JSON.readTree(pod.formatted("")).at(field));
    }
    assertThat(LeftOut.words("spec.resourceClaims")).contains("256 KiB");
    assertThat(LeftOut.words("spec.tolerations")).contains("64 KiB");
  }

  /** As much of each as API servers take. */
  @Test
  void whatAClaimHasIsNeverLeftOut() throws IOException {
    String claim =
        "{\"status\":{\"allocation\":{\"devices\":{\"results\":[%s]%s}},\"reservedFor\":[%s],\"devices\":[%s]}%s}";
    String result = "{\"request\":\"" + "r".repeat(127) + "\",\"pool\":\"" + "n".repeat(250) + "\",\"shareID\":\""
        + "5".repeat(36) + "\",\"consumedCapacity\":{\"memory\":\"1Gi\",\"cores\":\"1\"}%s}";
    String tolerations = ",\"tolerations\":[{\"key\":\"" + "t".repeat(20_000) + "\"}]";
    String configs = ",\"config\":[{\"requests\":[\"" + "x".repeat(70_000) + "\"]}]";
    String users =
        many(256, "{\"resource\":\"pods\",\"name\":\"" + "p".repeat(253) + "\",\"uid\":\"" + "0".repeat(36) + "\"}");
    String devices =
        many(32, "{\"pool\":\"" + "n".repeat(250) + "\",\"data\":{\"sizeInForce\":\"memory=1Gi,cores=1\"}}");
    byte[] bytes = claim.formatted(many(32, result.formatted(tolerations)), configs, users, devices, "")
        .getBytes(StandardCharsets.UTF_8);
    JsonNode kept =
        JSON.readTree(ObjectFilter.object(KeptFields.ofKind("ResourceClaim").orElseThrow(), bytes, bytes.length));
    assertThat(kept).isEqualTo(
        JSON.readTree(claim.formatted(many(32, result.formatted("")), "", users, devices,
            ",\"partitaLeftOut\":[\"status.allocation.devices.config\"]")));
  }

  /** What is asked for stands before the answer to it. */
  @Test
  void theAnswerToASizeIsKeptHoweverLongWhatIsAskedForIs() throws IOException {
    for (String asked : List.of("a".repeat(65_000), "a".repeat(200_000), "a" + "\ud83d\ude00".repeat(30_000))) {
      String claim = "{\"metadata\":{\"annotations\":{\"gpu.partita.dev/resize\":\"" + asked
          + "\",\"gpu.partita.dev/resize-answer\":\"refused: " + "b".repeat(5000) + "\"},\"finalizers\":[\"f\"]}}";
      byte[] bytes = claim.getBytes(StandardCharsets.UTF_8);
      JsonNode kept =
          JSON.readTree(ObjectFilter.object(KeptFields.ofKind("ResourceClaim").orElseThrow(), bytes, bytes.length));
      assertThat(kept.has(LeftOut.FIELD)).isFalse();
      assertThat(kept.at("/metadata/finalizers/0").asText()).isEqualTo("f");
      JsonNode annotations = kept.at("/metadata/annotations");
      assertThat(annotations.path("gpu.partita.dev/resize-answer").asText()).startsWith("refused: ");
      assertThat(asked).startsWith(annotations.path("gpu.partita.dev/resize").asText("none"));
      assertThat(annotations.path("gpu.partita.dev/resize").asText()).hasSizeBetween(4999, 5000);
    }
  }

  private static String many(int count, String element) {
    return String.join(",", Collections.nCopies(count, element));
  }

  @Test
  void whatOnlyAdministratorsWriteIsKeptHoweverLargeItIs() throws IOException {
    String devices = IntStream.range(0, 128)
        .mapToObj(i -> "{\"name\":\"gpu-" + i + "\",\"attributes\":{\"a\":{\"string\":\"" + "x".repeat(2000) + "\"}}}")
        .collect(Collectors.joining(","));
    String slice =
        "{\"metadata\":{\"name\":\"s\",\"managedFields\":[{}]},\"spec\":{\"driver\":\"gpu.partita.dev\",\"devices\":["
            + devices + "]}}";
    byte[] bytes = slice.getBytes(StandardCharsets.UTF_8);
    JsonNode kept =
        JSON.readTree(ObjectFilter.object(KeptFields.ofKind("ResourceSlice").orElseThrow(), bytes, bytes.length));
    assertThat(kept.path("spec")).isEqualTo(JSON.readTree(slice).path("spec"));
    assertThat(kept.path("metadata").has("managedFields")).isFalse();
  }

  /** Bytes are those of ISO 8859-1, so that some can be none of UTF-8. API servers take and send all of these. */
  @ParameterizedTest
  @MethodSource("valuesThatDecodersRefuse")
  void aValueThatDecodersRefuseKeepsNobodyFromReadingTheOtherObjects(String value) throws IOException {
    String odd = claim("odd", value);
    String list = "{\"kind\":\"ResourceClaimList\",\"items\":[" + odd + "," + claim("other", "1") + "]}";
    FilteredBody body = new FilteredBody(KeptFields.ofKind("ResourceClaim").orElseThrow(), true);
    ResourceClaimList read = new KubernetesSerialization().unmarshal(
        new String(body.arrived(ByteBuffer.wrap(list.getBytes(StandardCharsets.ISO_8859_1))), StandardCharsets.UTF_8),
        ResourceClaimList.class);
    assertThat(read.getItems()).extracting(claim -> claim.getMetadata().getName()).containsExactly("odd", "other");
    assertThat(LeftOut.of(read.getItems().getLast())).isEmpty();
    String text = new String(odd.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    WatchEvent event = new InformerClient.FilteredEvents()
        .unmarshal("{\"type\":\"ADDED\",\"object\":" + text + "}", WatchEvent.class);
    assertThat(event.getObject()).isInstanceOfSatisfying(ResourceClaim.class, claim -> {
      assertThat(claim.getMetadata()).isEqualTo(read.getItems().getFirst().getMetadata());
      assertThat(LeftOut.of(claim)).isEqualTo(LeftOut.of(read.getItems().getFirst()));
    });
  }

  static Stream<String> valuesThatDecodersRefuse() {
    return Stream.of("[".repeat(9_900) + "]".repeat(9_900), "{\"a\":".repeat(9_900) + "1" + "}".repeat(9_900),
        "0." + "1".repeat(10_000), "1".repeat(10_000), "1e" + "9".repeat(2_000), "1e99999999999", "1e999999999",
        "-1e-99999999999", "{\"" + "a".repeat(60_000) + "\":1}",
        "{\"" + "a".repeat(1_000_000) + "\":1}", "\"\\ud800\"", "{\"\\udc00\":1}", "\"\u00c3\"", "\"\u00ff\u0080\"");
  }

  @Test
  void whatNestsTooDeeplyOrHasANumberOrNameTooLongIsLeftOutAndNamed() throws IOException {
    for (String value : List.of("[".repeat(101) + "]".repeat(101), "1".repeat(101),
        "{\"" + "a".repeat(513) + "\":1}")) {
      byte[] bytes = claim("odd", value).getBytes(StandardCharsets.UTF_8);
      JsonNode kept =
          JSON.readTree(ObjectFilter.object(KeptFields.ofKind("ResourceClaim").orElseThrow(), bytes, bytes.length));
      assertThat(kept.path("partitaLeftOut")).as(value).hasToString("[\"spec.devices\"]");
    }
    assertThat(LeftOut.words("spec.devices")).contains("64 KiB").contains("more than 100 levels");
  }

  @Test
  void namesInFieldsThatAreDroppedMayHaveAnyLength() throws IOException {
    byte[] bytes = ("{\"metadata\":{\"name\":\"p\",\"managedFields\":[{\"fieldsV1\":{\"k:" + "a".repeat(1_400_000)
        + "\":{}}}]}}").getBytes(StandardCharsets.UTF_8);
    assertThat(ObjectFilter.object(PODS, bytes, bytes.length)).asString().isEqualTo("{\"metadata\":{\"name\":\"p\"}}");
  }

  private static String claim(String name, String value) {
    return "{\"kind\":\"ResourceClaim\",\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{\"name\":\"" + name
        + "\"},\"spec\":{\"devices\":{\"config\":[{\"opaque\":{\"driver\":\"x.example.com\",\"parameters\":{\"a\":"
        + value + "}}}]}}}";
  }

  private static String filtered(FilteredBody body, String text, Random random) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int at = 0; at < bytes.length;) {
      int length = Math.min(bytes.length - at, 1 + random.nextInt(random.nextBoolean() ? 3 : 400));
      out.writeBytes(body.arrived(ByteBuffer.wrap(bytes, at, length)));
      at += length;
    }
    return out.toString(StandardCharsets.UTF_8);
  }
}
