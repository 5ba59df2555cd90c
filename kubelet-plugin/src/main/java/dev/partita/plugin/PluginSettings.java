package dev.partita.plugin;

import dev.partita.api.Bytes;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.plugin.cardreport.YieldRule;
import dev.partita.plugin.inventory.CardPolicy;
import dev.partita.plugin.inventory.Reserve;
import dev.partita.plugin.metrics.OtherNames;
import dev.partita.plugin.opaque.CardFiles;
import dev.partita.plugin.step.ExtraDriverMount;
import dev.partita.plugin.usage.UsageWatch;
import dev.partita.plugin.usage.excess.OnExcess;
import dev.partita.serving.metrics.MetricsReaders;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine;

/**
 * What a plugin is told of its node. Each setting stands here once, with its name, environment variable, type, default
 * and help; tests and the demo set them by the same options as a user. Every folder but the driver root has the same
 * path for this process and for the host.
 */
public final class PluginSettings {
  private static final Pattern NODE_NAME = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?");
  private static final Pattern POD_UID = Pattern.compile("[A-Za-z0-9-]{1,64}");
  static final String ENV = " [env: ";

  @Option(names = "--node-name", paramLabel = "NAME", required = true, defaultValue = "${env:PARTITA_NODE_NAME}",
      description = "Name of this Kubernetes node." + ENV + "PARTITA_NODE_NAME]") private String nodeName = "";

  @Option(names = "--driver-root", paramLabel = "DIR", defaultValue = "${env:PARTITA_DRIVER_ROOT:-/}",
      description = "Folder below which the NVIDIA driver is looked for, as this process sees it. Default: ${DEFAULT-VALUE}"
          + ENV
          + "PARTITA_DRIVER_ROOT]") private Path driverRoot = Path.of("");

  @Option(names = "--driver-root-on-host", paramLabel = "DIR", defaultValue = "${env:PARTITA_DRIVER_ROOT_ON_HOST:-}",
      description = "The same folder as the host sees it. Default: the driver root" + ENV
          + "PARTITA_DRIVER_ROOT_ON_HOST]") private String driverRootOnHost = "";

  @Option(names = "--card-files", paramLabel = "DIR", defaultValue = "${env:PARTITA_CARD_FILES:-}",
      description = "Folder with files that list opaque cards, as this process sees it. Default: none" + ENV
          + "PARTITA_CARD_FILES]") private String cardFiles = "";

