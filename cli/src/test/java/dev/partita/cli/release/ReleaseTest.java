package dev.partita.cli.release;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.marcnuri.helm.Helm;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.command.CommandRun;
import dev.partita.cli.images.Processor;
import dev.partita.cli.images.Provenance;
import dev.partita.cli.images.Sha256;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReleaseTest {
  private static final Path CHART = Path.of("../deploy/helm/partita");
  private static final ReleaseFacts FACTS =
      new ReleaseFacts(new Provenance("1.2.3", "abc", Instant.parse("2026-01-02T03:04:05Z")),
          "registry.example/partita", "v1.2.3", "https://example.org/v1.2.3");

  @TempDir Path folder = Path.of("");

  @Test
  void helmReadsTheChartWhichIsOfTheReleaseAndHasItsImages() throws IOException {
    ChartPackage chart = ChartPackage.of(CHART, FACTS);
    Path archive = Files.write(folder.resolve(chart.fileName()), chart.archive());
    assertThat(archive).hasFileName("partita-1.2.3.tgz");
    String rendered =
        new Helm(archive).template().withName("partita").withKubeVersion(chart.oldestKubernetes()).skipCrds().call();
    assertThat(rendered).contains("image: registry.example/partita/dra-controller:v1.2.3",
        "image: registry.example/partita/kubelet-plugin:v1.2.3", "helm.sh/chart: partita-1.2.3")
        .doesNotContain("localhost/partita");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.10", "20261128", "true", "0x10", "1e3"})
  void aTagThatYamlWouldReadAsSomethingElseStaysWhatItIs(String tag) throws IOException {
    ReleaseFacts facts = new ReleaseFacts(FACTS.provenance(), FACTS.registry(), tag, FACTS.url());
    Map<String, byte[]> packed = untar(new java.util.zip.GZIPInputStream(
        new ByteArrayInputStream(ChartPackage.of(CHART, facts).archive())).readAllBytes());
    assertThat(new ObjectMapper(new YAMLFactory()).readTree(file(packed, "partita/values.yaml")).at("/image/tag"))
        .isEqualTo(TextNode.valueOf(tag));
  }

  @Test
  void theChartHasEveryFileOfItsFolder() throws IOException {
    Map<String, byte[]> packed =
        untar(new java.util.zip.GZIPInputStream(
            new ByteArrayInputStream(ChartPackage.of(CHART, FACTS).archive())).readAllBytes());
    try (var tree = Files.walk(CHART)) {
      assertThat(packed.keySet()).containsExactlyInAnyOrderElementsOf(
          tree.filter(Files::isRegularFile).map(file -> "partita/" + CHART.relativize(file)).toList());
    }
  }

  @Test
  void theSameChartGivesTheSameBytes() throws IOException {
    assertThat(ChartPackage.of(CHART, FACTS).archive()).isEqualTo(ChartPackage.of(CHART, FACTS).archive());
    assertThat(ChartPackage.of(CHART, FACTS).ociArchive()).isEqualTo(ChartPackage.of(CHART, FACTS).ociArchive());
  }

  @Test
  void theArtefactHoldsTheChartAsRegistriesKeepIt() throws IOException {
    ChartPackage chart = ChartPackage.of(CHART, FACTS);
    Map<String, byte[]> layout = untar(chart.ociArchive());
    JsonNode described = json(file(layout, "index.json")).at("/manifests/0");
    assertThat(described.at("/annotations/org.opencontainers.image.ref.name").asText()).isEqualTo("1.2.3");
    JsonNode manifest = json(blob(layout, described));
    assertThat(manifest.at("/config/mediaType").asText()).isEqualTo("application/vnd.cncf.helm.config.v1+json");
    assertThat(json(blob(layout, manifest.path("config"))).path("version").asText()).isEqualTo("1.2.3");
    assertThat(manifest.at("/layers/0/mediaType").asText())
        .isEqualTo("application/vnd.cncf.helm.chart.content.v1.tar+gzip");
    assertThat(blob(layout, manifest.at("/layers/0"))).isEqualTo(chart.archive());
  }

  @Test
  void theDefinitionsAreAllThatTheChartHas() throws IOException {
    String definitions = ChartPackage.of(CHART, FACTS).definitions();
    assertThat(
        new ObjectMapper(new YAMLFactory()).readerFor(JsonNode.class).<JsonNode>readValues(definitions).readAll())
        .map(each -> each.at("/metadata/name").asText())
        .containsExactly("gpunodes.gpu.partita.dev", "gpuquotas.gpu.partita.dev");
  }

  @Test
  void krewFindsAnArchiveForEachProcessor() throws IOException {
    Path amd64 = Files.writeString(folder.resolve("partita-1.2.3-linux-amd64.tar.gz"), "one");
    Path arm64 = Files.writeString(folder.resolve("partita-1.2.3-linux-arm64.tar.gz"), "other");
    String text =
        KrewManifest.of(Path.of("../deploy/command/krew.yaml"),
            new TreeMap<>(Map.of(Processor.AMD64, amd64, Processor.ARM64, arm64)), FACTS);
    JsonNode spec = new ObjectMapper(new YAMLFactory()).readTree(text).path("spec");
    assertThat(spec.path("version").asText()).isEqualTo("v1.2.3");
    assertThat(spec.path("platforms")).map(each -> each.at("/selector/matchLabels/arch").asText())
        .containsExactly("amd64", "arm64");
    assertThat(spec.at("/platforms/1/uri").asText())
        .isEqualTo("https://example.org/v1.2.3/partita-1.2.3-linux-arm64.tar.gz");
    assertThat(spec.at("/platforms/1/sha256").asText()).isEqualTo(Sha256.of(arm64));
  }

  @Test
  void notesTellTheChangesByThePartThatTheyAreOf() {
    assertThat(ReleaseNotes.text(FACTS, "v1.2.2", List.of("cli: b", "api: a", "cli: c: d", "no part"))).isEqualTo("""
        # Partita 1.2.3

        Images: `registry.example/partita/<image>:v1.2.3`. Commit: `abc`.

        ## Changes since v1.2.2

        ### api
        - a

        ### cli
        - b
        - c: d

        ### other
        - no part
        """);
    assertThat(ReleaseNotes.text(FACTS, "v1.2.2", List.of("CI: a", "What waits says why: an event", "api, cli: b")))
        .endsWith("""
            ### CI
            - a

            ### api, cli
            - b

            ### other
            - What waits says why: an event
            """);
    assertThat(ReleaseNotes.text(FACTS, "", List.of("api: a"))).endsWith("The first release.\n").doesNotContain("- a");
  }

  @Test
  void sha256sumAgreesWithTheSums() throws Exception {
    ReleaseFolder release =
        new ReleaseFolder(folder, Path.of(".."), FACTS,
            new Progress(new PrintWriter(new StringWriter()), InstantSource.system()));
    release.chart();
    assertThat(release.sums()).map(file -> String.valueOf(file.getFileName())).containsExactly(
        "partita-1.2.3.tgz", "partita-1.2.3.yaml", "partita-chart-1.2.3.oci.tar", "partita-crds-1.2.3.yaml");
    Process check =
        new ProcessBuilder("sha256sum", "--check", "--strict", "SHA256SUMS").directory(folder.toFile())
            .redirectErrorStream(true).start();
    String said = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(check.waitFor()).as(said).isZero();
    assertThat(said.lines()).hasSize(4);
  }

  @Test
  void aReleaseSaysWhereItWillBe() {
    CommandRun run = CommandRun.of("release", "--only", "amd64");
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err()).contains("--registry", "--url").hasLineCount(1);
  }

  private static byte[] blob(Map<String, byte[]> layout, JsonNode descriptor) {
    return file(layout, "blobs/" + descriptor.path("digest").asText().replace(':', '/'));
  }

  private static byte[] file(Map<String, byte[]> layout, String name) {
    return Optional.ofNullable(layout.get(name)).orElseThrow(() -> new AssertionError("there is no " + name));
  }

  private static JsonNode json(byte[] content) throws IOException {
    return new ObjectMapper().readTree(content);
  }

  private static Map<String, byte[]> untar(byte[] content) throws IOException {
    Map<String, byte[]> files = new HashMap<>();
    try (TarArchiveInputStream tar = new TarArchiveInputStream(new ByteArrayInputStream(content))) {
      for (TarArchiveEntry each = tar.getNextEntry(); each != null; each = tar.getNextEntry()) {
        files.put(each.getName(), tar.readAllBytes());
      }
    }
    return files;
  }
}
