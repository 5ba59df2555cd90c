package dev.partita.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.cli.demo.container.FolderTree;
import dev.partita.cli.demo.container.NamespaceRuntime;
import dev.partita.cli.demo.screen.Observation;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The whole demo as a user starts it, in a process of its own. */
class DemoIT {
  private static final long TIMEOUT_SECONDS = 120;
  private static final int NOBODY = 65534;

  private Path temp = Path.of("");

  /** How a run ended. */
  private record Run(int status, String output) {}

  @BeforeEach
  void makeFolder() throws IOException {
    temp = Files.createTempDirectory(Path.of("/tmp"), "it-");
    Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwxrwxrwx"));
  }

  @AfterEach
  void removeFolder() throws IOException {
    FolderTree.remove(temp);
  }

  @Test
  void everythingIsObservedInNamespaces() throws Exception {
    requireNamespaces();

    Run run = run(command(classPath(), home(), "--isolation", "namespaces"));

    assertEverythingWasObserved(run);
    assertThat(run.output()).contains("namespaces of its own for each container");
  }

  @Test
  void everythingIsObservedWhereNamespacesAreNotAllowed() throws Exception {
    Run run = run(command(classPath(), home(), "--isolation", "library-path"));

    assertEverythingWasObserved(run);
    assertThat(run.output()).contains("LD_LIBRARY_PATH");
  }

  @Test
  void anOrdinaryUserSeesTheSame() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")),
        "not started by root: the other tests ran as an ordinary user");
    requireNamespaces();
    List<String> asNobody =
        new ArrayList<>(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
    asNobody.addAll(command(readableClassPath(), readableHome(), "--isolation", "namespaces"));

    assertEverythingWasObserved(run(asNobody));
  }

  @Test
  void anInterruptedDemoLeavesNothing() throws Exception {
    Process process = start(command(classPath(), home()));
    try (var output = process.inputReader()) {
      for (String line = output.readLine(); line != null && !line.contains("Inside the notebook"); line =
          output.readLine()) {
        assertThat(line).doesNotContain("Not observed");
      }
      // Not process.destroy(), which closes the output as well.
      process.toHandle().destroy();
      output.lines().forEach(line -> {});
    }

    assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isNotZero();
    assertNothingIsLeft();
  }

  @Test
  void keptFilesCanBeLookedAt() throws Exception {
    Run run = run(command(classPath(), home(), "--isolation", "library-path", "--keep"));

    assertThat(run.status()).as(run.output()).isZero();
    assertThat(run.output()).contains("Kept: " + temp);
    try (Stream<Path> kept = Files.list(temp)) {
      Path folder =
          kept.filter(path -> path.getFileName().toString().startsWith("partita-demo-")).findFirst().orElseThrow();
      assertThat(folder.resolve("demo.log")).content().contains("Allocated", "prepared");
    }
  }

  @Test
  void aLibraryThatHoldsNobodyToItsShareIsFoundOut() throws Exception {
    Path home = readableHome();
    Path dist = home.resolve("hook-lib/target/dist");
    Path shadow = dist.resolve("lib/libcuda-shadow.so");
    Files.copy(dist.resolve("simulator/libcuda.so"), shadow, StandardCopyOption.REPLACE_EXISTING);
    // What the CDI hook knows a shadow by: without it no container would start.
    Files.writeString(shadow, "libcuda-real.so.1\0", StandardOpenOption.APPEND);

    Run run = run(command(classPath(), home));

    assertThat(run.status()).as(run.output()).isEqualTo(1);
    assertThat(run.output()).contains("Not observed:", "  - " + Observation.BEYOND_QUOTA.text(),
        "The log of controller and plugins: " + temp);
    assertThat(run.output().lines().filter(line -> line.startsWith("  - " + Observation.FILES_GONE.text()))).isEmpty();
  }

  @Test
  void aFolderThatCannotBeHadIsOneLine() throws Exception {
    List<String> command = command(classPath(), home());
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("TMPDIR", temp.resolve("none").toString());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor()).isEqualTo(2);
    assertThat(output.lines()).singleElement().asString().contains("no folder can be made in " + temp.resolve("none"),
        "TMPDIR");
  }

  private void assertEverythingWasObserved(Run run) throws IOException {
    int all = Observation.values().length;
    assertThat(run.status()).as(run.output()).isZero();
    assertThat(run.output()).contains(all + " of " + all + " observations");
    for (Observation what : Observation.values()) {
      assertThat(run.output()).contains(what.text());
    }
    // Not a terminal, so no colour.
    assertThat(run.output()).doesNotContain("\u001b[");
    assertNothingIsLeft();
  }

  private void assertNothingIsLeft() throws IOException {
    try (Stream<Path> left = Files.list(temp)) {
      assertThat(left.filter(path -> path.getFileName().toString().startsWith("partita-demo-"))).isEmpty();
    }
  }

  private void requireNamespaces() throws Exception {
    Optional<String> obstacle = new NamespaceRuntime(temp.resolve("try")).obstacle();
    assumeTrue(obstacle.isEmpty(), () -> "namespaces are not allowed here: " + obstacle.orElse(""));
  }

  private Run run(List<String> command) throws Exception {
    Process process = start(command);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as(output).isTrue();
    return new Run(process.exitValue(), output);
  }

  private Process start(List<String> command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("TMPDIR", temp.toString());
    builder.environment().put("HOME", temp.toString());
    return builder.start();
  }

  /** As the launcher starts it. */
  private List<String> command(String classPath, Path home, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx512m",
                "-Dstdout.encoding=UTF-8",
                "-Djava.io.tmpdir=" + temp,
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dpartita.home=" + home,
                "-cp",
                classPath,
                "dev.partita.cli.Partita",
                "demo"));
    command.addAll(List.of(arguments));
    return command;
  }

  /** The checkout, two folders above where the tests of this module run. */
  private static Path home() {
    return Path.of("").toAbsolutePath().resolve("..").normalize();
  }

  private static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  /** The class path for someone who may not enter the folders where it lies. */
  private String readableClassPath() throws IOException {
    Path copies = Files.createDirectory(temp.resolve("classes"));
    List<String> entries = new ArrayList<>();
    for (String entry : classPath().split(File.pathSeparator, -1)) {
      Path source = Path.of(entry);
      if (Files.exists(source)) {
        Path copy = copies.resolve(entries.size() + "-" + source.getFileName());
        copyTree(source, copy);
        entries.add(copy.toString());
      }
    }
    return entries.stream().collect(Collectors.joining(File.pathSeparator));
  }

  private Path readableHome() throws IOException {
    Path copy = Files.createDirectory(temp.resolve("home"));
    for (String part : new String[]{"hook-lib/target/dist", "deploy/helm/partita/crds"}) {
      Files.createDirectories(copy.resolve(part).resolve(".."));
      copyTree(home().resolve(part), copy.resolve(part));
    }
    return copy;
  }

  private static void copyTree(Path source, Path copy) throws IOException {
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.toList()) {
        Path target = copy.resolve(source.relativize(file).toString()).normalize();
        Files.copy(file, target);
        boolean runs = Files.isDirectory(file) || Files.isExecutable(file);
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString(runs ? "rwxr-xr-x" : "rw-r--r--"));
      }
    }
  }
}
