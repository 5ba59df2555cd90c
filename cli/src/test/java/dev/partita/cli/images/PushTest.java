package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.checkout.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Images in a registry that others wrote. */
class PushTest {
  private static final String TYPES =
      "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json";

  @TempDir Path folder = Path.of("");
  private final Progress progress = new Progress(new PrintWriter(new StringWriter()), InstantSource.system());

  @Test
  void whatIsPushedIsWhatTheArchiveHolds() throws Exception {
    try (RegistryProcess registry = RegistryProcess.in(folder)) {
      ImageTree.in(folder.resolve("amd64"), "some");
      StagedImages staged = new StagedImages(Map.of(Processor.AMD64, folder.resolve("amd64")));
      ImageSet set = set(registry, Processor.AMD64);
      List<ImageSet.Made> made = set.archive(staged, folder.resolve("out"), ImageTree.PROVENANCE, progress);
      Map<String, String> pushed = set.push(staged, made, ImageTree.PROVENANCE, progress);
      assertThat(pushed).containsExactly(Map.entry("some", made.getFirst().content().digest()));
      HttpResponse<String> there = manifest(registry, "v1");
      assertThat(there.headers().firstValue("Docker-Content-Digest")).hasValue(made.getFirst().content().digest());
    }
  }

  @Test
  void oneNameStandsForTheImagesOfBothProcessors() throws Exception {
    try (RegistryProcess registry = RegistryProcess.in(folder)) {
      ImageTree.in(folder.resolve("amd64"), "some");
      ImageTree.in(folder.resolve("arm64"), "some");
      StagedImages staged =
          new StagedImages(Map.of(Processor.AMD64, folder.resolve("amd64"), Processor.ARM64, folder.resolve("arm64")));
      ImageSet set = set(registry, Processor.AMD64, Processor.ARM64);
      List<ImageSet.Made> made = set.archive(staged, folder.resolve("out"), ImageTree.PROVENANCE, progress);
      assertThat(made).map(one -> String.valueOf(one.archive().getFileName())).containsExactly("some-linux-amd64.tar",
          "some-linux-arm64.tar");
      assertThat(made).map(one -> String.valueOf(one.sbom().getFileName())).containsExactly("some-linux-amd64.cdx.json",
          "some-linux-arm64.cdx.json");
      Map<String, String> pushed = set.push(staged, made, ImageTree.PROVENANCE, progress);
      HttpResponse<String> there = manifest(registry, "v1");
      assertThat(there.headers().firstValue("Docker-Content-Digest")).hasValue(pushed.get("some"));
      JsonNode index = new ObjectMapper().readTree(there.body());
      assertThat(index.path("mediaType").asText()).isEqualTo("application/vnd.oci.image.index.v1+json");
      assertThat(index.path("manifests")).map(each -> each.at("/platform/architecture").asText())
          .containsExactly("amd64", "arm64");
      for (ImageSet.Made one : made) {
        assertThat(index.path("manifests")).map(each -> each.path("digest").asText()).contains(one.content().digest());
        assertThat(manifest(registry, one.content().digest()).statusCode()).isEqualTo(200);
      }
    }
  }

  @Test
  void aBaseComesFromARegistryForTheProcessorThatIsAsked() throws Exception {
    try (RegistryProcess registry = RegistryProcess.in(folder)) {
      ImageTree.in(folder.resolve("amd64"), "some");
      ImageTree.in(folder.resolve("arm64"), "some");
      StagedImages staged =
          new StagedImages(Map.of(Processor.AMD64, folder.resolve("amd64"), Processor.ARM64, folder.resolve("arm64")));
      ImageSet bases = set(registry, Processor.AMD64, Processor.ARM64);
      bases.push(staged, bases.archive(staged, folder.resolve("out"), ImageTree.PROVENANCE, progress),
          ImageTree.PROVENANCE, progress);
      ImageRequest request =
          ImageTree.request(ImageTree.in(folder, "upon"), Processor.ARM64, registry.address() + "/partita/some:v1");
      OciArchive upon =
          new ImageBuilder(folder.resolve("cache"), true).toArchive(request, folder.resolve("upon.tar"));
      assertThat(upon.architecture()).isEqualTo("arm64");
    }
  }

  private ImageSet set(RegistryProcess registry, Processor... processors) {
    return new ImageSet(List.of(), List.of(processors), Optional.of("scratch"), registry.address() + "/partita", "v1",
        true, folder.resolve("cache"));
  }

  private static HttpResponse<String> manifest(RegistryProcess registry, String reference)
      throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(
          HttpRequest.newBuilder(URI.create("http://" + registry.address() + "/v2/partita/some/manifests/" + reference))
              .header("Accept", TYPES).build(),
          HttpResponse.BodyHandlers.ofString());
    }
  }
}
