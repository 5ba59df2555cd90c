package dev.partita.cli.cluster.provider;
import dev.partita.cli.checkout.Progress;
import dev.partita.cli.checkout.StagedImage;
import dev.partita.cli.checkout.Subprocess;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.FileProblem;
import dev.partita.cli.command.Waiting;
import dev.partita.cli.output.Counted;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * k3s in Docker containers, by the docker command: one server, which is a node as well, and an agent for every further
 * node.
 *
 * @param image k3s's image
 * @param state where the kubeconfig and image archives are kept
 */
public record K3sProvider(String image, StateFolder state) implements ClusterProvider {
  private static final String IMAGE = "rancher/k3s:v1.36.3-k3s1";
  private static final String NETWORK = "partita";
  private static final Duration ANSWER = Duration.ofSeconds(30);
  private static final String LABEL = "dev.partita.cluster=partita";

  static K3sProvider from(Map<String, String> details, StateFolder state) {
    return new K3sProvider(details.getOrDefault("PARTITA_K3S_IMAGE", IMAGE), state);
  }

  /** Whether a Docker engine can be reached. */
  public static boolean dockerAnswers() {
    return Subprocess.within(ANSWER, "docker", "info").status() == 0;
  }

  @Override
  public Map<String, String> details() {
    return Map.of("PARTITA_K3S_IMAGE", image);
  }

  @Override
  public void check() {
    if (!containers().isEmpty()) {
      throw CommandFailure.usage(
          "containers of an earlier cluster are left over: remove them with 'docker rm -f -v "
              + String.join(" ", containers())
              + "'");
    }
  }

  @Override
  public ClusterRecord.Access up(int nodes, Optional<String> kubernetes, Progress progress) {
    progress.step("starting %s in Docker".formatted(Counted.of(nodes, "k3s node")));
    if (docker("network", "ls", "-q", "--filter", "name=^" + NETWORK + "$").isBlank()) {
      docker("network", "create", "--label", LABEL, NETWORK);
    }
    String token = UUID.randomUUID().toString();
    startNode(0, token, List.of("-p", "127.0.0.1::6443"), serverArguments());
    for (int node = 1; node < nodes; node++) {
      startNode(node, token, List.of("-e", "K3S_URL=https://" + name(0) + ":6443"), List.of("agent"));
    }
    Path kubeconfig = writeKubeconfig();
    progress.step("waiting for the nodes");
    waitForNodes(nodes);
    return ClusterRecord.Access.own(kubeconfig.toString(), List.of());
  }

  private static List<String> serverArguments() {
    return List.of("server", "--disable=traefik,servicelb,metrics-server,local-storage", "--tls-san=127.0.0.1");
  }

  private void startNode(int index, String token, List<String> options, List<String> arguments) {
    List<String> run = new ArrayList<>(List.of("run", "-d", "--privileged", "--label", LABEL, "--network", NETWORK));
    run.addAll(List.of("--name", name(index), "--hostname", name(index), "--tmpfs", "/run", "--tmpfs", "/var/run"));
    run.addAll(List.of("-v", "/var/lib/rancher", "-v", "/var/lib/kubelet", "-e", "K3S_TOKEN=" + token));
    run.addAll(options);
    run.add(image);
    run.addAll(arguments);
    docker(run.toArray(String[]::new));
  }

  private Path writeKubeconfig() {
    String address = docker("port", name(0), "6443/tcp").lines().findFirst().orElseThrow();
    String config = Waiting.upTo(120, "k3s to write its kubeconfig", () -> {
      Subprocess read = Subprocess.within(ANSWER, "docker", "exec", name(0), "cat", "/etc/rancher/k3s/k3s.yaml");
      return read.status() == 0 ? Waiting.done(read.out()) : Waiting.notYet(read.lastWords());
    });
    Path file = state.file("k3s.kubeconfig");
    try {
      Files.createDirectories(file.getParent());
      Files.deleteIfExists(file);
      Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      return Files.writeString(file, config.replaceAll("https://127\\.0\\.0\\.1:6443", "https://" + address));
    } catch (IOException refused) {
      throw CommandFailure.failed("%s cannot be written: %s".formatted(file, FileProblem.why(refused)));
    }
  }

  private static void waitForNodes(int nodes) {
    Waiting.upTo(180, nodes + " nodes to be Ready", () -> {
      Subprocess listed =
          Subprocess.within(ANSWER, "docker", "exec", name(0), "kubectl", "get", "nodes", "--no-headers");
      long ready = listed.out().lines().filter(line -> line.matches("\\S+\\s+Ready\\s.*")).count();
      return ready == nodes ? Waiting.done(ready) : Waiting.notYet(ready + " are");
    });
  }

  @Override
  public void prepareImages(List<StagedImage> images) {
    for (StagedImage staged : images) {
      docker("build", "-q", "-t", staged.reference(), "-f", staged.folder() + "/Containerfile",
          staged.folder().toString());
    }
  }

  @Override
  public void provideImages(List<StagedImage> images) {
    Path archive = state.file("images.tar");
    try {
      List<String> save = new ArrayList<>(List.of("save", "-o", archive.toString()));
      images.forEach(image -> save.add(image.reference()));
      docker(save.toArray(String[]::new));
      load(archive);
    } finally {
      archive.toFile().delete();
    }
  }

  @Override
  public void load(Path archive) {
    for (String node : containers()) {
      docker("cp", archive.toString(), node + ":/tmp/image.tar");
      docker("exec", node, "ctr", "-n", "k8s.io", "images", "import", "/tmp/image.tar");
      docker("exec", node, "rm", "-f", "/tmp/image.tar");
    }
  }

  @Override
  public void down(ClusterRecord.Access access, Progress progress) {
    progress.step("removing the k3s containers");
    for (String node : containers()) {
      docker("rm", "-f", "-v", node);
    }
    Subprocess.run("docker", "network", "rm", NETWORK);
    state.file("k3s.kubeconfig").toFile().delete();
  }

  private static List<String> containers() {
    return docker("ps", "-a", "--filter", "label=" + LABEL, "--format", "{{.Names}}").lines().sorted().toList();
  }

  private static String name(int index) {
    return "partita-node-" + index;
  }

  private static String docker(String... arguments) {
    List<String> command = new ArrayList<>(List.of("docker"));
    command.addAll(List.of(arguments));
    return Subprocess.must(Map.of(), command);
  }
}
