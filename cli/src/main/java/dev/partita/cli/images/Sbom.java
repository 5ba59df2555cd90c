package dev.partita.cli.images;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The list of what an image holds (SBOM), as a CycloneDX 1.6 document: the jars with their licences, which the build
 * took from Maven, the Java runtime, every other file of ours, each with its sum as the image has it, and the base
 * image by its name. What is in the base, the base's own list says.
 */
final class Sbom {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String JARS = "usr/lib/partita/app/";
  private static final String RUNTIME = "usr/lib/partita/runtime/";
  private static final String MAVEN_LIST = "bom.json";

  private final ImageRequest request;

  Sbom(ImageRequest request) {
    this.request = request;
  }

  /** Writes it beside the image's archive; gives the file. */
  Path write(Path folder) {
    Path file = folder.resolve(request.fileName().replaceAll("\\.tar$", ".cdx.json"));
    try {
      return Files.writeString(file, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(document()) + "\n");
    } catch (IOException refused) {
      throw CommandFailure
          .failed("what %s holds cannot be listed: %s".formatted(request.staged().name(), refused.getMessage()));
    }
  }

  private ObjectNode document() throws IOException {
    ObjectNode document = JSON.createObjectNode();
    document.put("bomFormat", "CycloneDX").put("specVersion", "1.6");
    ArrayNode components = JSON.createArrayNode();
    base(components);
    Map<String, JsonNode> known = ofMaven();
    for (Path path : files()) {
      String inside = request.staged().root().relativize(path).toString();
      if (inside.startsWith(JARS)) {
        components.add(jar(path, known));
      } else if (inside.equals(RUNTIME + "release")) {
        components.add(javaRuntime(path));
      } else if (!inside.startsWith(RUNTIME)) {
        components.add(file(inside, path));
      }
    }
    // The same content has the same number, so that it is the same document.
    document.put("serialNumber",
        "urn:uuid:" + UUID.nameUUIDFromBytes((image().toString() + components).getBytes(StandardCharsets.UTF_8)));
    document.put("version", 1);
    document.putObject("metadata").put("timestamp", request.provenance().created().toString())
        .set("component", image());
    document.set("components", components);
    return document;
  }

  private ObjectNode image() {
    ObjectNode image = JSON.createObjectNode();
    image.put("type", "container").put("bom-ref", request.staged().name()).put("name", request.staged().name());
    image.put("version", request.provenance().version());
    image.putArray("licenses").addObject().putObject("license").put("id", "Apache-2.0");
    ArrayNode properties = image.putArray("properties");
    property(properties, "partita:processor", request.processor().architecture());
    property(properties, "partita:revision", request.provenance().revision());
    return image;
  }

  private static void property(ArrayNode properties, String name, String value) {
    properties.addObject().put("name", name).put("value", value);
  }

  private void base(ArrayNode components) {
    if (!(request.base() instanceof BaseImage.Scratch)) {
      components.addObject().put("type", "container").put("name", request.base().name())
          .put("description", "The base image, whose packages are not listed here.");
    }
  }

  private ObjectNode jar(Path jar, Map<String, JsonNode> known) throws IOException {
    String name = String.valueOf(jar.getFileName());
    JsonNode listed = known.get(name);
    if (listed == null) {
      throw new IOException(name
          + " is in the image, and Maven's list (bom.json) does not have it: run 'mvn package', which lists nothing when it is offline (-o)");
    }
    ObjectNode component = listed.deepCopy();
    String sum = Sha256.of(jar);
    boolean changed =
        component.has("hashes") && StreamSupport.stream(component.path("hashes").spliterator(), false)
            .noneMatch(hash -> hash.path("content").asText().equals(sum));
    if (changed) {
      component.putObject("pedigree").put("notes",
          "Class files of before Java 6 are written anew, as of Java 8 (deploy/image/NewerClassFiles.java).");
    }
    hash(component, sum);
    return component;
  }

  private ObjectNode javaRuntime(Path release) throws IOException {
    Properties says = new Properties();
    try (var in = Files.newBufferedReader(release)) {
      says.load(in);
    }
    String version = says.getProperty("JAVA_VERSION", "").replace("\"", "");
    ObjectNode component = JSON.createObjectNode();
    component.put("type", "platform").put("bom-ref", "pkg:generic/openjdk@" + version).put("name", "openjdk")
        .put("version", version).put("description",
            "Java runtime made by jlink, of the modules " + says.getProperty("MODULES", "").replace("\"", ""));
    component.putArray("licenses").addObject().put("expression", "GPL-2.0-only WITH Classpath-exception-2.0");
    component.put("purl", "pkg:generic/openjdk@" + version);
    return component;
  }

  private static ObjectNode file(String inside, Path path) throws IOException {
    ObjectNode component = JSON.createObjectNode();
    component.put("type", "file").put("bom-ref", "/" + inside).put("name", "/" + inside);
    hash(component, Sha256.of(path));
    return component;
  }

  private static void hash(ObjectNode component, String sum) {
    component.putArray("hashes").addObject().put("alg", "SHA-256").put("content", sum);
  }

  /** What Maven knows of the module and its libraries, by the jar's name. */
  private Map<String, JsonNode> ofMaven() throws IOException {
    Path list = request.staged().folder().resolve(MAVEN_LIST);
    Map<String, JsonNode> known = new HashMap<>();
    if (Files.exists(list)) {
      JsonNode document = JSON.readTree(list.toFile());
      Stream.concat(Stream.of(document.at("/metadata/component")),
          StreamSupport.stream(document.path("components").spliterator(), false))
          .forEach(each -> known.put(each.path("name").asText() + "-" + each.path("version").asText() + ".jar", each));
    }
    return known;
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> tree = Files.walk(request.staged().root())) {
      return tree.filter(Files::isRegularFile).sorted().toList();
    }
  }
}
