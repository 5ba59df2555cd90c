package dev.partita.cli.release;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.images.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The chart as a release has it: of the release's version, and with its images as the default. The archive is laid out
 * as {@code helm package} does it, which writes the time of day into it and so never makes the same one twice.
 */
final class ChartPackage {
  private static final String NAME = "partita";
  private static final String CONFIG = "application/vnd.cncf.helm.config.v1+json";
  private static final String CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
  private static final ObjectMapper JSON = new ObjectMapper();

  private final SequencedMap<String, byte[]> files;
  private final ReleaseFacts facts;

  private ChartPackage(SequencedMap<String, byte[]> files, ReleaseFacts facts) {
    this.files = files;
    this.facts = facts;
  }

  /** Reads the chart's folder. */
  static ChartPackage of(Path chart, ReleaseFacts facts) throws IOException {
    SequencedMap<String, byte[]> files = new LinkedHashMap<>();
    files.put("Chart.yaml", new byte[0]); // Helm reads it first
    Map<String, byte[]> found = new TreeMap<>();
    try (Stream<Path> tree = Files.walk(chart)) {
      for (Path path : tree.filter(Files::isRegularFile).toList()) {
        found.put(chart.relativize(path).toString(), Files.readAllBytes(path));
      }
    }
    files.putAll(found);
    change(files, "Chart.yaml", "version", facts.version());
    change(files, "Chart.yaml", "appVersion", facts.version());
    change(files, "values.yaml", "  registry", facts.registry());
    change(files, "values.yaml", "  tag", facts.tag());
    return new ChartPackage(files, facts);
  }

  /**
   * Sets a value of which there is one line in a file, and leaves all else as people wrote it. It is quoted as JSON,
   * and so YAML, has it: a tag such as 1.10 is no number.
   */
  private static void change(Map<String, byte[]> files, String file, String key, String value)
      throws JsonProcessingException {
    String text = new String(files.getOrDefault(file, new byte[0]), StandardCharsets.UTF_8);
    Matcher line = Pattern.compile("(?m)^" + key + ": .*$").matcher(text);
    if (!line.find()) {
      throw CommandFailure.failed("the chart's %s has no line '%s:'".formatted(file, key.strip()));
    }
    String changed =
        text.substring(0, line.start()) + key + ": " + JSON.writeValueAsString(value) + text.substring(line.end());
    files.put(file, changed.getBytes(StandardCharsets.UTF_8));
  }

  /** The oldest version of Kubernetes that it can be installed on. */
  String oldestKubernetes() {
    String text = new String(files.getOrDefault("Chart.yaml", new byte[0]), StandardCharsets.UTF_8);
    Matcher version = Pattern.compile("(?m)^kubeVersion: \">=([0-9.]+)").matcher(text);
    if (!version.find()) {
      throw CommandFailure.failed("the chart's Chart.yaml has no line 'kubeVersion: \">=…'");
    }
    return version.group(1);
  }

  /** Its name, as {@code helm package} names it. */
  String fileName() {
    return NAME + "-" + facts.version() + ".tgz";
  }

  /** What {@code helm install} takes. */
  byte[] archive() throws IOException {
    SequencedMap<String, byte[]> inFolder = new LinkedHashMap<>();
    files.forEach((name, content) -> inFolder.put(NAME + "/" + name, content));
    return TarGz.tgz(inFolder, facts.provenance().created());
  }

  /** The custom resource definitions, one after the other. */
  String definitions() {
    StringBuilder all = new StringBuilder();
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      if (file.getKey().startsWith("crds/")) {
        String text = new String(file.getValue(), StandardCharsets.UTF_8);
        all.append(text.startsWith("---") ? "" : "---\n").append(text).append(text.endsWith("\n") ? "" : "\n");
      }
    }
    return all.toString();
  }

  /** The chart as registries keep it (HIP 6), in OCI's image layout: what {@code oras} and {@code skopeo} copy. */
  byte[] ociArchive() throws IOException {
    byte[] content = archive();
    byte[] config =
        JSON.writeValueAsBytes(new ObjectMapper(new YAMLFactory()).readTree(files.get("Chart.yaml")));
    ObjectNode manifest = JSON.createObjectNode();
    manifest.put("schemaVersion", 2).put("mediaType", "application/vnd.oci.image.manifest.v1+json");
    manifest.set("config", descriptor(CONFIG, config));
    manifest.putArray("layers").add(descriptor(CONTENT, content));
    manifest.putObject("annotations").put("org.opencontainers.image.title", NAME)
        .put("org.opencontainers.image.version", facts.version())
        .put("org.opencontainers.image.created", facts.provenance().created().toString());
    byte[] manifestBytes = JSON.writeValueAsBytes(manifest);
    ObjectNode index = JSON.createObjectNode();
    index.put("schemaVersion", 2).put("mediaType", "application/vnd.oci.image.index.v1+json");
    ArrayNode manifests = index.putArray("manifests");
    ObjectNode only = descriptor("application/vnd.oci.image.manifest.v1+json", manifestBytes);
    only.putObject("annotations").put("org.opencontainers.image.ref.name", facts.version());
    manifests.add(only);
    SequencedMap<String, byte[]> layout = new LinkedHashMap<>();
    layout.put("oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}".getBytes(StandardCharsets.UTF_8));
    layout.put("index.json", JSON.writeValueAsBytes(index));
    for (byte[] blob : List.of(manifestBytes, config, content)) {
      layout.put("blobs/sha256/" + Sha256.of(blob), blob);
    }
    return TarGz.tar(layout, facts.provenance().created());
  }

  private static ObjectNode descriptor(String type, byte[] content) {
    return JSON.createObjectNode().put("mediaType", type).put("digest", "sha256:" + Sha256.of(content)).put("size",
        content.length);
  }
}
