package dev.partita.plugin;

import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiJson;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Hook;
import dev.partita.cdi.Mount;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A claim's CDI edits as they were written, applied in a mount namespace over this machine's own root, with real
 * libraries.
 */
record TestContainer(Path folder, ContainerEdits edits, List<String> image) {
  private TestContainer(Path folder, ContainerEdits edits) {
    this(folder, edits, List.of());
  }

  /** Settings of a plugin whose containers get the libraries that hook-lib has built. */
  static PluginSettings settings(TestNode node, String... more) throws IOException {
    return node.settings(
        Stream.concat(
            Stream.of("--hook-libraries=" + TestNode.DIST.resolve("lib"),
                "--extra-driver-mounts=/etc/partita-simulator,/run/partita-simulator:rw"),
            Stream.of(more)).toArray(String[]::new));
  }

  /** A container with the claim's first device. */
  static TestContainer of(TestNode node, ResourceClaim claim) throws IOException {
    String id = node.prepare(claim).getDevices(0).getCdiDeviceIds(0);
    CdiSpec spec = CdiJson.read(Files.readAllBytes(node.cdiFile(claim)), "spec");
    CdiDevice device =
        spec.devices().stream().filter(d -> spec.kind().idOf(d.name()).equals(id)).findFirst().orElseThrow();
    return new TestContainer(
        Files.createDirectory(node.root.resolve(claim.getMetadata().getName())),
        spec.containerEdits().then(device.containerEdits()));
  }

  /** A container with all of the claim's devices. */
  static TestContainer ofAll(TestNode node, ResourceClaim claim) throws IOException {
    List<String> ids = node.prepare(claim).getDevicesList().stream().map(device -> device.getCdiDeviceIds(0)).toList();
    CdiSpec spec = CdiJson.read(Files.readAllBytes(node.cdiFile(claim)), "spec");
    ContainerEdits edits = spec.containerEdits();
    for (CdiDevice device : spec.devices()) {
      if (ids.contains(spec.kind().idOf(device.name()))) {
        edits = edits.then(device.containerEdits());
      }
    }
    return new TestContainer(Files.createDirectory(node.root.resolve(claim.getMetadata().getName())), edits);
  }

  /** Whether this machine lets us make a mount namespace with an overlay. */
  static boolean canRun(Path folder) throws IOException, InterruptedException {
    return new TestContainer(Files.createDirectory(folder.resolve("empty")), ContainerEdits.NONE).inside("echo works")
        .contains("works");
  }

  /** One whose image has a file, a copy of one of this machine. */
  TestContainer withFile(String from, String to) {
    return new TestContainer(folder, edits,
        List.of("mkdir -p root" + Path.of(to).getParent(), "cp -L " + from + " root" + to));
  }

  TestContainer withVariable(String variable) {
    return new TestContainer(folder, edits.then(ContainerEdits.of(List.of(variable), List.of(), List.of())), image);
  }

  /** One for which the hooks with this argument are not called. */
  TestContainer withoutHook(String argument) {
    List<Hook> hooks = edits.hooks().stream().filter(hook -> !hook.args().contains(argument)).toList();
    ContainerEdits others =
        new ContainerEdits(edits.env(), edits.deviceNodes(), edits.mounts(), hooks, edits.additionalGids());
    return new TestContainer(folder, others, image);
  }

  String run(String... arguments) throws IOException, InterruptedException {
    return inside("/partita-probe " + String.join(" ", arguments));
  }

  String smi() throws IOException, InterruptedException {
    return inside("/usr/bin/nvidia-smi");
  }

  /** Runs a command with the edits applied; gives what it writes. */
  String inside(String command) throws IOException, InterruptedException {
    Process process = start(command);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }

  /** A program that runs until it is closed, whose first line has been read. */
  record Running(Process process, BufferedReader output, String firstLine) implements AutoCloseable {
    /** Waits for its next line. */
    String nextLine() throws IOException {
      return String.valueOf(output.readLine());
    }

    @Override
    public void close() {
      process.destroy();
      process.onExit().completeOnTimeout(process, 20, TimeUnit.SECONDS).join();
      process.destroyForcibly().onExit().join();
    }
  }

  /** Starts the probe and waits for its first line. */
  Running hold(String bytes) throws IOException {
    return running("/partita-probe hold " + bytes);
  }

