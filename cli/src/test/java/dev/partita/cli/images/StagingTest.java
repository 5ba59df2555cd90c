package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StagingTest {
  private static final Processor OTHER =
      Stream.of(Processor.values()).filter(each -> each != Processor.here()).findFirst().orElseThrow();

  @TempDir Path folder = Path.of("");

  @Test
  void theCompilerOfPortableLibrariesIsMissedAtOnce() {
    assertThatThrownBy(() -> new Staging(folder, Map.of()).check(Processor.here())).isInstanceOf(CommandFailure.class)
        .hasMessageContaining("sh hook-lib/build.sh fetch compiler");
  }

  @Test
  void aJdkIsWantedForAnotherProcessorOnly() throws IOException {
    Path outside = folder.resolve("outside");
    Files.createDirectories(outside.resolve("compiler"));
    Staging without = new Staging(folder, Map.of("PARTITA_OUTSIDE", outside.toString()));
    assertThatCode(() -> without.check(Processor.here())).doesNotThrowAnyException();
    String variable = "PARTITA_JDK_" + OTHER.name();
    assertThatThrownBy(() -> without.check(OTHER)).isInstanceOf(CommandFailure.class)
        .hasMessageContainingAll(OTHER.architecture(), "set " + variable, "jmods/");
    Path jdk = Files.createDirectories(folder.resolve("jdk/jmods")).getParent();
    assertThatCode(
        () -> new Staging(folder, Map.of("PARTITA_OUTSIDE", outside.toString(), variable, String.valueOf(jdk)))
            .check(OTHER))
        .doesNotThrowAnyException();
  }

  /** cp has made the folders by then, and another cp would copy into them. */
  @Test
  void aRuntimeThatCannotBeLinkedIsCopiedToItsPlace() throws Exception {
    Files.createDirectories(folder.resolve("runtime/bin"));
    Files.writeString(folder.resolve("runtime/release"), "");
    run("""
        cp() {
          [ "$1" != -al ] || { mkdir -p "$3/bin"; return 1; }
          command cp "$@"
        }
        runtime=$1/runtime app=$1/app
        mkdir "$app"
        """ + line("cp -al "));
    assertThat(folder.resolve("app/runtime/release")).exists();
    assertThat(folder.resolve("app/runtime/runtime")).doesNotExist();
  }

  @Test
  void usersOfContainersReadWhatWasLaidOutWithAStrictUmask() throws Exception {
    run("""
        umask 077
        images=$1
        mkdir -p "$images/probe/root/usr/bin"
        echo > "$images/probe/root/usr/bin/args"
        echo > "$images/probe/root/usr/bin/program"
        chmod u+x "$images/probe/root/usr/bin/program"
        """ + line("chmod -R "));
    Path laidOut = folder.resolve("probe/root/usr/bin");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(laidOut))).isEqualTo("rwxr-xr-x");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(laidOut.resolve("args"))))
        .isEqualTo("rw-r--r--");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(laidOut.resolve("program"))))
        .isEqualTo("rwxr-xr-x");
  }

  /** The line of the script that begins so. */
  private static String line(String begin) throws IOException {
    return Files.readString(Path.of("../deploy/image/stage.sh")).lines()
        .filter(each -> each.strip().startsWith(begin)).findFirst().orElseThrow();
  }

  private void run(String script) throws Exception {
    Process process = new ProcessBuilder("bash", "-euc", script, "sh", folder.toString()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
  }

  /** What the shell does where it is asked without the command line's look before. */
  @Test
  void aRuntimeForAnotherProcessorIsRefusedFromAJdkOfThisOne() throws Exception {
    String variable = "PARTITA_JDK_" + OTHER.name();
    ProcessBuilder script =
        new ProcessBuilder("bash", "-c", "root=$1 jdk=$2; . ../deploy/image/runtime.sh; runtime", "sh",
            folder.toString(), System.getProperty("java.home")).redirectErrorStream(true);
    Files.createDirectories(folder.resolve("deploy/image"));
    Files.copy(Path.of("../deploy/image/java.modules"), folder.resolve("deploy/image/java.modules"));
    script.environment().put("PARTITA_PROCESSOR", OTHER.architecture());
    script.environment().put(variable, System.getProperty("java.home"));
    Process process = script.start();
    String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isEqualTo(1);
    assertThat(said).contains("set " + variable).hasLineCount(1);
  }
}
