package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.checkout.StagedImage;
import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.StreamSupport;
import org.cyclonedx.Version;
import org.cyclonedx.parsers.JsonParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SbomTest {
  @TempDir Path folder = Path.of("");

  @Test
  void theDocumentIsWhatCycloneDxsSchemaWants() throws IOException {
    Path written = write(ImageTree.in(folder, "some"), "debian:13-slim");
    assertThat(new JsonParser().validate(written.toFile(), Version.VERSION_16)).isEmpty();
  }

  @Test
  void everyFileIsListedWithItsSumAsTheImageHasIt() throws IOException {
    StagedImage image = ImageTree.in(folder, "some");
    JsonNode components = new ObjectMapper().readTree(write(image, "debian:13-slim").toFile()).path("components");
    assertThat(components).map(each -> each.path("type").asText() + " " + each.path("name").asText()).containsExactly(
        "container debian:13-slim", "file /etc/program.args", "file /usr/bin/program", "library api", "library guava",
        "platform openjdk");
    JsonNode guava = component(components, "guava");
    assertThat(guava.at("/licenses/0/license/id").asText()).isEqualTo("Apache-2.0");
    assertThat(guava.at("/hashes/0/content").asText())
        .isEqualTo(Sha256.of(image.root().resolve("usr/lib/partita/app/guava-33.jar")));
    assertThat(guava.at("/pedigree/notes").asText()).as("it is not the jar that Maven fetched").isNotEmpty();
    assertThat(component(components, "openjdk").path("version").asText()).isEqualTo("25.0.3");
    assertThat(component(components, "/usr/bin/program").at("/hashes/0/content").asText())
        .isEqualTo(Sha256.of(image.root().resolve("usr/bin/program")));
  }

  @Test
  void theSameContentGivesTheSameDocument() throws IOException {
    assertThat(write(ImageTree.in(folder.resolve("one"), "some"), "scratch"))
        .hasSameBinaryContentAs(write(ImageTree.in(folder.resolve("two"), "some"), "scratch"));
  }

  @Test
  void aJarThatMavensListLacksIsAFault() throws IOException {
    StagedImage image = ImageTree.in(folder, "some");
    Files.writeString(image.root().resolve("usr/lib/partita/app/stray-1.jar"), "from elsewhere");
    assertThatThrownBy(() -> write(image, "scratch")).isInstanceOf(CommandFailure.class)
        .hasMessageContainingAll("stray-1.jar", "bom.json");
  }

  private Path write(StagedImage image, String base) throws IOException {
    return new Sbom(ImageTree.request(image, Processor.AMD64, base))
        .write(Files.createTempDirectory(folder, "sbom"));
  }

  private static JsonNode component(JsonNode components, String name) {
    return StreamSupport.stream(components.spliterator(), false)
        .filter(each -> each.path("name").asText().equals(name)).findFirst().orElseThrow();
  }
}
