package dev.partita.plugin.mps;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.cdi.driver.DriverRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The driver's program: the simulator's, which does what NVIDIA's was seen to do, or a script that does not. */
class NvidiaMpsTest {
  private static final Path SIMULATOR =
      Path.of("..", "hook-lib", "target", "dist", "simulator").toAbsolutePath().normalize();
  private static final NvidiaMps.Patience SHORT =
      new NvidiaMps.Patience(Duration.ofSeconds(3), Duration.ofSeconds(2));

  @SuppressWarnings("NullAway.Init") // set before every test
  private Path folder;
  @SuppressWarnings("NullAway.Init") // set before every test
  private Path pipe;
  @SuppressWarnings("NullAway.Init") // set before every test
  private Path log;

  @BeforeEach
  void layOut() throws IOException {
    folder = Files.createTempDirectory("mps"); // of a short path, for sockets
    pipe = Files.createDirectory(folder.resolve("pipe"));
    log = Files.createDirectory(folder.resolve("log"));
    Path libraries = Files.createDirectories(folder.resolve("driver/usr/lib64"));
    for (String library : new String[]{"libcuda.so.580.1", "libnvidia-ml.so.580.1"}) {
      Files.writeString(libraries.resolve(library), "");
    }
    Files.createDirectories(folder.resolve("driver/usr/bin"));
  }

  @AfterEach
  void remove() throws IOException {
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  @Test
  void aDaemonBeginsAnswersAndEnds() throws IOException {
    NvidiaMps mps = simulated();
    assertThat(mps.answers(pipe)).isFalse();
    mps.begin("GPU-1", pipe, log);
    try {
      assertThat(mps.answers(pipe)).isTrue();
      ProcessHandle daemon = daemon();
      assertThat(daemon.info().command()).hasValueSatisfying(
          command -> assertThat(command).endsWith("nvidia-cuda-mps-control"));
      assertThat(Files.readString(Path.of("/proc/" + daemon.pid() + "/environ")).split("\0")).contains(
          "CUDA_VISIBLE_DEVICES=GPU-1", "CUDA_MPS_LOG_DIRECTORY=" + log, "PATH=" + folder.resolve("driver/usr/bin"));
      mps.end(pipe);
      assertThat(runs(daemon)).isFalse();
      assertThat(mps.answers(pipe)).isFalse();
    } finally {
      mps.end(pipe);
    }
  }

  @Test
  void whatItGivesEachClientAtMostIsToldToTheDaemon() throws Exception {
    NvidiaMps mps = simulated();
    assertThatThrownBy(() -> mps.limit(pipe, 25, 8192)).hasMessage("the daemon does not take its limits");
    mps.begin("GPU-1", pipe, log);
    try {
      mps.limit(pipe, 25, 8192);
      assertThat(said("get_default_active_thread_percentage")).isEqualTo("25.0");
      assertThat(said("get_default_device_pinned_mem_limit 0")).isEqualTo("8192M");
    } finally {
      mps.end(pipe);
    }
  }

  private String said(String command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(folder.resolve("driver/usr/bin/nvidia-cuda-mps-control").toString());
    builder.environment().put("CUDA_MPS_PIPE_DIRECTORY", pipe.toString());
    Process process = builder.start();
    try (var to = process.getOutputStream()) {
      to.write((command + "\n").getBytes(StandardCharsets.US_ASCII));
    }
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
  }

  @Test
  void oneThatWasKilledDoesNotAnswerAndIsBegunAgain() throws IOException {
    NvidiaMps mps = simulated();
    mps.begin("GPU-1", pipe, log);
    try {
      ProcessHandle first = daemon();
      first.destroyForcibly();
      await().until(() -> !runs(first));
      assertThat(mps.answers(pipe)).isFalse();
      mps.begin("GPU-1", pipe, log);
      assertThat(mps.answers(pipe)).isTrue();
      assertThat(daemon().pid()).isNotEqualTo(first.pid());
    } finally {
      mps.end(pipe);
    }
  }

  @Test
  void oneThatListensToNobodyIsReplacedAndEnded() throws Exception {
    NvidiaMps mps = simulated();
    mps.begin("GPU-1", pipe, log);
    ProcessHandle first = daemon();
    stop(first);
    assertThat(mps.answers(pipe)).isFalse();
    mps.begin("GPU-1", pipe, log);
    assertThat(runs(first)).isFalse();
    ProcessHandle second = daemon();
    stop(second);
    mps.end(pipe);
    assertThat(runs(second)).isFalse();
  }

  @Test
  void aServerThatOutlivesItsDaemonIsEndedWithItAndBeforeANewOne() throws Exception {
    NvidiaMps mps = simulated();
    Process others = server(folder.resolve("other"));
    try {
      Process left = server(pipe);
      mps.begin("GPU-1", pipe, log);
      assertThat(left.waitFor(10, TimeUnit.SECONDS)).as("no two serve a card").isTrue();
      daemon().destroyForcibly();
      Process another = server(pipe);
      mps.end(pipe);
      assertThat(another.waitFor(10, TimeUnit.SECONDS)).isTrue();
      assertThat(others.isAlive()).as("the server of another card").isTrue();
    } finally {
      mps.end(pipe);
      others.destroyForcibly();
    }
  }

  /** A server that no daemon has. */
  private Process server(Path of) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(folder.resolve("driver/usr/bin/nvidia-cuda-mps-server").toString());
    builder.environment().put("CUDA_MPS_PIPE_DIRECTORY", of.toString());
    return builder.start();
  }

