package dev.partita.plugin;

import dev.partita.api.Bytes;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.plugin.inventory.Reserve;
import dev.partita.plugin.prepare.ExtraDriverMount;
import dev.partita.plugin.usage.UsageWatch;
import dev.partita.plugin.usage.verdict.OnExcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a plugin must know of its node. Every folder but the driver root has the same path for this process and for the
 * host.
 *
 * @param nodeName the Kubernetes node
 * @param driverRoot where the NVIDIA driver is installed
 * @param sysfs the folder that is /sys on the node
 * @param extraDriverMounts what containers need of the driver root besides the driver's own files
 * @param hookLibraries folder with libcuda-shadow.so and libnvidia-ml-shadow.so
 * @param installRoot where the hook libraries are installed for containers
 * @param stateRoot checkpoint and quota files; must survive a reboot
 * @param runRoot usage regions; need not survive a reboot
 * @param cdiRoot where container runtimes look for CDI specs
 * @param kubeletRegistryDir where kubelet looks for registration sockets
 * @param kubeletPluginsDir folder of plugins' own folders
 * @param podUid UID of the plugin's pod: lets an old and a new pod work side by side during a rolling update
 * @param healthPort port of /healthz and /readyz, 0 for none
 * @param inventoryPeriod between two readings of the cards
 * @param sweepPeriod between two searches for state that no claim needs
 * @param leftoverGrace how long a claim must have been gone before its state is removed without kubelet's asking
 * @param usagePeriod between two looks at what processes hold of the cards
 * @param reserve what of each card is not sold to shares, besides what the driver keeps for itself
 * @param onExcess what is done about processes that hold more memory than they may
 * @param plausibleOverhead bytes of a card that contexts, modules and local memory of one process are believed to take;
 *        at least {@link UsageWatch#LEAST_PLAUSIBLE_OVERHEAD}
 * @param mig whether MIG instances may be made of the cards
 */
public record PluginSettings(
    String nodeName,
    DriverRoot driverRoot,
    Path sysfs,
    List<ExtraDriverMount> extraDriverMounts,
    Path hookLibraries,
    Path installRoot,
    Path stateRoot,
    Path runRoot,
    Path cdiRoot,
    Path kubeletRegistryDir,
    Path kubeletPluginsDir,
    Optional<String> podUid,
    int healthPort,
    Duration inventoryPeriod,
    Duration sweepPeriod,
    Duration leftoverGrace,
    Duration usagePeriod,
    Reserve reserve,
    OnExcess onExcess,
    long plausibleOverhead,
    boolean mig) {

  private static final Pattern NODE_NAME = Pattern.compile("[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?");
  private static final Pattern POD_UID = Pattern.compile("[A-Za-z0-9-]{1,64}");

  public PluginSettings {
    extraDriverMounts = List.copyOf(extraDriverMounts);
    if (!NODE_NAME.matcher(nodeName).matches()) {
      throw new IllegalArgumentException("the node name must be the name of a Kubernetes node: \"" + nodeName + "\"");
    }
    if (podUid.isPresent() && !POD_UID.matcher(podUid.get()).matches()) {
      throw new IllegalArgumentException("the pod UID must be letters, digits and dashes: \"" + podUid.get() + "\"");
    }
    if (healthPort < 0 || healthPort > 65535) {
      throw new IllegalArgumentException("the health port must be from 0 (none) to 65535: " + healthPort);
    }
    for (Duration period : List.of(inventoryPeriod, sweepPeriod, usagePeriod)) {
      if (period.isNegative() || period.isZero()) {
        throw new IllegalArgumentException("a period must be longer than nothing: " + period);
      }
    }
    if (plausibleOverhead < UsageWatch.LEAST_PLAUSIBLE_OVERHEAD) {
      throw new IllegalArgumentException(
          "the plausible overhead must be " + Bytes.quantity(UsageWatch.LEAST_PLAUSIBLE_OVERHEAD)
              + " at least, for contexts and modules of honest processes take much: "
              + Bytes.quantity(plausibleOverhead));
    }
    sysfs = sysfs.toAbsolutePath().normalize();
    hookLibraries = hookLibraries.toAbsolutePath().normalize();
    installRoot = installRoot.toAbsolutePath().normalize();
    stateRoot = stateRoot.toAbsolutePath().normalize();
    runRoot = runRoot.toAbsolutePath().normalize();
    cdiRoot = cdiRoot.toAbsolutePath().normalize();
    kubeletRegistryDir = kubeletRegistryDir.toAbsolutePath().normalize();
    kubeletPluginsDir = kubeletPluginsDir.toAbsolutePath().normalize();
  }

  /** Settings of a node whose driver is on the host itself and whose folders are the usual ones. */
  public static Builder forNode(String nodeName) {
    return new Builder(nodeName);
  }

  /** Begins with every default; what is not set keeps it. */
  public static final class Builder {
    private final String nodeName;
    private DriverRoot driverRoot = new DriverRoot(Path.of("/"), "/");
    private @Nullable Path sysfs;
    private List<ExtraDriverMount> extraDriverMounts = List.of();
    private Path hookLibraries = Path.of("/usr/lib/partita/hook");
    private Path installRoot = Path.of("/opt/partita");
    private Path stateRoot = Path.of("/var/lib/partita");
    private Path runRoot = Path.of("/run/partita");
    private Path cdiRoot = Path.of("/var/run/cdi");
    private Path kubeletRegistryDir = Path.of("/var/lib/kubelet/plugins_registry");
    private Path kubeletPluginsDir = Path.of("/var/lib/kubelet/plugins");
    private Optional<String> podUid = Optional.empty();
    private int healthPort;
    private Duration inventoryPeriod = Duration.ofSeconds(10);
    private Duration sweepPeriod = Duration.ofMinutes(5);
    private Duration leftoverGrace = Duration.ofMinutes(10);
    private Duration usagePeriod = Duration.ofSeconds(1);
    private Reserve reserve = new Reserve.Amount(0);
    private OnExcess onExcess = OnExcess.REPORT;
    private long plausibleOverhead = UsageWatch.PLAUSIBLE_OVERHEAD;
    private boolean mig;

    private Builder(String nodeName) {
      this.nodeName = nodeName;
    }

    /** The driver root as this process and as the host sees it. */
    public Builder driverRoot(Path local, String onHost) {
      this.driverRoot = new DriverRoot(local, onHost);
      return this;
    }

    /** Default: {@code sys} below the driver root. */
    public Builder sysfs(Path folder) {
      this.sysfs = folder;
      return this;
    }

    public Builder extraDriverMounts(List<ExtraDriverMount> mounts) {
      this.extraDriverMounts = List.copyOf(mounts);
      return this;
    }

    public Builder hookLibraries(Path folder) {
      this.hookLibraries = folder;
      return this;
    }

    /** Default: /opt/partita. */
    public Builder installRoot(Path folder) {
      this.installRoot = folder;
      return this;
    }

    /** Default: /var/lib/partita. */
    public Builder stateRoot(Path folder) {
      this.stateRoot = folder;
      return this;
    }

    /** Default: /run/partita. */
    public Builder runRoot(Path folder) {
      this.runRoot = folder;
      return this;
    }

    /** Default: /var/run/cdi. */
    public Builder cdiRoot(Path folder) {
      this.cdiRoot = folder;
      return this;
    }

    /** Default: /var/lib/kubelet/plugins_registry. */
    public Builder kubeletRegistryDir(Path folder) {
      this.kubeletRegistryDir = folder;
      return this;
    }

    /** Default: /var/lib/kubelet/plugins. */
    public Builder kubeletPluginsDir(Path folder) {
      this.kubeletPluginsDir = folder;
      return this;
    }

    /** Default: none. */
    public Builder podUid(Optional<String> uid) {
      this.podUid = uid;
      return this;
    }

    /** Default: 0, none. */
    public Builder healthPort(int port) {
      this.healthPort = port;
      return this;
    }

    /** Default: 10 s. */
    public Builder inventoryPeriod(Duration period) {
      this.inventoryPeriod = period;
      return this;
    }

    /** Default: 5 min. */
    public Builder sweepPeriod(Duration period) {
      this.sweepPeriod = period;
      return this;
    }

    /** Default: 10 min. */
    public Builder leftoverGrace(Duration grace) {
      this.leftoverGrace = grace;
      return this;
    }

    /** Default: 1 s. */
    public Builder usagePeriod(Duration period) {
      this.usagePeriod = period;
      return this;
    }

    /** Default: nothing. */
    public Builder reserve(Reserve amount) {
      this.reserve = amount;
      return this;
    }

    /** Default: to report. */
    public Builder onExcess(OnExcess policy) {
      this.onExcess = policy;
      return this;
    }

    /** Bytes. Default: 4 GiB. */
    public Builder plausibleOverhead(long bytes) {
      this.plausibleOverhead = bytes;
      return this;
    }

    /** Default: no. */
    public Builder mig(boolean allowed) {
      this.mig = allowed;
      return this;
    }

    /** Throws IllegalArgumentException that names what is wrong. */
    public PluginSettings build() {
      return new PluginSettings(
          nodeName,
          driverRoot,
          sysfs == null ? driverRoot.at("/sys") : sysfs,
          extraDriverMounts,
          hookLibraries,
          installRoot,
          stateRoot,
          runRoot,
          cdiRoot,
          kubeletRegistryDir,
          kubeletPluginsDir,
          podUid,
          healthPort,
          inventoryPeriod,
          sweepPeriod,
          leftoverGrace,
          usagePeriod,
          reserve,
          onExcess,
          plausibleOverhead,
          mig);
    }
  }
}
