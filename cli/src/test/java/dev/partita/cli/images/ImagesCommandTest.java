package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.checkout.Containerfile;
import dev.partita.cli.checkout.StagedImage;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ImagesCommandTest {
  @Test
  void nothingIsPushedToARegistryThatIsNotNamed() {
    CommandRun run = CommandRun.of("images", "--push");
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err()).isEqualTo("partita: --push needs --registry, such as registry.example/partita\n");
  }

  @Test
  void namesThatNoRegistryTakesAreRefusedBeforeAnythingIsMade() {
    for (List<String> wrong : List.of(List.of("images", "--registry", "Registry.example/Partita"),
        List.of("images", "--registry", "registry.example/partita", "--tag", "0.1.0+mine"),
        List.of("release", "--registry", "registry.example/two words", "--tag", "v1", "--url",
            "https://example.org"))) {
      CommandRun run = CommandRun.of(wrong.toArray(String[]::new));
      assertThat(run.err()).as("%s", wrong).contains("is no image's name: --registry and --tag make it")
          .hasLineCount(1);
      assertThat(run.status()).isEqualTo(2);
    }
  }

  @Test
  void anAddressThatKrewCouldNotFetchFromIsRefusedBeforeAnythingIsMade() {
    for (String url : List.of("example.org/releases", "file:///tmp", "https://", "https://two words")) {
      CommandRun run = CommandRun.of("release", "--registry", "registry.example/partita", "--url", url);
      assertThat(run.err()).isEqualTo("partita: --url: '" + url
          + "' is not the address of a folder; write it as https://example.org/releases/v1\n");
      assertThat(run.status()).isEqualTo(2);
    }
  }

  /** With --processor the compiler would be looked for first, and what the images hold be made, for minutes. */
  @Test
  void aBaseThatIsNoneIsRefusedBeforeAnythingIsMade(@TempDir Path folder) throws IOException {
    for (List<String> command : List.of(List.of("images", "--processor", "amd64,arm64"),
        List.of("release", "--registry", "registry.example/partita", "--url", "https://example.org"))) {
      assertThat(withBase(command, "No Image")).contains("neither a file nor an image's name");
      Path root = SavedImage.root(folder.resolve("root.tar"));
      assertThat(withBase(command, root.toString()))
          .isEqualTo("partita: --base: " + root + " is for one processor, and images for amd64, arm64 are asked for\n");
    }
  }

  @Test
  void anImageThatTheCheckoutDoesNotHaveIsRefused(@TempDir Path cache) {
    ImageSet set =
        new ImageSet(List.of("kubelet-plugin", "kubelet-plugn"), List.of(), Optional.empty(), "registry.example", "v1",
            false, cache);
    assertThatThrownBy(() -> set.checkAmong(StagedImage.namesIn(Path.of("..")))).isInstanceOf(CommandFailure.class)
        .hasMessage("there is no image 'kubelet-plugn': there are dra-controller, kubelet-plugin, probe, simulator");
  }

  private static String withBase(List<String> command, String base) {
    CommandRun run =
        CommandRun.of(Stream.concat(command.stream(), Stream.of("--tag", "v1", "--base", base)).toArray(String[]::new));
    assertThat(run.status()).as(run.err()).isEqualTo(2);
    return run.err();
  }

  /** The chart would refuse it, and so would every registry. */
  @Test
  void aRegistryMayBeNamedWithTheSlashThatStandsBehindIt(@TempDir Path cache) {
    assertThat(new ImageSet(List.of(), List.of(), Optional.empty(), "registry.example/partita/", "v1", false, cache)
        .registry()).isEqualTo("registry.example/partita");
  }

  @Test
  void aBaseIsAFileIfThereIsOneAndElseAnImagesName(@TempDir Path folder) throws IOException {
    Path file = SavedImage.in(folder.resolve("base"), "amd64");
    assertThat(BaseImage.of(file.toString())).isEqualTo(new BaseImage.InArchive(file));
    Path root = SavedImage.root(folder.resolve("root.tar"));
    assertThat(BaseImage.of(root.toString())).isEqualTo(new BaseImage.InRootArchive(root));
    Path other = Files.writeString(folder.resolve("other.tar"), "no tar file");
    assertThatThrownBy(() -> BaseImage.of(other.toString())).isInstanceOf(CommandFailure.class)
        .hasMessageContaining(other.toString());
    assertThat(BaseImage.of("debian:13-slim")).isInstanceOfSatisfying(BaseImage.InRegistry.class,
        base -> assertThat(base.reference().getRepository()).isEqualTo("library/debian"));
    assertThat(BaseImage.of("scratch")).isEqualTo(new BaseImage.Scratch());
    assertThatThrownBy(() -> BaseImage.of(folder + "/missing.tar")).isInstanceOf(CommandFailure.class)
        .hasMessageContaining("there is no file");
    assertThatThrownBy(() -> BaseImage.of("No Image")).isInstanceOf(CommandFailure.class)
        .hasMessageContaining("neither a file nor an image's name");
  }

  @Test
  void eachImagesContainerfileCanBeReadAndOnlyWhatNeedsRootIsRoot() {
    Path images = Path.of("../deploy/image");
    for (Map.Entry<String, String> user : Map.of("dra-controller", "65532:65532", "probe", "65532:65532",
        "kubelet-plugin", "0:0", "simulator", "0:0").entrySet()) {
      Containerfile says = new StagedImage(user.getKey(), images.resolve(user.getKey())).containerfile();
      assertThat(says.user()).as(user.getKey()).isEqualTo(user.getValue());
      assertThat(says.base()).isEqualTo("debian:13-slim");
      assertThat(says.entrypoint()).allSatisfy(word -> assertThat(word).isNotBlank());
    }
  }

  @Test
  void aContainerfileWithoutAUserIsRefused(@TempDir Path folder) throws IOException {
    Files.writeString(folder.resolve("Containerfile"), "ARG BASE=debian:13-slim\nENTRYPOINT [\"/a\"]\n");
    StagedImage image = new StagedImage("some", folder);
    assertThatThrownBy(image::containerfile).isInstanceOf(CommandFailure.class).hasMessageContaining("0 lines 'USER…'");
  }

  @Test
  void anImageIsOfItsCommitsTimeOrOfTheTimeThatIsGiven(@TempDir Path folder) throws IOException {
    assertThat(Provenance.of(folder, "1", Map.of())).isEqualTo(new Provenance("1", "", Instant.EPOCH));
    Map<String, String> given = Map.of("SOURCE_DATE_EPOCH", "1700000000");
    assertThat(Provenance.of(folder, "1", given).created()).isEqualTo(Instant.ofEpochSecond(1_700_000_000));
    for (List<String> arguments : List.of(List.of("init", "-q"),
        List.of("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "first",
            "--date", "2026-03-04T05:06:07Z"))) {
      ProcessBuilder git = new ProcessBuilder("git", "-C", folder.toString());
      git.command().addAll(arguments);
      git.environment().put("GIT_COMMITTER_DATE", "2026-03-04T05:06:07Z");
      assertThat(git.inheritIO().start().onExit().join().exitValue()).isZero();
    }
    Provenance of = Provenance.of(folder, "1", Map.of());
    assertThat(of.revision()).hasSize(40);
    assertThat(of.created()).isEqualTo(Instant.parse("2026-03-04T05:06:07Z"));
    Files.writeString(folder.resolve("Changed.java"), "what the commit does not have");
    assertThat(Provenance.of(folder, "1", Map.of())).as("it is not what the commit has")
        .isEqualTo(new Provenance("1", of.revision() + "-dirty", of.created()));
  }
}