  @Test
  void oneWhoseDriverIsGoneIsEndedAllTheSame() throws IOException {
    NvidiaMps mps = simulated();
    mps.begin("GPU-1", pipe, log);
    ProcessHandle daemon = daemon();
    Files.delete(folder.resolve("driver/usr/lib64/libcuda.so.580.1"));
    mps.end(pipe);
    assertThat(runs(daemon)).isFalse();
  }

  @Test
  void oneThatOutlivesAnUpgradeOfTheDriverIsReplacedOnceItServesNobody() throws Exception {
    NvidiaMps mps = simulated();
    mps.begin("GPU-1", pipe, log);
    try {
      ProcessHandle first = daemon();
      Process serving = server(pipe);
      upgrade("580.1", "590.2");
      assertThat(mps.answers(pipe)).as("programs use it, so the driver that is loaded is still its own").isTrue();
      serving.destroyForcibly().waitFor();
      assertThat(mps.answers(pipe)).isFalse();
      mps.begin("GPU-1", pipe, log);
      assertThat(runs(first)).isFalse();
      assertThat(mps.answers(pipe)).isTrue();
      assertThat(Files.readString(Path.of("/proc/" + daemon().pid() + "/environ")))
          .contains("LD_PRELOAD=" + folder.resolve("driver/usr/lib64/libcuda.so.590.2"));
    } finally {
      mps.end(pipe);
    }
  }

  @Test
  void oneWhoseProgramWasReplacedIsEndedAllTheSame() throws Exception {
    NvidiaMps mps = simulated();
    mps.begin("GPU-1", pipe, log);
    ProcessHandle daemon = daemon();
    upgrade("580.1", "590.2");
    stop(daemon); // it takes no word
    mps.end(pipe);
    assertThat(runs(daemon)).isFalse();
  }

  /** Other files take the place of the driver's, as a package manager does it. */
  private void upgrade(String from, String to) throws IOException {
    for (String library : new String[]{"libcuda.so.", "libnvidia-ml.so."}) {
      Files.move(folder.resolve("driver/usr/lib64/" + library + from),
          folder.resolve("driver/usr/lib64/" + library + to));
    }
    for (String program : new String[]{"nvidia-cuda-mps-control", "nvidia-cuda-mps-server"}) {
      Path file = folder.resolve("driver/usr/bin").resolve(program);
      Files.delete(file);
      Files.copy(SIMULATOR.resolve(program), file);
    }
  }

  @Test
  void aPidFileOfAnotherProgramEndsNothing() throws IOException {
    NvidiaMps mps = simulated();
    Files.writeString(pipe.resolve("nvidia-cuda-mps-control.pid"), String.valueOf(ProcessHandle.current().pid()));
    mps.end(pipe);
    Files.writeString(pipe.resolve("nvidia-cuda-mps-control.pid"), "-1");
    mps.end(pipe);
    Path other = Files.createDirectory(folder.resolve("other"));
    mps.begin("GPU-2", other, log);
    try {
      Files.copy(other.resolve("nvidia-cuda-mps-control.pid"), pipe.resolve("nvidia-cuda-mps-control.pid"),
          StandardCopyOption.REPLACE_EXISTING);
      mps.end(pipe);
      assertThat(mps.answers(other)).as("the daemon of another card").isTrue();
    } finally {
      mps.end(other);
    }
  }