  @Option(names = "--dev-root", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_DEV_ROOT:-/dev}",
      description = "The host's /dev: device nodes of opaque cards must be there. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_DEV_ROOT]") private Path devRoot = Path.of("");

  @Option(names = "--sysfs", paramLabel = "DIR", defaultValue = "${env:PARTITA_SYSFS_ROOT:-}",
      description = "The host's /sys. Default: sys below the driver root" + ENV
          + "PARTITA_SYSFS_ROOT]") private String sysfs = "";

  @Option(names = "--extra-driver-mounts", paramLabel = "PATH[:ro|rw]", split = ",",
      defaultValue = "${env:PARTITA_EXTRA_DRIVER_MOUNTS:-}",
      description = "Files and folders below the driver root that containers with a GPU need besides, separated by commas."
          + ENV + "PARTITA_EXTRA_DRIVER_MOUNTS]") private List<String> extraDriverMounts = List.of();

  @Option(names = "--hook-libraries", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_HOOK_LIBRARIES:-/usr/lib/partita/hook}",
      description = "Folder with libcuda-shadow.so and libnvidia-ml-shadow.so. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_HOOK_LIBRARIES]") private Path hookLibraries = Path.of("");

  @Option(names = "--install-root", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_INSTALL_ROOT:-/opt/partita}",
      description = "Where the hook libraries are installed on the host. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_INSTALL_ROOT]") private Path installRoot = Path.of("");

  @Option(names = "--state-root", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_STATE_ROOT:-/var/lib/partita}",
      description = "Checkpoint and quota files. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_STATE_ROOT]") private Path stateRoot = Path.of("");

  @Option(names = "--run-root", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_RUN_ROOT:-/run/partita}",
      description = "Usage regions. Default: ${DEFAULT-VALUE}" + ENV + "PARTITA_RUN_ROOT]") private Path runRoot =
          Path.of("");

  @Option(names = "--shared-memory-root", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_SHARED_MEMORY_ROOT:-/dev/shm}",
      description = "The folder of the host that is this process's /dev/shm: programs that share a card by MPS have it as theirs. Default: ${DEFAULT-VALUE}"
          + ENV + "PARTITA_SHARED_MEMORY_ROOT]") private Path sharedMemoryRoot = Path.of("");

  @Option(names = "--cdi-root", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_CDI_ROOT:-/var/run/cdi}",
      description = "Where container runtimes look for CDI specs. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_CDI_ROOT]") private Path cdiRoot = Path.of("");

  @Option(names = "--kubelet-registry-dir", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_KUBELET_REGISTRY_DIR:-/var/lib/kubelet/plugins_registry}",
      description = "Where kubelet looks for registration sockets. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_KUBELET_REGISTRY_DIR]") private Path kubeletRegistryDir = Path.of("");

  @Option(names = "--kubelet-plugins-dir", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_KUBELET_PLUGINS_DIR:-/var/lib/kubelet/plugins}",
      description = "Folder of the plugins' own sockets. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_KUBELET_PLUGINS_DIR]") private Path kubeletPluginsDir = Path.of("");

  @Option(names = "--pod-uid", paramLabel = "UID", defaultValue = "${env:PARTITA_POD_UID:-}",
      description = "UID of the plugin's pod: lets two plugins hand over in a rolling update." + ENV
          + "PARTITA_POD_UID]") private String podUid = "";

  @Option(names = "--health-port", paramLabel = "PORT", defaultValue = "${env:PARTITA_HEALTH_PORT:-0}",
      description = "Port of /healthz and /readyz, 0 for none. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_HEALTH_PORT]") private int healthPort;

  @Option(names = "--metrics-port", paramLabel = "PORT", defaultValue = "${env:PARTITA_METRICS_PORT:-0}",
      description = "Port of /metrics for Prometheus, 0 for none. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_METRICS_PORT]") private int metricsPort;

  @Option(names = "--metrics-access", paramLabel = "token|everybody",
      defaultValue = "${env:PARTITA_METRICS_ACCESS:-token}",
      description = "Who may read the metrics: over HTTPS who shows a token of a user that may get /metrics, or over HTTP everybody who reaches the port."
          + " Default: ${DEFAULT-VALUE}" + ENV + "PARTITA_METRICS_ACCESS]") private MetricsReaders metricsAccess =
              MetricsReaders.TOKEN;

  @Option(names = "--metrics-names", paramLabel = "hami|dcgm|vgpu-manager", split = ",",
      defaultValue = "${env:PARTITA_METRICS_NAMES:-hami,dcgm}",
      description = "Whose names the metrics have besides our own, for dashboards that are there: HAMi's, dcgm-exporter's, vgpu-manager's; none for nobody's. Default: ${DEFAULT-VALUE}"
          + ENV + "PARTITA_METRICS_NAMES]") private List<String> metricsNames = List.of();

  @Option(names = "--pod-resources-socket", paramLabel = "FILE", converter = Folder.class,
      defaultValue = "${env:PARTITA_POD_RESOURCES_SOCKET:-/var/lib/kubelet/pod-resources/kubelet.sock}",
      description = "Where kubelet tells which containers have which devices, for the metrics' labels and to leave cards alone that another device plugin hands out. Default: ${DEFAULT-VALUE}"
          + ENV + "PARTITA_POD_RESOURCES_SOCKET]") private Path podResourcesSocket = Path.of("");

  @Option(names = "--inventory-period", paramLabel = "SECONDS", converter = Seconds.class,
      defaultValue = "${env:PARTITA_INVENTORY_PERIOD:-10}",
      description = "Time between two readings of the cards. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_INVENTORY_PERIOD]") private Duration inventoryPeriod = Duration.ZERO;

  @Option(names = "--sweep-period", paramLabel = "SECONDS", converter = Seconds.class,
      defaultValue = "${env:PARTITA_SWEEP_PERIOD:-300}",
      description = "Time between two searches for state that no claim needs. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_SWEEP_PERIOD]") private Duration sweepPeriod = Duration.ZERO;

  @Option(names = "--leftover-grace", paramLabel = "SECONDS", converter = Seconds.class,
      defaultValue = "${env:PARTITA_LEFTOVER_GRACE:-600}",
      description = "How long a claim must have been gone before its state is removed without kubelet's asking. Default: ${DEFAULT-VALUE}"
          + ENV + "PARTITA_LEFTOVER_GRACE]") private Duration leftoverGrace = Duration.ZERO;

  @Option(names = "--usage-period", paramLabel = "SECONDS", converter = Seconds.class,
      defaultValue = "${env:PARTITA_USAGE_PERIOD:-1}",
      description = "Time between two looks at what processes hold of the cards. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_USAGE_PERIOD]") private Duration usagePeriod = Duration.ZERO;

  @Option(names = "--reserve-memory", paramLabel = "AMOUNT|PERCENT", defaultValue = "${env:PARTITA_RESERVE_MEMORY:-0}",
      description = "Memory of each card that is kept from shares, besides what the driver keeps for itself: 512Mi, 1.5%%. It is for what uses the"
          + " cards without a claim; contexts count against the shares that they are made in. Default: ${DEFAULT-VALUE}"
          + ENV
          + "PARTITA_RESERVE_MEMORY]") private String reserveMemory = "";

  @Option(names = "--on-excess", paramLabel = "report|kill", defaultValue = "${env:PARTITA_ON_EXCESS:-report}",
      description = "What is done about a process that holds more of a card's memory than its claim allows, past the interception library: report it on the"
          + " claim, or also kill it. Too much of a card's time is only reported. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_ON_EXCESS]") private OnExcess onExcess = OnExcess.REPORT;

  @Option(names = "--lend-memory", paramLabel = "true|false", arity = "0..1", fallbackValue = "true",
      defaultValue = "${env:PARTITA_LEND_MEMORY:-true}",
      description = "Whether shares that may grow (memoryLimit of a GpuShareConfig) are lent memory that no claim has. Processes that keep it after it is asked"
          + " back are killed, for which the plugin sees the node's processes and has the capability KILL. Default: ${DEFAULT-VALUE}"
          + ENV + "PARTITA_LEND_MEMORY]") private boolean lendMemory;

  @Option(names = "--plausible-overhead", paramLabel = "AMOUNT",
      defaultValue = "${env:PARTITA_PLAUSIBLE_OVERHEAD:-4Gi}",
      description = "Memory of a card that contexts, modules and local memory of one process are believed to take, 1Gi at least: a process that holds more"
          + " which no ledger knows of has gone past the interception library. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_PLAUSIBLE_OVERHEAD]") private String plausibleOverhead = "";

  @Option(names = "--priority-threshold", paramLabel = "PERCENT",
      defaultValue = "${env:PARTITA_PRIORITY_THRESHOLD:-5}",
      description = "Shares of lower priority pause while those of higher priority use this much of the card's time, from 1 to 100. Default: ${DEFAULT-VALUE}"
          + ENV + "PARTITA_PRIORITY_THRESHOLD]") private int priorityThreshold;

  @Option(names = "--priority-hold-off", paramLabel = "SECONDS", converter = Seconds.class,
      defaultValue = "${env:PARTITA_PRIORITY_HOLD_OFF:-0}",
      description = "How long they must have used that much without a break before others pause. Default: ${DEFAULT-VALUE}"
          + ENV + "PARTITA_PRIORITY_HOLD_OFF]") private Duration priorityHoldOff = Duration.ZERO;

  @Option(names = "--mig", paramLabel = "true|false", arity = "0..1", fallbackValue = "true",
      defaultValue = "${env:PARTITA_MIG:-false}",
      description = "Whether to cut cards into MIG instances for claims, which needs a privileged process. A node offers instances if its GpuNode's spec.publish"
          + " has Mig. Instances that somebody else made are offered without it, and never ended. Default: ${DEFAULT-VALUE}"
          + ENV
          + "PARTITA_MIG]") private boolean mig;

  @Option(names = "--driver-memory-limits", paramLabel = "true|false", arity = "0..1", fallbackValue = "true",
      defaultValue = "${env:PARTITA_DRIVER_MEMORY_LIMITS:-true}",
      description = "Whether the driver, where it can (615 and later, cgroup v2), is to hold pods to the memory of their shares, behind the interception"
          + " library: it counts what gets round that, too. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_DRIVER_MEMORY_LIMITS]") private boolean driverMemoryLimits;

  @Option(names = "--cgroup-root", paramLabel = "DIR", converter = Folder.class,
      defaultValue = "${env:PARTITA_CGROUP_ROOT:-/sys/fs/cgroup}",
      description = "Where the host's cgroups are, with kubelet's below them. Default: ${DEFAULT-VALUE}" + ENV
          + "PARTITA_CGROUP_ROOT]") private Path cgroupRoot = Path.of("");

  /** Filled by {@link #of} or by the command whose mixin it is. */
  PluginSettings() {}

  /**
   * The settings that these options give.
   *
   * @param options as on the command line, such as {@code --node-name=node-1}; the last of a name counts
   * @throws IllegalArgumentException that names what is wrong
   */
  public static PluginSettings of(List<String> options) {
    PluginSettings settings = new PluginSettings();
    try {
      new CommandLine(settings).setCaseInsensitiveEnumValuesAllowed(true).setOverwrittenOptionsAllowed(true)
          .parseArgs(options.toArray(String[]::new));
    } catch (CommandLine.ParameterException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
    return settings.checked();
  }

  /**
   * These settings, if all of them are possible. Throws an IllegalArgumentException that names the first one that is
   * not.
   */
  PluginSettings checked() {
    if (!NODE_NAME.matcher(nodeName).matches()) {
      throw new IllegalArgumentException("the node name must be the name of a Kubernetes node: \"" + nodeName + "\"");
    }
    if (!podUid.isEmpty() && !POD_UID.matcher(podUid).matches()) {
      throw new IllegalArgumentException("the pod UID must be letters, digits and dashes: \"" + podUid + "\"");
    }
    checkPort("health", healthPort);
    checkPort("metrics", metricsPort);
    metricsNames();
    for (Duration period : List.of(inventoryPeriod, sweepPeriod, usagePeriod)) {
      if (period.isZero()) {
        throw new IllegalArgumentException("a period must be longer than 0 s: " + period);
      }
    }
    if (plausibleOverhead() < UsageWatch.LEAST_PLAUSIBLE_OVERHEAD) {
      throw new IllegalArgumentException(
          "the plausible overhead must be " + Bytes.quantity(UsageWatch.LEAST_PLAUSIBLE_OVERHEAD)
              + " at least, for contexts and modules of honest processes take much: "
              + Bytes.quantity(plausibleOverhead()));
    }
    extraDriverMounts();
    reserve();
    yieldRule();
    return this;
  }

  private static void checkPort(String what, int port) {
    if (port < 0 || port > 65535) {
      throw new IllegalArgumentException("the " + what + " port must be from 0 (none) to 65535: " + port);
    }
  }

  /** What may be done with the cards. */
  CardPolicy cardPolicy() {
    return new CardPolicy(reserve(), mig, driverMemoryLimits);
  }

  /** The folder of the host's cgroups. */
  public Path cgroupRoot() {
    return cgroupRoot;
  }

  /** The files that list opaque cards. */
  public CardFiles cardFiles() {
    return new CardFiles(cardFiles.isEmpty() ? Optional.empty() : Optional.of(Path.of(cardFiles)), nodeName,
        new CardFiles.Host(devRoot, sysfs()));
  }

  /** The Kubernetes node. */
  public String nodeName() {
    return nodeName;
  }

  /** Where the NVIDIA driver is installed, as this process and as the host sees it. */
  public DriverRoot driverRoot() {
    return new DriverRoot(driverRoot,
        driverRootOnHost.isEmpty() ? driverRoot.toAbsolutePath().toString() : driverRootOnHost);
  }

  /** The folder that is /sys on the node. */
  public Path sysfs() {
    return (sysfs.isEmpty() ? driverRoot().at("/sys") : Path.of(sysfs)).toAbsolutePath().normalize();
  }

  /** What containers need of the driver root besides the driver's own files. */
  public List<ExtraDriverMount> extraDriverMounts() {
    return extraDriverMounts.stream().filter(text -> !text.isBlank()).map(text -> ExtraDriverMount.parse(text.strip()))
        .toList();
  }

  /** Folder with libcuda-shadow.so and libnvidia-ml-shadow.so. */
  public Path hookLibraries() {
    return hookLibraries;
  }

  /** Where the hook libraries are installed for containers. */
  public Path installRoot() {
    return installRoot;
  }

  /** Folder of the checkpoint and of quota files; survives a reboot. */
  public Path stateRoot() {
    return stateRoot;
  }

  /** The folder of the host that is this process's /dev/shm. */
  public Path sharedMemoryRoot() {
    return sharedMemoryRoot;
  }

  /** Folder of usage regions; need not survive a reboot. */
  public Path runRoot() {
    return runRoot;
  }

  /** Where container runtimes look for CDI specs. */
  public Path cdiRoot() {
    return cdiRoot;
  }

  /** Where kubelet looks for registration sockets. */
  public Path kubeletRegistryDir() {
    return kubeletRegistryDir;
  }

  /** Folder of plugins' own folders. */
  public Path kubeletPluginsDir() {
    return kubeletPluginsDir;
  }

  /** UID of the plugin's pod: lets an old and a new pod work side by side during a rolling update. */
  public Optional<String> podUid() {
    return podUid.isEmpty() ? Optional.empty() : Optional.of(podUid);
  }

  /** Port of /healthz and /readyz, 0 for none. */
  public int healthPort() {
    return healthPort;
  }

  /** Port of /metrics, 0 for none. */
  public int metricsPort() {
    return metricsPort;
  }

  /** Who may read the metrics. */
  public MetricsReaders metricsAccess() {
    return metricsAccess;
  }

  /** Whose names the metrics have besides our own. */
  public Set<OtherNames> metricsNames() {
    Set<OtherNames> names = EnumSet.noneOf(OtherNames.class);
    for (String name : metricsNames) {
      String word = name.strip().toLowerCase(Locale.ROOT);
      if (!word.isEmpty() && !word.equals("none")) {
        names.add(Stream.of(OtherNames.values()).filter(other -> other.toString().equals(word)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException(
                "the metrics' names must be hami, dcgm, vgpu-manager or none: \"" + name + "\"")));
      }
    }
    return names;
  }

  /** kubelet's socket that tells which containers have which devices. */
  public Path podResourcesSocket() {
    return podResourcesSocket;
  }

  /** Between two readings of the cards. */
  public Duration inventoryPeriod() {
    return inventoryPeriod;
  }

  /** Between two searches for state that no claim needs. */
  public Duration sweepPeriod() {
    return sweepPeriod;
  }

  /** How long a claim must have been gone before its state is removed without kubelet's asking. */
  public Duration leftoverGrace() {
    return leftoverGrace;
  }

  /** Between two looks at what processes hold of the cards. */
  public Duration usagePeriod() {
    return usagePeriod;
  }

  /** What of each card is kept from shares, besides what the driver keeps for itself. */
  public Reserve reserve() {
    return Reserve.parse(reserveMemory);
  }

  /** What is done about processes that hold more memory than they may. */
  public OnExcess onExcess() {
    return onExcess;
  }

  /**
   * Bytes of a card that contexts, modules and local memory of one process are believed to take;
   * {@link UsageWatch#LEAST_PLAUSIBLE_OVERHEAD} or more.
   */
  public long plausibleOverhead() {
    try {
      return Bytes.of(plausibleOverhead.strip());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException(
          "the plausible overhead must be an amount such as 4Gi: \"" + plausibleOverhead + "\"", e);
    }
  }

  /** When shares of lower priority pause. */
  public YieldRule yieldRule() {
    return new YieldRule(priorityThreshold, priorityHoldOff);
  }

  /** Whether MIG instances may be made of the cards. */
  public boolean mig() {
    return mig;
  }

  /** Whether shares that may grow are lent memory that no claim has. */
  public boolean lendMemory() {
    return lendMemory;
  }

  /** An absolute path without {@code ..}. */
  private static final class Folder implements ITypeConverter<Path> {
    @Override
    public Path convert(String value) {
      return Path.of(value).toAbsolutePath().normalize();
    }
  }

  /** Seconds as a decimal number of milliseconds' precision, such as {@code 0.1}. */
  private static final class Seconds implements ITypeConverter<Duration> {
    /** Before the decimal point: some 30,000 years. */
    private static final int DIGITS = 12;

    @Override
    public Duration convert(String value) {
      try {
        BigDecimal seconds = new BigDecimal(value.strip());
        // to write out the digits of a large exponent takes minutes
        if (seconds.signum() >= 0 && seconds.precision() - seconds.scale() <= DIGITS) {
          return Duration.ofMillis(seconds.movePointRight(3).longValueExact());
        }
      } catch (ArithmeticException | NumberFormatException _) { // told below
      }
      throw new TypeConversionException("\"" + value + "\" is not a number of seconds, such as 10 or 0.5");
    }
  }
}
