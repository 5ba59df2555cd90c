package dev.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
  void noHelpWaitsForImages() throws Exception {
    copy("cli/target/lib", "cli/target/launcher.stamp");
    Run run = partita("auto", "cluster", "up", "--help");
    assertThat(run.status()).as(run.output()).isZero();
    assertThat(run.output()).startsWith("Usage: partita cluster up ");
  }

  @Test
  void everyModuleAndAllThatIsInImagesIsBuiltAgainOnceItHasChanged() throws Exception {
    copy("cli/target/lib", "cli/target/launcher.stamp");
    maven("");
    List<String> sources = new ArrayList<>(List.of("hook-lib/cdi-hook"));
    try (Stream<Path> modules = Files.list(CHECKOUT)) {
      modules.filter(module -> Files.isDirectory(module.resolve("src/main")))
          .forEach(module -> sources.add(module.getFileName() + "/src/main"));
    }
    assertThat(sources).contains("serving/src/main", "kubelet-plugin/src/main");
    for (String source : sources) {
      Path changed = Files.createDirectories(folder.resolve(source)).resolve("changed");
      Files.writeString(changed, "");
      Run run = partita("auto", "--version");
      assertThat(run.output()).as(source)
          .startsWith("partita: building again: " + source + "/changed is newer than the build ...");
      Files.delete(changed);
    }
    assertThat(builds()).isEqualTo(sources.size());
  }

  @Test
  void whatIsSavedDuringABuildIsBuiltByTheNextRun() throws Exception {
    copy("cli/target/lib", "cli/target/launcher.stamp");
    Path source = Files.createDirectories(folder.resolve("api/src/main")).resolve("Saved.java");
    Files.writeString(source, "");
    maven("until [ api/src/main/Saved.java -nt .partita/build.begun ]; do touch api/src/main/Saved.java; done");
    partita("auto", "--version");
    partita("auto", "--version");
    assertThat(builds()).isEqualTo(2);
  }

  @Test
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // no interrupt ends a read of what a process says
  void oneRunBuildsAndTheOthersWaitForIt() throws Exception {
    copy("cli/target/lib", "cli/target/launcher.stamp");
    Files.writeString(Files.createDirectories(folder.resolve("api/src/main")).resolve("Changed.java"), "");
    maven("until [ -e go ] || [ ! -e bin/mvn ]; do sleep 0.1; done");
    Process first = begin("auto", "--version");
    @Nullable Process second = null;
    try (BufferedReader firstSaid = first.inputReader(StandardCharsets.UTF_8)) {
      assertThat(firstSaid.readLine()).startsWith("partita: building again: ");
      second = begin("auto", "--version");
      try (BufferedReader said = second.inputReader(StandardCharsets.UTF_8)) {
        assertThat(said.readLine()).isEqualTo("partita: another run builds here; waiting for it ...");
        Files.writeString(folder.resolve("go"), "");
        assertThat(said.readAllAsString()).startsWith("partita ");
        assertThat(firstSaid.readAllAsString()).startsWith("partita ");
      }
      assertThat(first.waitFor()).isZero();
      assertThat(second.waitFor()).isZero();
    } finally {
      Files.writeString(folder.resolve("go"), "");
      first.destroyForcibly();
      if (second != null) {
        second.destroyForcibly();
      }
    }
    assertThat(builds()).isEqualTo(1);
  }

  @Test
  void aShellThatCompletesAWordWaitsForNoBuild() throws Exception {
    copy("cli/target/lib", "cli/target/launcher.stamp");
    Files.writeString(Files.createDirectories(folder.resolve("api/src/main")).resolve("Changed.java"), "");
    maven("");
    assertThat(partita("auto", "__complete", "--", "to").output()).contains("top");
    assertThat(partita("auto", "completion", "bash").status()).isZero();
    assertThat(builds()).isZero();
  }

  /** A Maven that notes that it was called, and leaves behind what a build does. */
  private void maven(String also) throws IOException {
    Path program = Files.createDirectories(folder.resolve("bin")).resolve("mvn");
    Files.writeString(program, """
        #!/bin/sh
        cd "$HOME"
        echo >> builds
        %s
        touch cli/target/launcher.stamp
        """.formatted(also));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private long builds() throws IOException {
    Path builds = folder.resolve("builds");
    return Files.exists(builds) ? Files.size(builds) : 0;
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
    Process process = begin(build, arguments);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Run(process.waitFor(), output);
  }

  private Process begin(String build, String... arguments) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Stream.concat(Stream.of(folder.resolve("partita").toString()), Stream.of(arguments)).toList())
            .redirectErrorStream(true).redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.environment().putAll(Map.of("PARTITA_BUILD", build, "HOME", folder.toString(), "JAVA_HOME",
        System.getProperty("java.home"), "PATH", folder.resolve("bin") + ":" + System.getenv("PATH")));
    return builder.start();
  }
}
