package dev.partita.cli.doctor;

import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.NodeSetup;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How a node must be set up; what the plugin saw of it from its container stands in the GpuNode. */
final class SetupChecks {
  private static final String DRIVER = "driver";
  private static final String CGROUPS = "cgroups";
  private static final String CDI = "CDI";
  private static final String HOOK = "CDI hook";

  /** Where containerd and CRI-O look for specs unless they are told otherwise; the last two are the same folder. */
  private static final Set<String> READ_BY_DEFAULT = Set.of("/etc/cdi", "/var/run/cdi", "/run/cdi");

  private SetupChecks() {}

  /** @param runtime as the Node says it, such as {@code containerd://2.1.3}; empty if that is not known */
  static List<Finding> of(String node, GpuNodeStatus status, String runtime) {
    @Nullable NodeSetup setup = status.setup();
    return setup == null
        ? List.of(
            Finding.warn("cgroups and CDI", node, "the plugin does not say how the node is set up",
                "upgrade the chart and, before it, its custom resources (docs/operate/upgrade.md)"))
        : List.of(cgroups(node, setup), cdi(node, setup, runtime), hook(node, setup));
  }

  /** The driver, where one answers; where none does, its cards are what is missing. */
  static List<Finding> driver(String node, GpuNodeStatus status) {
    return status.driverVersion() == null
        ? List.of()
        : List.of(
            Finding.ok(DRIVER, node, status.driverVersion()
                + (status.cudaDriverVersion() == null ? "" : ", for CUDA up to " + status.cudaDriverVersion())));
  }

  /** The kubelet's default is of KEP-5573. */
  private static Finding cgroups(String node, NodeSetup setup) {
    @Nullable Integer version = setup.cgroupVersion();
    if (version == null) {
      return Finding.warn(CGROUPS, node, "the plugin's container shows neither version",
          "see on the node: stat -fc %T /sys/fs/cgroup says cgroup2fs for version 2");
    }
    return version == 2
        ? Finding.ok(CGROUPS, node, "version 2")
        : Finding.warn(CGROUPS, node,
            "version " + version + ", with which kubelet only starts if it is told to (failCgroupV1: false)",
            "boot the node with version 2 (systemd.unified_cgroup_hierarchy=1)");
  }

  private static Finding cdi(String node, NodeSetup setup, String runtime) {
    String folder = String.valueOf(setup.cdiFolder());
    if (setup.cdiProblem() != null) {
      return Finding.fail(CDI, node, "no spec can be written into " + folder + ": " + setup.cdiProblem(),
          "look at that folder on the node, or name another one that the runtime reads (plugin.cdiRoot of the chart)");
    }
    if (setup.cdiApplied()) {
      return Finding.ok(CDI, node, "containers get what the specs in " + folder + " say");
    }
    if (!READ_BY_DEFAULT.contains(folder)) {
      return Finding.warn(CDI, node,
          "specs are in " + folder + ", which a runtime only reads if it is told to, and no container has shown it yet",
          "name the folder in the runtime's configuration (cdi_spec_dirs), or set plugin.cdiRoot=/var/run/cdi");
    }
    return hasCdiOn(runtime)
        ? Finding.ok(CDI, node, "on by default with this runtime, and no container has shown it yet")
        : Finding.warn(CDI, node,
            "whether " + (runtime.isEmpty() ? "the runtime" : runtime) + " has it on has not been seen yet",
            "switch it on in the runtime (containerd: enable_cdi = true); once a pod has used a share, this is known");
  }

  private static Finding hook(String node, NodeSetup setup) {
    @Nullable String folder = setup.installFolder();
    if (folder == null) {
      return Finding.warn(HOOK, node, "the plugin cannot say whether the runtime can start it",
          "set plugin.hostPID=true, with which it sees the node's mounts; an earlier release does not look: upgrade");
    }
    return setup.installProblem() == null
        ? Finding.ok(HOOK, node, folder + " is not mounted noexec")
        : Finding.fail(HOOK, node,
            "the runtime cannot start it from " + folder + ", so no container with a GPU starts: "
                + setup.installProblem(),
            "mount it with exec on the node: mount -o remount,exec MOUNTPOINT, and take noexec out of /etc/fstab");
  }

  private static boolean hasCdiOn(String runtime) {
    return runtime.startsWith("cri-o://") || (runtime.startsWith("containerd://")
        && ServerVersion.parse(runtime).filter(version -> version.compareTo(ServerVersion.CONTAINERD) >= 0)
            .isPresent());
  }
}