  /** Starts a probe that tries to allocate as much every millisecond until it can; its first try has failed. */
  Running allocatesOnceItCan(String bytes) throws IOException {
    return running("/partita-probe alloc " + bytes + " --every 0.001");
  }

  /** Starts a shell that runs some commands, whose first line has been read. */
  Running shell(String commands) throws IOException {
    return running("sh -c '" + commands + "'");
  }

  /** Starts a probe that keeps the card busy until it is closed. */
  Running spin() throws IOException {
    return running("sh -c 'echo spins; exec /partita-probe spin 3600'");
  }

  /** What NVML says of the SMs' use, in percent. */
  int utilization() throws IOException, InterruptedException {
    return Integer
        .parseInt(inside("/usr/bin/nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits").strip());
  }

  /** Starts the probe with a copy of the driver's own library, which lies behind the shadow, in front of the shadow. */
  Running holdPastTheShadow(String bytes) throws IOException {
    return pastTheShadow("exec /partita-probe hold " + bytes);
  }

  /** The same with one that keeps the card busy until it is closed. */
  Running spinPastTheShadow() throws IOException {
    return pastTheShadow("echo spins; exec /partita-probe spin 3600");
  }

  private Running pastTheShadow(String commands) throws IOException {
    String real =
        edits.mounts().stream().map(Mount::containerPath).filter(path -> path.endsWith("/partita/libcuda-real.so.1"))
            .findFirst().orElseThrow();
    return running("sh -c 'set -e; mkdir -p /own; cp " + real + " /own/libcuda.so.1; export LD_LIBRARY_PATH=/own; "
        + commands + "'");
  }

  private Running running(String command) throws IOException {
    Process process = start(command);
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    return new Running(process, output, String.valueOf(output.readLine()));
  }

  private Process start(String command) throws IOException {
    Path own = Files.createTempDirectory(folder, "run");
    StringBuilder script =
        new StringBuilder("set -e\nmkdir -p layers root\nmount -t tmpfs none layers\nmkdir layers/u layers/w\n");
    script.append("mount -t overlay none -o lowerdir=/,upperdir=$PWD/layers/u,workdir=$PWD/layers/w root\n");
    script.append("mount --rbind /proc root/proc\n");
    bind(script, TestNode.DIST.resolve("bin/partita-probe").toString(), "/partita-probe");
    image.forEach(line -> script.append(line).append('\n'));
    for (Mount mount : edits.mounts()) {
      bind(script, mount.hostPath(), mount.containerPath());
    }
    for (DeviceNode node : edits.deviceNodes()) {
      bind(script, node.hostPath().orElse(node.path()), node.path());
    }
    Files.writeString(own.resolve("config.json"), config());
    for (Hook hook : edits.hooks()) {
      script.append("echo '{\"bundle\": \"'$PWD'\"}' | ").append(hook.path()).append(' ');
      script.append(String.join(" ", hook.args().subList(1, hook.args().size()))).append('\n');
    }
    script.append("exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin ").append(String.join(" ", edits.env()))
        .append(" chroot root ").append(command).append(" 2>&1\n");
    return new ProcessBuilder(Stream.concat(unshare(), Stream.of("sh", "-c", script.toString())).toList())
        .directory(own.toFile())
        .redirectErrorStream(true)
        .start();
  }

  /** As much of an OCI configuration as hooks look at. */
  private String config() {
    String env = edits.env().stream().map(variable -> '"' + variable + '"').collect(Collectors.joining(", "));
    return "{\"root\": {\"path\": \"root\"}, \"process\": {\"env\": [" + env + "], \"cwd\": \"/\"}}";
  }

  /** Root needs no user namespace, in which an overlay over the machine's root is refused by some kernels. */
  private static Stream<String> unshare() {
    return "root".equals(System.getProperty("user.name"))
        ? Stream.of("unshare", "--mount")
        : Stream.of("unshare", "--user", "--map-root-user", "--mount");
  }

  private static void bind(StringBuilder script, String from, String to) {
    // in the image /var/run is a link, which leads elsewhere in the container than here
    script.append("to=root$(chroot root realpath -m ").append(to).append(")\n");
    script.append("mkdir -p $(dirname $to)\n");
    script.append("if [ -d ").append(from).append(" ]; then mkdir -p $to; else [ -e $to ] || touch $to; fi\n");
    script.append("mount --bind ").append(from).append(" $to\n");
  }
}
