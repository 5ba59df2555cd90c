package dev.partita.cli.demo.cluster;

import dev.partita.api.Driver;
import dev.partita.cdi.Mount;
import dev.partita.cli.demo.container.Container;
import dev.partita.cli.demo.container.ContainerRuntime;
import dev.partita.cli.demo.container.ContainerSpec;
import dev.partita.cli.demo.controlplane.ApiServer;
import dev.partita.cli.demo.kubelet.CdiRegistry;
import dev.partita.cli.demo.kubelet.Kubelet;
import dev.partita.cli.demo.kubelet.PreparedPod;
import dev.partita.plugin.KubeletPlugin;
import dev.partita.plugin.PluginSettings;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A node of the demo: simulated cards below a driver root, the shipped plugin, a kubelet and a container runtime. Its
 * containers may see the simulator's files because the plugin is told so, by the setting that a real driver root may
 * need as well.
 */
public final class SimulatedNode implements AutoCloseable {
  private static final Duration REGISTRATION_TIMEOUT = Duration.ofSeconds(15);
  private static final List<String> SIMULATOR_MOUNTS =
      List.of("/etc/partita-simulator:ro", "/run/partita-simulator:rw");

  private final String name;
  private final String cards;
  private final NodeFolders folders;
  private final Distribution distribution;
  private final Kubelet kubelet;
  private final ContainerRuntime runtime;
  private final KubernetesClient client;
  private final KubeletPlugin plugin;

  /**
   * Lays out the cards and starts the plugin.
   *
   * @param cards such as {@code h200x1,a100x1}
   */
  SimulatedNode(
      String name,
      String cards,
      NodeFolders folders,
      Distribution distribution,
      ContainerRuntime runtime,
      ApiServer api)
      throws Exception {
    this.name = name;
    this.cards = cards;
    this.folders = folders;
    this.distribution = distribution;
    this.runtime = runtime;
    simDriver("install", "--root", folders.driver().toString(), "--node", name, "--gpus", cards);
    kubelet = new Kubelet(folders.registry());
    for (Path kubeletFolder : List.of(folders.registry(), folders.plugins(), folders.cdi())) {
      Files.createDirectories(kubeletFolder);
    }
    client = api.client();
    client.resource(node()).create();
    plugin = KubeletPlugin.start(settings(), client);
  }

  private PluginSettings settings() {
    return PluginSettings.of(List.of(
        "--node-name=" + name,
        "--driver-root=" + folders.driver(),
        "--extra-driver-mounts=" + String.join(",", SIMULATOR_MOUNTS),
        "--hook-libraries=" + distribution.hookLibraries(),
        "--install-root=" + folders.install(),
        "--state-root=" + folders.state(),
        "--run-root=" + folders.run(),
        "--cdi-root=" + folders.cdi(),
        "--kubelet-registry-dir=" + folders.registry(),
        "--kubelet-plugins-dir=" + folders.plugins()));
  }

  private Node node() {
    Map<String, Quantity> room =
        Map.of("cpu", new Quantity("32"), "memory", new Quantity("256Gi"), "pods", new Quantity("110"));
    return new NodeBuilder()
        .withNewMetadata()
        .withName(name)
        .addToLabels("kubernetes.io/hostname", name)
        .endMetadata()
        .withNewSpec()
        .endSpec()
        .withNewStatus()
        .withCapacity(room)
        .withAllocatable(room)
        .addNewCondition()
        .withType("Ready")
        .withStatus("True")
        .endCondition()
        .endStatus()
        .build();
  }

  public String name() {
    return name;
  }

  String cards() {
    return cards;
  }

  public NodeFolders folders() {
    return folders;
  }

  public Kubelet kubelet() {
    return kubelet;
  }

  /** Waits until kubelet has found and registered the plugin; false if it did not within 15 s. */
  public boolean registerPlugin() throws Exception {
    return kubelet.register(Driver.NAME, REGISTRATION_TIMEOUT).isPresent();
  }

  /** Creates a pod's one container with the CDI devices that its claims were prepared as. */
  public Container createContainer(PreparedPod pod) throws IOException {
    String container = pod.pod().getSpec().getContainers().getFirst().getName();
    ContainerSpec image =
        new ContainerSpec(
            imageEnvironment(container),
            List.of(),
            List.of(Mount.readOnly(distribution.probe().toString(), "/usr/bin/partita-probe")));
    CdiRegistry registry = CdiRegistry.read(folders.cdi());
    return runtime.create(container, image.with(registry.editsFor(pod.cdiDevices(container))));
  }

  private static Map<String, String> imageEnvironment(String hostName) {
    Map<String, String> env = new LinkedHashMap<>();
    env.put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    env.put("HOME", "/tmp");
    env.put("HOSTNAME", hostName);
    return env;
  }

  /** What the simulated cards hold now. */
  public DriverState driverState() throws IOException, InterruptedException {
    return DriverState.parse(simDriver("state", "--root", folders.driver().toString()));
  }

  private String simDriver(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(distribution.simDriver().toString()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(String.join(" ", command) + ": " + output.strip());
    }
    return output;
  }

  @Override
  public void close() {
    kubelet.close();
    plugin.close();
    client.close();
  }
}
