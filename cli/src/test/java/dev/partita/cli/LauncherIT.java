package dev.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./partita} in a copy of a checkout that was built somewhere else, by somebody else. */
class LauncherIT {
  private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();

  @TempDir private Path folder;

  private record Run(int status, String output) {}

  @Test
  void aCopyOfABuiltCheckoutRunsWithoutTheRepositoryOfWhoBuiltIt() throws Exception {
    copy("cli/target/lib");
    Path list = folder.resolve("cli/target/runtime.classpath");
    Files.writeString(list, Files.readString(list).replaceAll("(^|:)/", "$1/of-somebody-else/"));

    Run run = partita("never", "--version");

    assertThat(run.status()).as(run.output()).isZero();
    assertThat(run.output()).startsWith("partita ");
  }

  /** Its images are not built, which takes some minutes. */
  @Test
  void whoAsksForHelpDoesNotWaitForABuildOfImages() throws Exception {
    copy("cli/target/lib", "cli/target/launcher.stamp");

    Run run = partita("auto", "images", "--help");

    assertThat(run.status()).as(run.output()).isZero();
    assertThat(run.output()).startsWith("Usage: partita images ");
  }

  @Test
  void whatIsMissingOfABuildIsSaidWithTheCommandThatMakesIt() throws Exception {
    copy();

    Run run = partita("never", "--version");

    assertThat(run.status()).isEqualTo(1);
    assertThat(run.output()).startsWith("partita: cli/target/lib/")
        .contains("is missing, so the build is not complete. Build it: 'mvn -pl cli -am -DskipTests package'.");
  }

  private void copy(String... more) throws IOException {
    Stream<String> parts = Stream.of("partita", "build", "cli/target/classes", "cli/target/runtime.classpath");
    for (String part : Stream.concat(parts, Stream.of(more)).toList()) {
      try (Stream<Path> files = Files.walk(CHECKOUT.resolve(part))) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          Path copy = folder.resolve(CHECKOUT.relativize(file).toString());
          Files.createDirectories(copy.getParent());
          Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
        }
      }
    }
  }

  private Run partita(String build, String... arguments) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            Stream.concat(Stream.of(folder.resolve("partita").toString()), Stream.of(arguments)).toList())
            .redirectErrorStream(true).redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.environment().putAll(Map.of("PARTITA_BUILD", build, "HOME", folder.toString(), "JAVA_HOME",
        System.getProperty("java.home")));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Run(process.waitFor(), output);
  }
}
