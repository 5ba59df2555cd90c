import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A node with simulated cards, on which a staged plugin runs with its image's own options. What a node has on a tmpfs,
 * /run and /var/run/cdi, is on one here, too.
 */
final class SimulatedNode implements AutoCloseable {
  static final String NAME = "rehearsal";
  static final int CARDS = 8;

  private static final String IN_IMAGE = "/usr/lib/partita";
  /** A version of the driver, where another one than the simulator's own is wanted: from 615 on it limits memory. */
  private static final Optional<String> DRIVER = Optional.ofNullable(System.getProperty("driver"));
  private static final String CACHE_OPTION = "-XX:AOTCache=";

  final Path plugin;
  final Path root;
  final Path run;
  final Path driver;
  final ApiStandIn api;
  private final List<PluginProcess> started = new ArrayList<>();

  /**
   * @param plugin the folder that the image has as /usr/lib/partita
   * @param dist what hook-lib builds
   */
  SimulatedNode(Path plugin, Path dist) throws IOException, InterruptedException {
    this.plugin = plugin;
    this.root = Files.createTempDirectory("pr"); // short: the path of a socket has 107 bytes at most
    Path tmpfs = Path.of("/dev/shm");
    this.run = Files.isWritable(tmpfs) ? Files.createTempDirectory(tmpfs, "pr") : root;
    this.driver = root.resolve("driver");
    this.api = new ApiStandIn(NAME, CARDS);
    List<Object> install = new ArrayList<>(List.of(dist.resolve("bin/partita-sim-driver"), "install", "--root", driver,
        "--node", NAME, "--gpus", "h200x" + CARDS));
    DRIVER.ifPresent(version -> install.addAll(List.of("--driver-version", version)));
    command(install.toArray());
    Files.createDirectories(cgroups());
  }

  /** Where kubelet makes a folder for each pod before it has the pod's claims prepared. */
  Path cgroups() {
    return root.resolve("cgroup/kubepods");
  }

  /** A plugin that has started and is ready. */
  PluginProcess ready() throws Exception {
    PluginProcess process = start(Optional.empty());
    process.register();
    process.awaitReady();
    return process;
  }

  /** A plugin that has just been started; instead of using its cache it may make one. */
  PluginProcess start(Optional<Path> makesCache) throws IOException {
    List<String> command = new ArrayList<>(List.of(java()));
    makesCache.ifPresent(cache -> command.add("-XX:AOTCacheOutput=" + cache));
    options().filter(option -> makesCache.isEmpty() || !option.startsWith(CACHE_OPTION)).forEach(command::add);
    PluginProcess process = new PluginProcess(this, command);
    started.add(process);
    return process;
  }

  /** A JVM of the same options that loads nothing of ours, run to its end. */
  void runBareJvm() throws Exception {
    List<String> command = new ArrayList<>(List.of(java()));
    options().filter(option -> option.startsWith("-X") && !option.startsWith(CACHE_OPTION)).forEach(command::add);
    command.add("-version");
    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start()
        .waitFor();
  }

  /** What the plugin has logged. */
  Path log() {
    return root.resolve("log");
  }

  private String java() {
    return plugin.resolve("runtime/bin/java").toString();
  }

  /** The image's own options, on the folder in which it was laid out. */
  private Stream<String> options() throws IOException {
    return Files.readAllLines(plugin.resolve("java.args")).stream()
        .map(line -> line.replace(IN_IMAGE, plugin.toString()));
  }

  private static void command(Object... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(Stream.of(command).map(String::valueOf).toList()).redirectErrorStream(true).start();
    try (InputStream output = process.getInputStream()) {
      String said = new String(output.readAllBytes());
      if (process.waitFor() != 0) {
        throw new IllegalStateException(command[0] + ": " + said);
      }
    }
  }

  @Override
  public void close() throws IOException {
    started.forEach(PluginProcess::kill);
    api.close();
    remove(root);
    remove(run);
  }

  private static void remove(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
