package dev.partita.admission.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.partita.admission.source.MemoryUnit;
import dev.partita.admission.source.SourceCluster;
import dev.partita.admission.webhook.ClaimLookup;
import dev.partita.admission.webhook.PodAnswer;
import dev.partita.admission.webhook.PodMutation;
import dev.partita.api.Bytes;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.FieldError;
import dev.partita.api.config.GpuShareConfigDecoder;
import io.fabric8.zjsonpatch.JsonPatch;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The tables in {@code cases/}: pods in, pods and templates out. */
class DialectCasesTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> FILES =
      List.of("nvidia", "hami", "gpumanager", "gpushare", "elasticgpu", "qgpu", "volcano", "vgpumanager", "mig",
          "koordinator",
          "fractions", "device-classes", "pods");

  static Stream<Arguments> cases() throws IOException {
    List<Arguments> cases = new ArrayList<>();
    YAMLMapper yaml = new YAMLMapper();
    for (String file : FILES) {
      try (
          InputStream in =
              Objects.requireNonNull(DialectCasesTest.class.getResourceAsStream("/cases/" + file + ".yaml"));
          var documents = yaml.readerFor(ObjectNode.class).<ObjectNode>readValues(new YAMLFactory().createParser(in))) {
        while (documents.hasNext()) {
          ObjectNode document = documents.next();
          cases.add(Arguments.of(file + ": " + document.path("case").asText(), document));
        }
      }
    }
    return cases.stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void comesOutAsTheTableSays(String name, ObjectNode expected) {
    JsonNode pod = expected.path("in");
    JsonNode before = pod.deepCopy();
    var conversion = new PodConversion(cluster(expected));

    Conversion outcome = conversion.convert(pod, "");

    assertThat(pod).as("what came in").isEqualTo(before);
    assertThat(actual(outcome)).isEqualTo(comparable(expected));
    if (outcome instanceof Conversion.Converted converted) {
      assertThat(conversion.convert(converted.pod(), "")).as("converted once more")
          .isInstanceOf(Conversion.NothingAsked.class);
      converted.templates().forEach(DialectCasesTest::configsAreValid);
    }
  }

  /**
   * As the table's pod comes out, with what admission adds; except where it is told what a card has, which no cluster
   * tells it.
   */
  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void isTheSameAtAdmissionWithTheGateAndWhatTheTemplatesAreMadeFrom(String name, ObjectNode expected) {
    JsonNode pod = expected.path("in");
    Conversion outcome = new PodConversion().convert(pod, "");

    PodAnswer answer = new PodMutation(ClaimLookup.NONE).mutate(pod, "team");

    switch (outcome) {
      case Conversion.NothingAsked() -> assertThat(answer).isEqualTo(new PodAnswer(JSON.createArrayNode(), List.of()));
      case Conversion.Refused(var problems) -> {
        assertThat(answer.patch()).isEmpty();
        assertThat(answer.warnings()).hasSameSizeAs(problems);
      }
      case Conversion.Converted(var converted, var templates, var notes) -> {
        ObjectNode wanted = converted.deepCopy();
        wanted.withObjectProperty("spec").withArrayProperty("schedulingGates").addObject().put("name",
            "gpu.partita.dev/allocation");
        wanted
            .withObjectProperty("metadata")
            .withObjectProperty("annotations")
            .put("gpu.partita.dev/converted-requests",
                new ConvertedRequests(templates.stream().map(ClaimTemplate::request).toList()).text());
        JsonNode changed = JsonPatch.apply(answer.patch(), pod.deepCopy());
        assertThat(changed).isEqualTo(wanted);
        assertThat(answer.warnings()).hasSameSizeAs(notes);
        assertThat(new PodMutation(ClaimLookup.NONE).mutate(changed, "team").patch()).as("once more").isEmpty();
        String noted = changed.path("metadata").path("annotations").path("gpu.partita.dev/converted-requests").asText();
        assertThat(ConvertedRequests.read(noted))
            .isInstanceOfSatisfying(
                Decoded.Valid.class,
                read -> assertThat(((ConvertedRequests) read.value()).requests())
                    .extracting(request -> new ClaimTemplate(request).object())
                    .isEqualTo(templates.stream().map(ClaimTemplate::object).toList()));
      }
    }
  }

  private static SourceCluster cluster(JsonNode expected) {
    String cardMemory = expected.path("cardMemory").asText();
    String unit = expected.path("gpuMemUnit").asText();
    return new SourceCluster(
        cardMemory.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Bytes.of(cardMemory)),
        Stream.of(MemoryUnit.values()).filter(each -> each.toString().equals(unit)).findFirst());
  }

  private static ObjectNode comparable(ObjectNode expected) {
    ObjectNode wanted = expected.deepCopy();
    wanted.remove(List.of("case", "in", "cardMemory", "gpuMemUnit"));
    return wanted;
  }

  private static JsonNode actual(Conversion outcome) {
    ObjectNode actual = JSON.createObjectNode();
    switch (outcome) {
      case Conversion.NothingAsked() -> actual.put("nothing", true);
      case Conversion.Refused(var problems) -> words(actual, "problems", problems);
      case Conversion.Converted(var pod, var templates, var notes) -> {
        actual.set("out", pod);
        for (JsonNode claim : pod.path("spec").path("resourceClaims")) {
          for (int i = 0; i < templates.size(); i++) {
            if (claim.path("resourceClaimTemplateName").asText().equals(templates.get(i).name())) {
              ((ObjectNode) claim).put("resourceClaimTemplateName", "template-" + (i + 1));
            }
          }
        }
        for (ClaimTemplate template : templates) {
          actual.withArrayProperty("templates")
              .add(JSON.valueToTree(template.object().getSpec().getSpec().getDevices()));
        }
        if (!notes.isEmpty()) {
          words(actual, "notes", notes);
        }
      }
    }
    // Numbers are read back as a file has them: a count is no long there.
    try {
      return JSON.readTree(JSON.writeValueAsString(actual));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static void words(ObjectNode into, String field, List<FieldError> errors) {
    errors.forEach(error -> into.withArrayProperty(field).add(error.toString()));
  }

  private static void configsAreValid(ClaimTemplate template) {
    template
        .object()
        .getSpec()
        .getSpec()
        .getDevices()
        .getConfig()
        .forEach(config -> assertThat(GpuShareConfigDecoder.decode(config.getOpaque().getParameters()))
            .isInstanceOf(Decoded.Valid.class));
  }
}
