package dev.partita.plugin;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.Bytes;
import dev.partita.plugin.inventory.Reserve;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.prepare.ExtraDriverMount;
import dev.partita.plugin.usage.verdict.OnExcess;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The node plugin as a program. */
@Command(
    name = "partita-kubelet-plugin",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Reports this node's GPUs and prepares claims of gpu.partita.dev for kubelet.",
      "Every option can be given as an environment variable instead; an option on the command line wins.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:ended by SIGTERM or SIGINT", "1:an error that is not the caller's",
      "2:wrong options, or a folder or port that cannot be used"})
public final class Main implements Callable<Integer> {
  private static final String ENV = " [env: ";

  @Spec private @Nullable CommandSpec spec;

  @Option(names = "--node-name", paramLabel = "NAME", required = true, defaultValue = "${env:PARTITA_NODE_NAME}",
      description = "Name of this Kubernetes node." + ENV + "PARTITA_NODE_NAME]") private String nodeName = "";

  @Option(names = "--driver-root", paramLabel = "DIR", defaultValue = "${env:PARTITA_DRIVER_ROOT:-/}",
      description = "Where the NVIDIA driver is installed, as this process sees it. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_DRIVER_ROOT]") private Path driverRoot = Path.of("/");

  @Option(names = "--driver-root-on-host", paramLabel = "DIR", defaultValue = "${env:PARTITA_DRIVER_ROOT_ON_HOST:-}",
      description = "The same folder as the host sees it. Default: the driver root" + ENV
          + "PARTITA_DRIVER_ROOT_ON_HOST]") private String driverRootOnHost = "";

  @Option(names = "--sysfs", paramLabel = "DIR", defaultValue = "${env:PARTITA_SYSFS_ROOT:-}",
      description = "The host's /sys. Default: sys below the driver root" + ENV
          + "PARTITA_SYSFS_ROOT]") private String sysfs = "";

  @Option(names = "--extra-driver-mounts", paramLabel = "PATH[:ro|rw]", split = ",",
      defaultValue = "${env:PARTITA_EXTRA_DRIVER_MOUNTS:-}",
      description = "Files and folders below the driver root that containers with a GPU need besides, separated by commas."
          + ENV + "PARTITA_EXTRA_DRIVER_MOUNTS]") private List<String> extraDriverMounts = List.of();

  @Option(names = "--hook-libraries", paramLabel = "DIR",
      defaultValue = "${env:PARTITA_HOOK_LIBRARIES:-/usr/lib/partita/hook}",
      description = "Folder with libcuda-shadow.so and libnvidia-ml-shadow.so. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_HOOK_LIBRARIES]") private Path hookLibraries = Path.of("");

  @Option(names = "--install-root", paramLabel = "DIR", defaultValue = "${env:PARTITA_INSTALL_ROOT:-/opt/partita}",
      description = "Where the hook libraries are installed on the host. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_INSTALL_ROOT]") private Path installRoot = Path.of("");

  @Option(names = "--state-root", paramLabel = "DIR", defaultValue = "${env:PARTITA_STATE_ROOT:-/var/lib/partita}",
      description = "Checkpoint and quota files. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_STATE_ROOT]") private Path stateRoot = Path.of("");

  @Option(names = "--run-root", paramLabel = "DIR", defaultValue = "${env:PARTITA_RUN_ROOT:-/run/partita}",
      description = "Usage regions. Default: ${DEFAULT-VALUE}" + ENV + "PARTITA_RUN_ROOT]") private Path runRoot =
          Path.of("");

  @Option(names = "--cdi-root", paramLabel = "DIR", defaultValue = "${env:PARTITA_CDI_ROOT:-/var/run/cdi}",
      description = "Where container runtimes look for CDI specs. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_CDI_ROOT]") private Path cdiRoot = Path.of("");

  @Option(names = "--kubelet-registry-dir", paramLabel = "DIR",
      defaultValue = "${env:PARTITA_KUBELET_REGISTRY_DIR:-/var/lib/kubelet/plugins_registry}",
      description = "Where kubelet looks for registration sockets. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_KUBELET_REGISTRY_DIR]") private Path kubeletRegistryDir = Path.of("");

