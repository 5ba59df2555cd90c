package dev.partita.cli.demo.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Mount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every way of running containers must do. */
abstract class ContainerRuntimeContract {
  static final Duration TIMEOUT = Duration.ofSeconds(20);
  static final Map<String, String> ENV = Map.of("PATH", "/usr/bin:/bin", "GREETING", "hello");

  Path temp = Path.of("");

  @BeforeEach
  void makeFolder() throws IOException {
    temp = Files.createTempDirectory("partita-container-");
  }

  @AfterEach
  void removeFolder() throws IOException {
    FolderTree.remove(temp);
  }

  abstract ContainerRuntime runtime() throws Exception;

  @Test
  void aProgramSeesTheContainersEnvironmentAndNoOther() throws Exception {
    Outcome outcome = runtime().create("c", new ContainerSpec(ENV, List.of(), List.of())).run(TIMEOUT, "env");

    assertThat(outcome.status()).isZero();
    assertThat(outcome.lines()).contains("GREETING=hello").noneMatch(line -> line.startsWith("JAVA_HOME="));
  }

  @Test
  void aMountedProgramRuns() throws Exception {
    Path program = temp.resolve("program with a space");
    Files.writeString(program, "#!/bin/sh\necho \"ran with $1\"\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    ContainerSpec spec =
        new ContainerSpec(ENV, List.of(), List.of(Mount.readOnly(program.toString(), "/usr/bin/partita-test-program")));

    Outcome outcome = runtime().create("c", spec).run(TIMEOUT, "partita-test-program", "an argument");

    assertThat(outcome.lines()).containsExactly("ran with an argument");
  }

  @Test
  void theExitStatusIsTheProgramsOwn() throws Exception {
    Container container = runtime().create("c", new ContainerSpec(ENV, List.of(), List.of()));

    assertThat(container.run(TIMEOUT, "sh", "-c", "exit 3").status()).isEqualTo(3);
  }

  @Test
  void stoppingAProgramLetsItSayGoodbye() throws Exception {
    Container container = runtime().create("c", new ContainerSpec(ENV, List.of(), List.of()));
    try (ContainerProcess process =
        container.start("sh", "-c", "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done")) {
      process.awaitLine("ready", TIMEOUT);

      Outcome outcome = process.stop(TIMEOUT);

      assertThat(outcome.status()).isZero();
      assertThat(outcome.lines()).containsExactly("ready", "bye");
      assertThat(process.isRunning()).isFalse();
    }
  }

  @Test
  void aProgramThatDoesNotSayWhatIsAwaitedIsReportedWithWhatItSaid() throws Exception {
    Container container = runtime().create("c", new ContainerSpec(ENV, List.of(), List.of()));
    try (ContainerProcess process = container.start("sh", "-c", "echo something else")) {
      assertThatThrownBy(() -> process.awaitLine("ready", TIMEOUT))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("something else");
    }
  }

  @Test
  void aDeviceThatIsNoDeviceNodeIsRefusedAsContainerdDoes() throws Exception {
    Path link = Files.createSymbolicLink(temp.resolve("nvidia0"), Path.of("/dev/null"));
    DeviceNode node =
        new DeviceNode(
            "/dev/nvidia0", Optional.of(link.toString()), "", 0, 0, OptionalInt.empty(), "", Optional.empty(),
            Optional.empty());
    ContainerRuntime runtime = runtime();

    assertThatThrownBy(() -> runtime.create("c", new ContainerSpec(ENV, List.of(node), List.of())))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("is not a device node");
  }
}
