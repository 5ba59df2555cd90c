package dev.partita.cli.cluster.provider;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.StagedImage;
import dev.partita.cli.checkout.Subprocess;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.output.Counted;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A lab: a script that makes a real cluster on this machine out of processes. It needs root and there is one a machine.
 *
 * @param script the lab's script
 * @param labFolder where the lab keeps its state
 * @param state where image archives are kept
 */
record LabProvider(Path script, Path labFolder, StateFolder state) implements ClusterProvider {
  private static final Pattern EXPORT = Pattern.compile("^export (KUBECONFIG|PATH)=(.*)$", Pattern.MULTILINE);

  /** The API server's and etcd's. */
  private static final List<Integer> PORTS = List.of(6443, 23790, 23800);

  /** What the lab takes from the machine; without nft its services lead nowhere. */
  private static final List<String> PROGRAMS = List.of("ip", "nft", "openssl", "python3", "xz");

  static LabProvider from(Map<String, String> details, StateFolder state) {
    return new LabProvider(
        Path.of(details.getOrDefault("KUBE_LAB", "")).toAbsolutePath(),
        Path.of(details.getOrDefault("KUBE_LAB_DIR", "/tmp/kube-lab")),
        state);
  }

  @Override
  public Map<String, String> details() {
    return Map.of("KUBE_LAB", script.toString(), "KUBE_LAB_DIR", labFolder.toString());
  }

  @Override
  public void check() {
    if (!Files.isExecutable(script)) {
      throw CommandFailure
          .usage("KUBE_LAB names %s, which is no program: set it to the lab's script".formatted(script));
    }
    if (!"root".equals(System.getProperty("user.name"))) {
      throw CommandFailure.usage("provider lab: the lab needs root");
    }
    List<String> missing = PROGRAMS.stream().filter(program -> !isOnPath(program)).toList();
    if (!missing.isEmpty()) {
      throw CommandFailure.usage(
          "provider lab: missing %s ('apt-get install iproute2 nftables openssl python3 xz-utils')"
              .formatted(String.join(", ", missing)));
    }
    if (isThere() && isRunning(lab("status"))) {
      throw CommandFailure.usage(
          "a lab is already up in %s: take it down with '%s down', or use it with --provider current"
              .formatted(labFolder, script));
    }
    PORTS.forEach(LabProvider::checkFree);
  }

  private boolean isThere() {
    return Files.exists(labFolder.resolve("pid"));
  }

  /** Whether one of its processes is there: none is after the machine has stopped, though the lab's folder is. */
  static boolean isRunning(String status) {
    return status.lines().anyMatch(line -> line.contains(" running "));
  }

  private static boolean isOnPath(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  private static void checkFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(port));
    } catch (IOException inUse) {
      throw CommandFailure.usage("port %d, which the lab needs, is in use: %s".formatted(port, inUse.getMessage()));
    }
  }

  @Override
  public ClusterRecord.Access up(int nodes, Optional<String> kubernetes, Progress progress) {
    if (isThere()) {
      progress.step("removing what is left in %s of a lab that runs no more".formatted(labFolder));
    }
    lab("down"); // also without a folder: the bridge of a lab whose folder was deleted is in the way of the next
    progress.step("bringing up a lab cluster of %s".formatted(Counted.of(nodes, "node")));
    List<String> command = new ArrayList<>(List.of("up", "--nodes", Integer.toString(nodes)));
    kubernetes.ifPresent(version -> command.addAll(List.of("--kubernetes", version)));
    lab(command.toArray(String[]::new));
    for (String daemon : ended(lab("status"))) {
      progress.step("starting %s again, which has ended".formatted(daemon));
      lab("start", daemon);
    }
    return access();
  }

  private ClusterRecord.Access access() {
    String kubeconfig = "";
    List<String> path = new ArrayList<>();
    Matcher export = EXPORT.matcher(lab("env"));
    while (export.find()) {
      if (export.group(1).equals("KUBECONFIG")) {
        kubeconfig = export.group(2);
      } else {
        path.add(export.group(2).replace(":$PATH", ""));
      }
    }
    return ClusterRecord.Access.own(kubeconfig, path);
  }

  @Override
  public void prepareImages(List<StagedImage> images) {
    images.forEach(this::archive);
  }

  /** Node by node at the same time: an import waits for the disk more than for anything else. */
  @Override
  public void provideImages(List<StagedImage> images) {
    List<Path> archives = images.stream().map(this::archive).toList();
    Concurrently.forEach(nodes(), node -> archives.forEach(archive -> lab("load", archive.toString(), node)));
  }

  private List<String> nodes() {
    return lab("kubectl", "get", "nodes", "-o", "jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}").lines()
        .toList();
  }

  /** The image on the lab's base; made again only when what is staged is newer. */
  private Path archive(StagedImage image) {
    Path archive = image.folder().resolve("lab.tar");
    if (!Files.exists(archive)) {
      Path part = image.folder().resolve("lab.tar.part");
      lab("image", image.reference(), part.toString(), image.root() + "/usr:/usr", "--entrypoint", image.entrypoint());
      try {
        Files.move(part, archive);
      } catch (IOException refused) {
        throw CommandFailure.failed("%s cannot be written: %s".formatted(archive, FileProblem.why(refused)));
      }
    }
    return archive;
  }

  @Override
  public void load(Path archive) {
    lab("load", archive.toString());
  }

  @Override
  public void down(ClusterRecord.Access access, Progress progress) {
    if (Files.exists(labFolder)) {
      progress.step("taking the lab down");
      Concurrently.forEach(daemons(lab("status")), daemon -> lab("kill", daemon));
      lab("down");
    }
  }

  /**
   * What runs, but for the processes that hold the nodes' namespaces, in which the lab finds containers to end. The lab
   * itself asks one after the other to end and waits for each, and nobody needs what they would still write.
   *
   * @param status lines of a name, a state and a process id
   */
  static List<String> daemons(String status) {
    return daemons(status, "running");
  }

  /**
   * What ended by itself while the lab came up. kube-proxy does so when its node gets another address, and counts on
   * being started again: one that waited 30 s in vain for a node that came late took the loopback address for the
   * node's. Without it no pod of that node reaches a service, nor the API server.
   *
   * @param status as of {@link #daemons(String)}
   */
  static List<String> ended(String status) {
    return daemons(status, "dead");
  }

  private static List<String> daemons(String status, String state) {
    return status.lines().map(line -> line.split(" ", -1))
        .filter(words -> words.length > 1 && words[1].equals(state) && !words[0].endsWith(".holder"))
        .map(words -> words[0]).toList();
  }

  private String lab(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(script.toString());
    command.addAll(List.of(arguments));
    return Subprocess.must(Map.of("KUBE_LAB_DIR", labFolder.toString()), command);
  }
}
