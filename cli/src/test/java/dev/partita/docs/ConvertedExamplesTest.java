package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.cli.convert.ConvertCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;

/**
 * What {@code partita convert} makes of what the other systems' own examples ask for, as a page. The examples are ours,
 * in {@code src/test/resources/examples}: they name what an example of theirs names and ask for the same.
 */
class ConvertedExamplesTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path EXAMPLES = Document.ROOT.resolve("cli/src/test/resources/examples");
  private static final Path PAGE = Document.ROOT.resolve("docs/reference/converted-examples.md");
  private static final Set<String> KUBERNETES_OWN = Set.of("cpu", "memory", "ephemeral-storage");
  private static final String NOT_CONVERTED = "**not converted**: ";

  @TempDir private Path folder;

  private record Run(int status, List<JsonNode> out, List<String> said) {}

  @Test
  void thePageSaysWhatBecomesOfEveryExample() throws IOException {
    StringBuilder page =
        new StringBuilder(
            """
                # Other systems' examples, converted

                What `partita convert` makes of what the other systems' own examples ask for.
                [What becomes what](dialects.md) has the rules, [Convert pods](../how-to/convert-pods.md) the command.
                [The peers' own examples](peers-examples.md) names those of their repositories, and what became of each.
                """);
    for (Path file : files()) {
      JsonNode system = JSON.valueToTree(new Yaml().<Object>load(Files.readString(file)));
      page.append("\n## ").append(system.path("system").asText()).append("\nAs in ")
          .append(system.path("source").asText())
          .append(".\n\n| example | asks for | becomes |\n| --- | --- | --- |\n");
      for (JsonNode example : system.path("examples")) {
        page.append("| ").append(example.path("name").asText()).append(" | ").append(cell(asked(object(example))))
            .append(" | ").append(cell(becomes(example))).append(" |\n");
      }
    }
    page.append(ReferenceTest.MADE.formatted("`cli/src/test/resources/examples`"));
    if (Boolean.getBoolean("partita.docs.write")) {
      Files.writeString(PAGE, page);
    }
    assertThat(PAGE).content().isEqualTo(page.toString());
  }

  /** Nothing that asks for a GPU comes out as it went in without a word. */
  @Test
  void everyExampleIsConvertedOrTheStatusAndALineSayWhyNot() throws IOException {
    for (Path file : files()) {
      JsonNode system = JSON.valueToTree(new Yaml().<Object>load(Files.readString(file)));
      for (JsonNode example : system.path("examples")) {
        Run run = convert(example);
        String name = system.path("system").asText() + ": " + example.path("name").asText();
        if (run.status() == 0) {
          assertThat(run.out()).as(name).anyMatch(each -> each.toString().contains("gpu.partita.dev"));
        } else {
          assertThat(run.status()).as(name).isEqualTo(3);
          assertThat(run.said()).as(name).isNotEmpty();
        }
      }
    }
  }

  private static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(EXAMPLES)) {
      return files.sorted().toList();
    }
  }

  private Run convert(JsonNode example) throws IOException {
    Path file = Files.writeString(folder.resolve("in.yaml"), JSON.writeValueAsString(object(example)));
    List<String> arguments = new ArrayList<>(List.of("-f", file.toString()));
    if (example.has("gpuMemUnit")) {
      arguments.addAll(List.of("--gpu-mem-unit", example.path("gpuMemUnit").asText()));
    }
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = new CommandLine(new ConvertCommand()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
        .execute(arguments.toArray(new String[0]));
    List<JsonNode> objects =
        StreamSupport.stream(new Yaml().loadAll(out.toString()).spliterator(), false)
            .<JsonNode>map(JSON::valueToTree).toList();
    return new Run(status, objects, err.toString().lines().toList());
  }

  private String becomes(JsonNode example) throws IOException {
    Run run = convert(example);
    Stream<String> claims =
        run.out().stream()
            .filter(object -> run.status() == 0 || !object.path("kind").asText().startsWith("ResourceClaim"))
            .map(ConvertedExamplesTest::devices).flatMap(Optional::stream).map(ConvertedExamplesTest::requests);
    Stream<String> said = run.said().stream()
        .map(line -> line.replaceFirst("^partita: [^:]+: ", "")
            .replaceFirst("^metadata\\.|^spec\\.containers\\[0\\]\\.", ""))
        .filter(line -> !line.startsWith("spec.schedulerName: "))
        .map(line -> (run.status() == 0 ? "note: " : NOT_CONVERTED) + line);
    return String.join("; ", Stream.concat(claims, said).toList());
  }

  /** A pod or a claim of the shape that the table has. */
  private static JsonNode object(JsonNode example) {
    if (example.has("object")) {
      return example.path("object");
    }
    if (example.has("claim")) {
      ObjectNode template =
          JSON.createObjectNode().put("apiVersion", "resource.k8s.io/v1").put("kind", "ResourceClaimTemplate");
      template.putObject("metadata").put("name", "example");
      template.putObject("spec").putObject("spec").set("devices", example.path("claim"));
      return template;
    }
    JsonNode asked = example.path("pod");
    ObjectNode pod = JSON.createObjectNode().put("apiVersion", "v1").put("kind", "Pod");
    ObjectNode metadata = pod.putObject("metadata").put("name", "example");
    for (String field : List.of("annotations", "labels")) {
      if (asked.has(field)) {
        metadata.set(field, asked.path(field));
      }
    }
    ObjectNode spec = pod.putObject("spec");
    if (asked.has("schedulerName")) {
      spec.set("schedulerName", asked.path("schedulerName"));
    }
    ArrayNode containers = spec.putArray("containers");
    if (asked.path("sidecar").asBoolean()) {
      containers.addObject().put("name", "sidecar");
    }
    ObjectNode main = containers.addObject().put("name", "main");
    asked.path("env").properties().forEach(variable -> main.withArrayProperty("env").addObject()
        .put("name", variable.getKey()).put("value", variable.getValue().asText()));
    if (asked.has("limits")) {
      main.putObject("resources").set("limits", asked.path("limits"));
    }
    return pod;
  }

  private static String asked(JsonNode object) {
    Optional<JsonNode> devices = devices(object);
    if (devices.isPresent()) {
      return requests(devices.get());
    }
    List<String> asked = new ArrayList<>();
    for (String field : List.of("annotations", "labels")) {
      values(object.path("metadata").path(field), asked);
    }
    for (JsonNode container : object.path("spec").path("containers")) {
      container.path("env").forEach(variable -> asked.add(
          "`" + variable.path("name").asText() + "=" + variable.path("value").asText() + "`"));
      values(container.path("resources").path("limits"), asked);
    }
    return asked.isEmpty()
        ? "`" + object.path("kind").asText() + "` of `" + object.path("apiVersion").asText() + "`"
        : String.join(", ", asked);
  }

  private static void values(JsonNode named, List<String> into) {
    named.properties().stream().filter(each -> !KUBERNETES_OWN.contains(each.getKey()))
        .forEach(each -> into.add("`" + each.getKey() + ": " + each.getValue().asText() + "`"));
  }

  private static Optional<JsonNode> devices(JsonNode object) {
    return Stream.of(object.path("spec").path("spec").path("devices"), object.path("spec").path("devices"))
        .filter(JsonNode::isObject).findFirst();
  }

  private static String requests(JsonNode devices) {
    List<String> said = new ArrayList<>();
    for (JsonNode request : devices.path("requests")) {
      JsonNode exactly = request.has("exactly") ? request.path("exactly") : request;
      List<String> parts = new ArrayList<>();
      parts.add((exactly.has("count") ? exactly.path("count").asText() + " of " : "") + "`"
          + exactly.path("deviceClassName").asText() + "`");
      values(exactly.path("capacity").path("requests"), "", parts);
      exactly.path("selectors").forEach(each -> parts.add("`" + each.path("cel").path("expression").asText() + "`"));
      said.add(String.join(", ", parts));
    }
    devices.path("constraints")
        .forEach(each -> said.add("`matchAttribute: " + each.path("matchAttribute").asText() + "`"));
    for (JsonNode config : devices.path("config")) {
      ObjectNode parameters = config.path("opaque").path("parameters").deepCopy();
      parameters.remove(List.of("apiVersion", "kind"));
      List<String> parts = new ArrayList<>();
      values(parameters, "", parts);
      said.add(String.join(", ", parts));
    }
    return String.join("; ", said);
  }

  private static void values(JsonNode fields, String path, List<String> into) {
    fields.properties().forEach(field -> {
      String where = path + field.getKey();
      if (field.getValue().isObject()) {
        values(field.getValue(), where + ".", into);
      } else {
        into.add("`" + where + ": " + field.getValue().asText() + "`");
      }
    });
  }

  private static String cell(String text) {
    return text.replace("|", "\\|").replace("\n", " ");
  }
}