  @Option(names = "--kubelet-plugins-dir", paramLabel = "DIR",
      defaultValue = "${env:PARTITA_KUBELET_PLUGINS_DIR:-/var/lib/kubelet/plugins}",
      description = "Folder of the plugins' own sockets. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_KUBELET_PLUGINS_DIR]") private Path kubeletPluginsDir = Path.of("");

  @Option(names = "--pod-uid", paramLabel = "UID", defaultValue = "${env:PARTITA_POD_UID:-}",
      description = "UID of the plugin's pod: lets two plugins hand over in a rolling update." + ENV
          + "PARTITA_POD_UID]") private String podUid = "";

  @Option(names = "--health-port", paramLabel = "PORT", defaultValue = "${env:PARTITA_HEALTH_PORT:-0}",
      description = "Port of /healthz and /readyz, 0 for none. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_HEALTH_PORT]") private int healthPort;

  @Option(names = "--inventory-period", paramLabel = "SECONDS", defaultValue = "${env:PARTITA_INVENTORY_PERIOD:-10}",
      description = "Time between two readings of the cards. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_INVENTORY_PERIOD]") private long inventoryPeriod;

  @Option(names = "--sweep-period", paramLabel = "SECONDS", defaultValue = "${env:PARTITA_SWEEP_PERIOD:-300}",
      description = "Time between two searches for state that no claim needs. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_SWEEP_PERIOD]") private long sweepPeriod;

  @Option(names = "--leftover-grace", paramLabel = "SECONDS", defaultValue = "${env:PARTITA_LEFTOVER_GRACE:-600}",
      description = "How long a claim must have been gone before its state is removed without kubelet's asking. Default: ${DEFAULT-VALUE}"
          + ENV + "PARTITA_LEFTOVER_GRACE]") private long leftoverGrace;

  @Option(names = "--usage-period", paramLabel = "SECONDS", defaultValue = "${env:PARTITA_USAGE_PERIOD:-1}",
      description = "Time between two looks at what processes hold of the cards. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_USAGE_PERIOD]") private long usagePeriod;

  @Option(names = "--reserve-memory", paramLabel = "AMOUNT|PERCENT", defaultValue = "${env:PARTITA_RESERVE_MEMORY:-0}",
      description = "Memory a card that is not sold to shares, besides what the driver keeps for itself: 512Mi, 1.5%%. For what uses the cards without"
          + " a claim: contexts count against the shares that they are made in. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_RESERVE_MEMORY]") private String reserveMemory = "0";

  @Option(names = "--on-excess", paramLabel = "report|kill", defaultValue = "${env:PARTITA_ON_EXCESS:-report}",
      description = "What is done about a process that holds more of a card's memory than its claim allows, past the interception library: report it on the"
          + " claim, or also kill it. Too much of a card's time is only reported. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_ON_EXCESS]") private OnExcess onExcess = OnExcess.REPORT;

  @Option(names = "--plausible-overhead", paramLabel = "AMOUNT",
      defaultValue = "${env:PARTITA_PLAUSIBLE_OVERHEAD:-4Gi}",
      description = "Memory of a card that contexts, modules and local memory of one process are believed to take, 1Gi at least: a process that holds more"
          + " which no ledger knows of has gone past the interception library. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_PLAUSIBLE_OVERHEAD]") private String plausibleOverhead = "4Gi";

  @Option(names = "--mig", paramLabel = "true|false", arity = "0..1", fallbackValue = "true",
      defaultValue = "${env:PARTITA_MIG:-false}",
      description = "Whether to cut cards into MIG instances for claims, which takes a privileged process. What is cut then is what a GpuNode's spec.publish"
          + " offers as Mig; on such a node nobody else may make instances. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_MIG]") private boolean mig;

