package dev.partita.plugin.mps;

import dev.partita.cdi.driver.DriverFile;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.cdi.driver.DriverProgram;
import dev.partita.cdi.driver.DriverProgram.Outcome;
import dev.partita.cdi.driver.DriverProgram.Outcome.Ended;
import dev.partita.cdi.driver.DriverProgram.Outcome.Hangs;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.cdi.driver.DriverSearch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uses {@code nvidia-cuda-mps-control} of the driver root. With {@code -d} it returns when its daemon listens; without
 * an option it passes commands on, and its status is 0 if the daemon answers (its manual page, and both were seen with
 * the programs of driver 535 and 550, which run without a card). The daemon finds {@code nvidia-cuda-mps-server} by
 * PATH, and that one libcuda by its name.
 */
public final class NvidiaMps implements MpsControl {
  private static final Logger LOG = LoggerFactory.getLogger(NvidiaMps.class);

  private static final String CONTROL = "nvidia-cuda-mps-control";
  private static final String SERVER = "nvidia-cuda-mps-server";
  private static final String PID_FILE = CONTROL + ".pid";

  private static final String PIPE = "CUDA_MPS_PIPE_DIRECTORY";
  private static final String LIBRARY = "LD_PRELOAD";
  private static final String REPLACED = " (deleted)"; // behind the name of a program whose file is gone (proc_pid_exe(5))
  private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,8}");
  private static final int QUIT_SECONDS = 1;
  private static final Duration ENDING = Duration.ofSeconds(2);

  private final DriverRoot root;
  private final Path cgroups;
  private final Patience patience;

  /**
   * How long the program may take. kubelet gives a call 45 s, and a daemon that has to be replaced takes all of these.
   *
   * @param begin until a daemon listens
   * @param answer until it has answered
   */
  record Patience(Duration begin, Duration answer) {
    static final Patience STANDARD = new Patience(Duration.ofSeconds(12), Duration.ofSeconds(4));
  }

  /**
   * The longest that one look at a daemon takes: two questions whether it answers, its end, the begin of another one,
   * and either that one's end or what it is told of its limits.
   */
  static final Duration LONGEST_LOOK = Patience.STANDARD.answer().multipliedBy(4).plus(Patience.STANDARD.begin())
      .plus(ENDING.multipliedBy(2));

  /**
   * @param root where the driver is; it is looked at anew each time
   * @param cgroups where the cgroups are, /sys/fs/cgroup
   */
  public NvidiaMps(DriverRoot root, Path cgroups) {
    this(root, cgroups, Patience.STANDARD);
  }

  NvidiaMps(DriverRoot root, Path cgroups, Patience patience) {
    this.root = root;
    this.cgroups = cgroups;
    this.patience = patience;
  }

  @Override
  public boolean answers(Path pipe) throws IOException {
    if (!Files.exists(pipe.resolve("control"))) {
      return false;
    }
    return tell(pipe, "get_server_list\n", patience.answer()) instanceof Ended(int status, String servers)
        && status == 0 && (!servers.isBlank() || !isLeftOfAnotherDriver(pipe));
  }

  /**
   * Whether the daemon was begun with the libraries of another driver than is there now, and serves nobody. A driver is
   * unloaded when no program has a card, which a server has and its daemon has not: a daemon outlives that, and would
   * begin servers with libraries that are gone. One that still serves is the one of the driver that is loaded.
   */
  private boolean isLeftOfAnotherDriver(Path pipe) throws IOException {
    Optional<ProcessHandle> daemon = daemon(pipe);
    return daemon.isPresent() && !hasInEnvironment(daemon.get(), LIBRARY + "=" + libcuda(files()))
        && servers(pipe).findAny().isEmpty();
  }

  /** Defaults hold for servers that begin later only (manual page), so one that is there is told by its number. */
  @Override
  public void limit(Path pipe, int percent, long mebibytes) throws IOException {
    String bound = "set_default_active_thread_percentage " + percent + "\nset_default_device_pinned_mem_limit 0 "
        + mebibytes + "M\n";
    Outcome servers = tell(pipe, "get_server_list\n", patience.answer());
    if (servers instanceof Ended(int status, String said) && status == 0) {
      StringBuilder commands = new StringBuilder(bound);
      for (String server : said.split(" ", -1)) {
        if (NUMBER.matcher(server).matches()) {
          commands.append("set_active_thread_percentage ").append(server).append(' ').append(percent).append('\n')
              .append("set_device_pinned_mem_limit ").append(server).append(" 0 ").append(mebibytes).append("M\n");
        }
      }
      servers = tell(pipe, commands.toString(), patience.answer());
    }
    if (!(servers instanceof Ended(int status, String _) && status == 0)) {
      throw new IOException("the daemon does not take its limits");
    }
  }

  @Override
  public void begin(String card, Path pipe, Path log) throws IOException {
    DriverFiles files = files();
    Path program = program();
    kill(pipe);
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put("CUDA_VISIBLE_DEVICES", card);
    environment.put(PIPE, pipe.toString());
    environment.put("CUDA_MPS_LOG_DIRECTORY", log.toString());
    environment.put("PATH", files.program(SERVER)
        .map(file -> String.valueOf(file.localPath().getParent()))
        .orElseThrow(() -> new IOException("there is no " + SERVER + " below the driver root; install the whole"
            + " driver (some distributions have MPS in a package of its own)")));
    // its folder may hold another C library, so it is handed in alone
    environment.put(LIBRARY, libcuda(files));
    switch (DriverProgram.run(List.of(program.toString(), "-d"), environment, "", patience.begin())) {
      case Ended(int status, String said) when status != 0 -> throw new IOException(CONTROL + " -d ended with status "
          + status + (said.isEmpty() ? "" : ": " + said) + "; see control.log in " + log + " on the node");
      case Hangs _ -> {
        kill(pipe);
        throw new IOException("the MPS daemon does not listen after " + patience.begin().toSeconds()
            + " s; see control.log in " + log + " and dmesg on the node");
      }
      case Ended _ -> moveOut(pipe);
    }
  }

  @Override
  public void end(Path pipe) throws IOException {
    Optional<ProcessHandle> daemon = daemon(pipe); // one that quits takes its number away before it has ended
    try {
      if (Files.exists(pipe.resolve("control"))) {
        tell(pipe, "quit -t " + QUIT_SECONDS + "\n", patience.answer().plusSeconds(QUIT_SECONDS));
      }
    } catch (IOException e) { // its driver may be gone
      LOG.warn("{}: the MPS daemon cannot be told to quit: {}", pipe, e.getMessage());
    }
    kill(pipe);
    awaitEnd(daemon.stream().toList());
  }

  private Outcome tell(Path pipe, String commands, Duration howLong) throws IOException {
    return DriverProgram.run(List.of(program().toString()), Map.of(PIPE, pipe.toString()), commands, howLong);
  }

  private DriverFiles files() throws IOException {
    return switch (root.search()) {
      case DriverSearch.Found(DriverFiles found) -> found;
      case DriverSearch.NotFound(String what, String _) -> throw new IOException(what);
    };
  }

  /** Its path; empty, which the loader ignores, if there is none. */
  private static String libcuda(DriverFiles files) {
    return files.cuda().map(cuda -> cuda.localPath().toString()).orElse("");
  }

  private Path program() throws IOException {
    return files().program(CONTROL).map(DriverFile::localPath)
        .orElseThrow(() -> new IOException("there is no " + CONTROL + " below the driver root; install the whole driver"
            + " (some distributions have MPS in a package of its own), or have claims ask for another sharing.strategy"));
  }

  /**
   * Ends the daemon that has written its number there, and its servers, whether they listen to anybody or not. A server
   * that hangs outlives a daemon that was killed, and keeps what it has of the card.
   */
  private static void kill(Path pipe) throws IOException {
    List<ProcessHandle> all = Stream.concat(
        daemon(pipe).stream().flatMap(daemon -> Stream.concat(daemon.descendants(), Stream.of(daemon))),
        servers(pipe)).distinct().toList();
    if (all.isEmpty()) {
      return;
    }
    LOG.warn("{}: the MPS daemon is ended by SIGKILL: {}", pipe,
        all.stream().map(process -> String.valueOf(process.pid())).collect(Collectors.joining(", ")));
    for (ProcessHandle process : all) {
      process.destroyForcibly();
    }
    awaitEnd(all);
  }

  private static Stream<ProcessHandle> servers(Path pipe) {
    return ProcessHandle.allProcesses().filter(process -> isProgram(SERVER, process))
        .filter(process -> wasBegunFor(pipe, process));
  }

  private static void awaitEnd(List<ProcessHandle> processes) {
    long deadline = System.nanoTime() + ENDING.toNanos();
    while (processes.stream().anyMatch(NvidiaMps::runs) && System.nanoTime() < deadline) {
      LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
    }
  }

  /** No container can write that file. The number may be another process's by now, even another card's daemon. */
  private static Optional<ProcessHandle> daemon(Path pipe) throws IOException {
    String number;
    try {
      number = Files.readString(pipe.resolve(PID_FILE)).strip();
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
    return NUMBER.matcher(number).matches()
        ? ProcessHandle.of(Long.parseLong(number)).filter(process -> isProgram(CONTROL, process))
            .filter(process -> wasBegunFor(pipe, process))
        : Optional.empty();
  }

  /**
   * Of any process of the node: a container may call its programs by bytes that are no path here. The program's file
   * may have been replaced since.
   */
  private static boolean isProgram(String name, ProcessHandle process) {
    return process.info().command().map(command -> command.substring(command.lastIndexOf('/') + 1))
        .filter(program -> program.equals(name) || program.equals(name + REPLACED)).isPresent();
  }

  private static boolean wasBegunFor(Path pipe, ProcessHandle process) {
    return hasInEnvironment(process, PIPE + "=" + pipe);
  }

  private static boolean hasInEnvironment(ProcessHandle process, String variable) {
    try {
      String environment =
          Files.readString(Path.of("/proc", String.valueOf(process.pid()), "environ"), StandardCharsets.ISO_8859_1);
      return List.of(environment.split("\0", -1)).contains(variable);
    } catch (IOException e) {
      return false; // it has ended meanwhile
    }
  }

  /** One that has ended, and that nobody has waited for, is there, but runs no program. */
  private static boolean runs(ProcessHandle process) {
    return process.info().command().isPresent();
  }

  /**
   * Takes the daemon out of the plugin's own cgroup, where it would end with the plugin's container, and where its
   * servers' memory would count. That takes cgroup v2, and the right to write it; without them the next plugin begins
   * the daemon anew.
   */
  private void moveOut(Path pipe) {
    if (!Files.exists(cgroups.resolve("cgroup.controllers"))) {
      return;
    }
    try {
      Path own = cgroups.resolve("partita-mps");
      Files.createDirectories(own);
      Optional<ProcessHandle> daemon = daemon(pipe);
      if (daemon.isPresent()) {
        Files.writeString(own.resolve("cgroup.procs"), String.valueOf(daemon.get().pid()), StandardOpenOption.WRITE);
      }
    } catch (IOException e) {
      LOG.info("{}: the MPS daemon stays in the plugin's cgroup, and ends with its container: {}", pipe, e.toString());
    }
  }
}
