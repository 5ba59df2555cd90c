package dev.partita.cli.release;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.images.Sha256;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The script by which the command's archive is run. */
class CommandScriptTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"partita", "with a space", "r&d", "a|b", "a$b", "a\\b"})
  void itRunsFromFoldersOfEveryName(String name) throws Exception {
    Path home = Files.createDirectories(folder.toRealPath().resolve(name));
    Path script = Files.createDirectories(home.resolve("bin")).resolve("partita");
    Files.copy(Path.of("../deploy/command/partita"), script);
    Files.writeString(Files.createDirectories(home.resolve("lib")).resolve("classpath"), "./a-1.jar:./b.jar\n");
    Path java = Files.createDirectories(home.resolve("lib/runtime/bin")).resolve("java");
    Files.writeString(java, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));

    Process process = new ProcessBuilder("sh", script.toString(), "top").redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said.lines()).containsSequence("-cp",
        home.resolve("lib/app/a-1.jar") + ":" + home.resolve("lib/app/b.jar"));
  }

  /** Files come with the umask of who builds: 002 or 022 on most machines. */
  @Test
  void theArchiveOfTheSameFilesIsTheSameWhateverTheUmask() throws Exception {
    String pack = Files.readAllLines(Path.of("../deploy/command/stage.sh")).stream()
        .filter(line -> line.startsWith("tar ")).findFirst().orElseThrow();
    Set<String> sums = new HashSet<>();
    for (String umask : List.of("022", "002", "077")) {
      String make = """
          umask %s
          archive=$1/%s.tar.gz stage=$1/%s/partita
          mkdir -p "$stage/bin"
          echo text > "$stage/LICENSE"
          echo program > "$stage/bin/partita"
          chmod +x "$stage/bin/partita"
          %s
          """.formatted(umask, umask, umask, pack);
      Process process =
          new ProcessBuilder("bash", "-euc", make, "make", folder.toString()).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as(said).isZero();
      sums.add(Sha256.of(folder.resolve(umask + ".tar.gz")));
    }
    assertThat(sums).hasSize(1);
  }
}