  /** Runs the plugin until SIGTERM or SIGINT. */
  public static void main(String[] args) {
    if (System.getProperty("logback.configurationFile") == null) {
      System.setProperty(PluginLog.PROPERTY, "");
    }
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, e) -> logger().error("the thread {} has ended: {}", thread.getName(), e.toString()));
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    CommandLine command = new CommandLine(new Main());
    command.setCaseInsensitiveEnumValuesAllowed(true);
    command.setParameterExceptionHandler(
        (e, arguments) -> {
          e.getCommandLine().getErr().println("partita-kubelet-plugin: " + e.getMessage() + " (see --help)");
          return CommandLine.ExitCode.USAGE;
        });
    return command;
  }

  @Override
  @SuppressWarnings("try") // the plugin runs until it is closed, nothing is called on it
  public Integer call() {
    PrintWriter err = java.util.Objects.requireNonNull(spec).commandLine().getErr();
    CountDownLatch ended = new CountDownLatch(1);
    CountDownLatch stop = new CountDownLatch(1);
    try (Loops own = new Loops();
        KubeletPlugin plugin = KubeletPlugin.start(settings(), Main::client)) {
      HeapTrim.start(own);
      Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> stopAndWait(stop, ended)));
      stop.await();
      logger().info("stopping");
    } catch (IllegalArgumentException | PluginStartException e) {
      err.println("partita-kubelet-plugin: " + e.getMessage());
      return CommandLine.ExitCode.USAGE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      ended.countDown();
    }
    return CommandLine.ExitCode.OK;
  }

  private PluginSettings settings() {
    List<ExtraDriverMount> mounts = new ArrayList<>();
    extraDriverMounts.stream().filter(text -> !text.isBlank())
        .forEach(text -> mounts.add(ExtraDriverMount.parse(text.strip())));
    PluginSettings.Builder settings =
        PluginSettings.forNode(nodeName)
            .driverRoot(driverRoot,
                driverRootOnHost.isEmpty() ? driverRoot.toAbsolutePath().toString() : driverRootOnHost)
            .extraDriverMounts(mounts)
            .hookLibraries(hookLibraries)
            .installRoot(installRoot)
            .stateRoot(stateRoot)
            .runRoot(runRoot)
            .cdiRoot(cdiRoot)
            .kubeletRegistryDir(kubeletRegistryDir)
            .kubeletPluginsDir(kubeletPluginsDir)
            .podUid(podUid.isEmpty() ? Optional.empty() : Optional.of(podUid))
            .healthPort(healthPort)
            .inventoryPeriod(Duration.ofSeconds(inventoryPeriod))
            .sweepPeriod(Duration.ofSeconds(sweepPeriod))
            .leftoverGrace(Duration.ofSeconds(leftoverGrace))
            .usagePeriod(Duration.ofSeconds(usagePeriod))
            .reserve(Reserve.parse(reserveMemory))
            .onExcess(onExcess)
            .plausibleOverhead(bytes(plausibleOverhead))
            .mig(mig);
    if (!sysfs.isEmpty()) {
      settings.sysfs(Path.of(sysfs));
    }
    return settings.build();
  }

  private static long bytes(String overhead) {
    try {
      return Bytes.of(overhead.strip());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException("the plausible overhead must be an amount such as 4Gi: \"" + overhead + "\"",
          e);
    }
  }

  /**
   * Repeating calls is this program's own policy, so the client does not. Nor does it look for every kind of object
   * that there is, a thousand classes: it is asked for those that it is told of.
   */
  private static KubernetesClient client() {
    Config config = new ConfigBuilder(Config.autoConfigure(null)).withRequestRetryBackoffLimit(0)
        .withRequestTimeout(15_000).build();
    return new KubernetesClientBuilder()
        .withConfig(config)
        .withKubernetesSerialization(new KubernetesSerialization(new ObjectMapper(), false))
        .build();
  }

  private static void stopAndWait(CountDownLatch stop, CountDownLatch ended) {
    stop.countDown();
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(CommandLine.ExitCode.OK); // else the status would be 143, which looks like a failure
  }

  private static Logger logger() {
    return LoggerFactory.getLogger(Main.class);
  }
}