  /** In a process that takes names for ASCII, as in a container whose environment says nothing of a language. */
  @Test
  void aProgramOnTheNodeWhoseNameIsNoTextKeepsNoDaemonFromBeginning() throws Exception {
    simulated();
    Path odd = Files.createDirectory(folder.resolve("odd"));
    Process stranger = new ProcessBuilder("sh", "-c",
        "name=$(printf '\\303\\251'); cp \"$(command -v sleep)\" \"$0/$name\" && exec \"$0/$name\" 600",
        odd.toString()).start();
    try {
      await().until(() -> stranger.info().command().filter(command -> command.startsWith(odd + "/")).isPresent());
      ProcessBuilder other = new ProcessBuilder(
          Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
          System.getProperty("java.class.path"), InAscii.class.getName(), folder.toString())
          .redirectErrorStream(true);
      other.environment().remove("LANG");
      other.environment().put("LC_ALL", "POSIX");
      Process plugin = other.start();
      String said = new String(plugin.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(plugin.waitFor()).as(said).isZero();
    } finally {
      stranger.destroyForcibly();
    }
  }

  /** Begins a daemon and ends it. */
  static final class InAscii {
    private InAscii() {}

    public static void main(String[] folder) throws IOException {
      Path here = Path.of(folder[0]);
      NvidiaMps mps = new NvidiaMps(new DriverRoot(here.resolve("driver"), "/"), here.resolve("cgroup"), SHORT);
      mps.begin("GPU-1", here.resolve("pipe"), here.resolve("log"));
      mps.end(here.resolve("pipe"));
    }
  }

  @Test
  void aProgramThatDoesNotComeToListenIsEndedAndItIsSaidWhereToLook() throws IOException {
    script("nvidia-cuda-mps-server", "");
    NvidiaMps mps = script("nvidia-cuda-mps-control", "echo $$ > " + folder + "/pid; exec /bin/sleep 600");
    assertThatThrownBy(() -> mps.begin("GPU-1", pipe, log))
        .hasMessageContaining("does not listen after 3 s").hasMessageContaining(log.toString());
    long pid = Long.parseLong(Files.readString(folder.resolve("pid")).strip());
    await().until(() -> ProcessHandle.of(pid).filter(NvidiaMpsTest::runs).isEmpty());
  }

  @Test
  void whatTheProgramSaysOfAFailureIsPassedOnInOneLine() throws IOException {
    script("nvidia-cuda-mps-server", "");
    NvidiaMps mps = script("nvidia-cuda-mps-control", "echo something; echo '  went wrong'; exit 3");
    assertThatThrownBy(() -> mps.begin("GPU-1", pipe, log))
        .hasMessageStartingWith("nvidia-cuda-mps-control -d ended with status 3: ")
        .hasMessageContaining("something went wrong; see control.log in " + log); // behind a word of the loader's
  }

  @Test
  void withoutTheProgramsItIsSaidWhatToDo() throws IOException {
    NvidiaMps none = new NvidiaMps(new DriverRoot(folder.resolve("driver"), "/"), folder.resolve("cgroup"), SHORT);
    assertThatThrownBy(() -> none.begin("GPU-1", pipe, log))
        .hasMessageContaining("there is no nvidia-cuda-mps-control").hasMessageContaining("install the whole driver");
    NvidiaMps mps = script("nvidia-cuda-mps-control", "exit 0");
    assertThatThrownBy(() -> mps.begin("GPU-1", pipe, log)).hasMessageContaining("there is no nvidia-cuda-mps-server");
  }

  @Test
  void whereCgroupsCanBeWrittenTheDaemonLeavesThePluginsOwn() throws IOException {
    Path cgroup = Files.createDirectories(folder.resolve("cgroup/partita-mps"));
    Files.createFile(folder.resolve("cgroup/cgroup.controllers"));
    Files.createFile(cgroup.resolve("cgroup.procs"));
    NvidiaMps mps = simulated();
    mps.begin("GPU-1", pipe, log);
    try {
      assertThat(cgroup.resolve("cgroup.procs")).hasContent(String.valueOf(daemon().pid()));
    } finally {
      mps.end(pipe);
    }
  }

  private ProcessHandle daemon() throws IOException {
    return ProcessHandle.of(Long.parseLong(Files.readString(pipe.resolve("nvidia-cuda-mps-control.pid")).strip()))
        .orElseThrow();
  }

  private static boolean runs(ProcessHandle process) {
    return process.info().command().isPresent(); // one that nobody has waited for is there, and runs nothing
  }

  private static void stop(ProcessHandle process) throws Exception {
    assertThat(new ProcessBuilder("kill", "-STOP", String.valueOf(process.pid())).start().waitFor()).isZero();
  }

  private NvidiaMps simulated() throws IOException {
    for (String program : new String[]{"nvidia-cuda-mps-control", "nvidia-cuda-mps-server"}) {
      assumeTrue(Files.isExecutable(SIMULATOR.resolve(program)), program + " is not there: build hook-lib first");
      Files.copy(SIMULATOR.resolve(program), folder.resolve("driver/usr/bin").resolve(program));
    }
    return new NvidiaMps(new DriverRoot(folder.resolve("driver"), "/"), folder.resolve("cgroup"), SHORT);
  }

  /** With a program that is a script. */
  private NvidiaMps script(String name, String script) throws IOException {
    Path program = folder.resolve("driver/usr/bin").resolve(name);
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return new NvidiaMps(new DriverRoot(folder.resolve("driver"), "/"), folder.resolve("cgroup"), SHORT);
  }
}
