package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.cloud.tools.jib.api.InsecureRegistryException;
import com.google.cloud.tools.jib.api.RegistryAuthenticationFailedException;
import dev.partita.cli.command.CommandFailure;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLException;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImageBuilderTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder = Path.of("");
  private ImageBuilder builder = new ImageBuilder(folder, false);

  @BeforeEach
  void cacheIsTheTestsOwn() {
    builder = new ImageBuilder(folder.resolve("cache"), false);
  }

  @Test
  void theArchiveSaysWhatTheContainerfileSays() throws IOException {
    Path archive = folder.resolve("out/some.tar");
    OciArchive written =
        builder.toArchive(ImageTree.request(ImageTree.in(folder, "some"), Processor.ARM64, "scratch"), archive);
    assertThat(written.user()).isEqualTo("65532:65532");
    assertThat(written.architecture()).isEqualTo("arm64");
    JsonNode config = config(archive);
    assertThat(config.at("/config/Entrypoint")).hasToString("[\"/usr/bin/program\",\"@/etc/program.args\"]");
    assertThat(config.at("/config/Labels/org.opencontainers.image.revision").asText()).isEqualTo("abc");
    assertThat(config.path("created").asText()).isEqualTo("2026-01-02T03:04:05Z");
    assertThat(json(archive, "oci-layout").path("imageLayoutVersion").asText()).isEqualTo("1.0.0");
    assertThat(json(archive, "index.json").toString()).contains("registry.example/partita/some:v1", written.digest());
    assertThat(json(archive, "blobs/" + written.digest().replace(':', '/')).path("mediaType").asText())
        .isEqualTo("application/vnd.oci.image.manifest.v1+json");
  }

  @Test
  void whatChangesSeldomLiesBelowAndEveryFileIsRootsAndOf1970() throws IOException {
    Path archive = folder.resolve("some.tar");
    builder.toArchive(ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, "scratch"), archive);
    List<List<TarArchiveEntry>> layers = layers(archive);
    assertThat(layers).map(ImageBuilderTest::files).containsExactly(
        List.of("usr/lib/partita/runtime/lib/modules", "usr/lib/partita/runtime/release"),
        List.of("usr/lib/partita/app/guava-33.jar"),
        List.of("etc/program.args", "usr/bin/program", "usr/lib/partita/app/api-1.2.3.jar"));
    assertThat(layers.stream().flatMap(List::stream).filter(TarArchiveEntry::isFile)).allSatisfy(file -> {
      assertThat(file.getLastModifiedTime().toInstant()).isEqualTo(Instant.EPOCH);
      assertThat(file.getLongUserId() + ":" + file.getLongGroupId()).isEqualTo("0:0");
      assertThat(file.getMode() & 0777).isEqualTo(file.getName().equals("usr/bin/program") ? 0755 : 0644);
    });
  }

  @Test
  void theSameFilesInAnotherFolderAndOfAnotherTimeGiveTheSameBytes() throws IOException {
    Path first = folder.resolve("first.tar");
    Path second = folder.resolve("second.tar");
    builder.toArchive(ImageTree.request(ImageTree.in(folder.resolve("one"), "some"), Processor.AMD64, "scratch"),
        first);
    new ImageBuilder(folder.resolve("another-cache"), false).toArchive(
        ImageTree.request(ImageTree.in(folder.resolve("two"), "some"), Processor.AMD64, "scratch"), second);
    assertThat(second).hasSameBinaryContentAs(first);
  }

  @Test
  void anArchiveOfDockersFormatIsABase() throws IOException {
    Path base = SavedImage.in(folder.resolve("base.tar"), "amd64");
    Path archive = folder.resolve("some.tar");
    builder.toArchive(ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, base.toString()), archive);
    assertThat(files(layers(archive).getFirst())).containsExactly("etc/base");
    assertThat(config(archive).at("/config/Env")).hasToString("[\"PATH=/base\"]");
    assertThat(layers(archive)).hasSize(4);
  }

  @Test
  void aRootFoldersTarFileIsABaseForTheProcessorThatIsAsked() throws IOException {
    Path base = SavedImage.root(folder.resolve("root.tar"));
    Path archive = folder.resolve("some.tar");
    OciArchive written =
        builder.toArchive(ImageTree.request(ImageTree.in(folder, "some"), Processor.ARM64, base.toString()), archive);
    assertThat(written.architecture()).isEqualTo("arm64");
    assertThat(files(layers(archive).getFirst())).containsExactly("./usr/base");
    assertThat(config(archive).at("/config/Env/0").asText()).startsWith("PATH=");
  }

  @Test
  void aBaseOfAnotherProcessorIsRefusedAndNothingIsLeft() throws IOException {
    Path base = SavedImage.in(folder.resolve("base.tar"), "amd64");
    ImageRequest request = ImageTree.request(ImageTree.in(folder, "some"), Processor.ARM64, base.toString());
    Path out = folder.resolve("out");
    assertThatThrownBy(() -> builder.toArchive(request, out.resolve("some.tar"))).isInstanceOf(CommandFailure.class)
        .hasMessageStartingWith("some for arm64: the base image is for another processor (")
        .hasMessageContaining("amd64").hasMessageEndingWith("Name one with --base");
    assertThat(out).isEmptyDirectory();
  }

  @Test
  void aRegistryThatIsNotReachedIsNamedWithTheWayRoundIt() throws IOException {
    ImageRequest request = ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, "debian:13-slim");
    for (IOException unreached : List.of(new UnknownHostException("registry.example"),
        new ConnectException("Connection refused"), new SocketTimeoutException("Connect timed out"))) {
      assertThat(builder.failed(request, Optional.empty(), unreached)).hasMessageContainingAll("some: ",
          "cannot be reached", " (" + unreached.getMessage() + ")", "which is debian:13-slim", "--base takes the path");
    }
    ImageRequest pushed = ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, "scratch");
    assertThat(builder.failed(pushed, Optional.empty(), new ConnectException("Connection refused")))
        .hasMessage("some: a registry cannot be reached (Connection refused)");
  }

  @Test
  void aFileThatMayNotBeWrittenIsNamedWithTheReason() throws IOException {
    ImageRequest request = ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, "scratch");
    assertThat(builder.failed(request, Optional.empty(), new AccessDeniedException("/checkout/.partita/images/layers")))
        .hasMessage("some cannot be made: /checkout/.partita/images/layers: permission denied");
  }

  @Test
  void aRegistryWhoseCertificateNobodyVouchesForIsNamedWithTheWaysToTrustIt() throws IOException {
    try (LockedRegistry registry = LockedRegistry.start()) {
      ImageRequest request =
          ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, registry.address() + "/base:v1");
      ImageBuilder secure =
          new ImageBuilder(folder.resolve("cache"), false, Duration.ofSeconds(1), new RegistryLogins());
      assertThatThrownBy(() -> secure.toArchive(request, folder.resolve("some.tar"))).isInstanceOf(CommandFailure.class)
          .hasMessageStartingWith("some: the certificate of " + registry.address() + " is not trusted by this JDK: ")
          .hasMessageContainingAll("/bin/keytool -importcert -cacerts ",
              "JDK_JAVA_OPTIONS=-Djavax.net.ssl.trustStore=", "--insecure would not check it");
    }
  }

  @Test
  void aRegistryThatSpeaksNoTlsIsNotSaidToHaveACertificateThatIsNotTrusted() throws IOException {
    ImageRequest request = ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, "scratch");
    SSLException plain = new SSLException("Unsupported or unrecognized SSL message");
    assertThat(builder.failed(request, Optional.empty(), new InsecureRegistryException(
        URI.create("https://registry.example:5000/v2/").toURL(), plain)))
        .hasMessage("some: registry.example:5000 cannot be asked by TLS (Unsupported or unrecognized SSL message)."
            + " --insecure asks it without a look at its certificate, or over HTTP");
    assertThat(builder.failed(request, Optional.empty(),
        new RegistryAuthenticationFailedException("registry.example", "some", plain)))
        .hasMessageStartingWith("some: a registry cannot be asked by TLS (");
  }

  /** Jib would go on for most of a minute. */
  @Test
  void aRegistryThatRefusesConnectionsIsNotAskedForLong() throws IOException {
    ImageRequest request = ImageTree.request(ImageTree.in(folder, "some"), Processor.AMD64, "127.0.0.1:1/nope");
    assertThatThrownBy(() -> assertTimeoutPreemptively(Duration.ofSeconds(20),
        () -> new ImageBuilder(folder.resolve("cache"), false, Duration.ofSeconds(1), new RegistryLogins())
            .toArchive(request, folder.resolve("some.tar"))))
        .isInstanceOf(CommandFailure.class)
        .hasMessageContaining("127.0.0.1:1/nope");
  }

  private static List<String> files(List<TarArchiveEntry> layer) {
    return layer.stream().filter(TarArchiveEntry::isFile).map(TarArchiveEntry::getName).toList();
  }

  private static JsonNode manifest(Path archive) throws IOException {
    return json(archive, "blobs/" + json(archive, "index.json").at("/manifests/0/digest").asText().replace(':', '/'));
  }

  private static JsonNode config(Path archive) throws IOException {
    return json(archive, "blobs/" + manifest(archive).at("/config/digest").asText().replace(':', '/'));
  }

  private static List<List<TarArchiveEntry>> layers(Path archive) throws IOException {
    List<List<TarArchiveEntry>> layers = new ArrayList<>();
    for (JsonNode layer : manifest(archive).path("layers")) {
      byte[] blob = entry(archive, "blobs/" + layer.path("digest").asText().replace(':', '/'));
      List<TarArchiveEntry> entries = new ArrayList<>();
      try (TarArchiveInputStream tar =
          new TarArchiveInputStream(new GZIPInputStream(new ByteArrayInputStream(blob)))) {
        for (TarArchiveEntry each = tar.getNextEntry(); each != null; each = tar.getNextEntry()) {
          entries.add(each);
        }
      }
      layers.add(entries);
    }
    return layers;
  }

  private static JsonNode json(Path archive, String name) throws IOException {
    return JSON.readTree(new String(entry(archive, name), StandardCharsets.UTF_8));
  }

  private static byte[] entry(Path archive, String name) throws IOException {
    assertThat(Files.exists(archive)).isTrue();
    try (TarFile tar = new TarFile(archive.toFile())) {
      TarArchiveEntry found =
          tar.getEntries().stream().filter(each -> each.getName().equals(name)).findFirst().orElseThrow();
      try (InputStream in = tar.getInputStream(found)) {
        return in.readAllBytes();
      }
    }
  }
}
