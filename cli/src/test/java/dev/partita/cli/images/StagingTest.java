package dev.partita.cli.images;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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
