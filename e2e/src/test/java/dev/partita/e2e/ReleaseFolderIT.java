package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.e2e.cluster.PartitaCommand;
import dev.partita.e2e.cluster.PartitaCommand.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A release of one processor, as {@code ./partita release} makes it. It needs no cluster. */
class ReleaseFolderIT {
  /** Where the command line's archive is laid out: one test at a time. */
  static final String COMMAND = "deploy/target/command";

  private static final Path HOME = Path.of(System.getProperty("partita.home", "..")).toAbsolutePath().normalize();
  private static final Pattern VERSION = Pattern.compile("<version>([^<]+)</version>");

  @TempDir private Path folder = Path.of("");

  private final PartitaCommand command = new PartitaCommand(HOME, Map.of());

  /** It takes long only where nothing has built the portable hook libraries yet. */
  @Test
  @Timeout(value = 16, unit = TimeUnit.MINUTES) // longer than a command may take
  @ResourceLock(COMMAND)
  void aReleaseIsTheseFilesWhichItsSumsAndItsManifestName() throws IOException {
    boolean required = "1".equals(System.getenv("PARTITA_REQUIRE_OUTSIDE"));
    assumeTrue(required || Files.isDirectory(compiler()),
        "the compiler is missing: sh hook-lib/build.sh fetch compiler");
    assumeTrue(required || listsJars(), "an offline build (mvn -o) lists no jars");
    Path release = folder.resolve("release");
    Outcome made = command.run("release", "--only", "amd64", "--base", "scratch", "--registry",
        "registry.example/partita", "--url", "https://example.org/releases/v1", "--output", release.toString());
    assertThat(made.status()).as(made.err()).isZero();

    String version = version();
    String archive = "partita-" + version + "-linux-amd64.tar.gz";
    List<String> files =
        new ArrayList<>(List.of("NOTES.md", "partita.krew.yaml", archive, "partita-" + version + ".tgz",
            "partita-" + version + ".yaml", "partita-chart-" + version + ".oci.tar",
            "partita-crds-" + version + ".yaml"));
    for (String image : List.of("dra-controller", "kubelet-plugin", "probe", "simulator")) {
      files.add(image + "-linux-amd64.tar");
      files.add(image + "-linux-amd64.cdx.json");
    }
    Outcome checked = command.execute(
        List.of("sh", "-c", "cd \"$0\" && sha256sum --check --strict SHA256SUMS", release.toString()), Map.of());
    assertThat(checked.status()).as(checked.err()).isZero();
    assertThat(checked.out().lines())
        .containsExactlyInAnyOrderElementsOf(files.stream().map(it -> it + ": OK").toList());
    files.add("SHA256SUMS");
    try (Stream<Path> all = Files.list(release)) {
      assertThat(all.map(it -> String.valueOf(it.getFileName()))).containsExactlyInAnyOrderElementsOf(files);
    }

    assertThat(release.resolve("partita.krew.yaml")).content().containsOnlyOnce("sha256: ")
        .containsPattern("sha256: \"?" + sum(release, archive))
        .contains("uri: https://example.org/releases/v1/" + archive);
    assertThat(command.execute(List.of("tar", "-xzOf", release.resolve("partita-" + version + ".tgz").toString(),
        "partita/Chart.yaml"), Map.of()).out()).containsPattern("(?m)^version: \"?" + Pattern.quote(version) + "\"?$");
    assertThat(release.resolve("partita-" + version + ".yaml")).content()
        .contains("image: registry.example/partita/dra-controller:v" + version);
  }

  private static Path compiler() {
    String outside = System.getenv("PARTITA_OUTSIDE");
    return (outside == null ? HOME.resolve("hook-lib/target/outside") : Path.of(outside)).resolve("compiler");
  }

  private static boolean listsJars() throws IOException {
    Path list = HOME.resolve("deploy/target/images/kubelet-plugin/bom.json");
    return Files.exists(list) && Files.readString(list).contains("pkg:maven/");
  }

  private static String version() throws IOException {
    return VERSION.matcher(Files.readString(HOME.resolve("pom.xml"))).results().findFirst().orElseThrow().group(1);
  }

  private static String sum(Path release, String file) throws IOException {
    return Files.readAllLines(release.resolve("SHA256SUMS"), StandardCharsets.UTF_8).stream()
        .filter(line -> line.endsWith("  " + file)).findFirst().orElseThrow().split(" ", 2)[0];
  }
}
