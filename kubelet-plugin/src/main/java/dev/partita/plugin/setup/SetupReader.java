package dev.partita.plugin.setup;

import dev.partita.api.node.NodeSetup;
import dev.partita.plugin.mounts.Mounts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at how the node is set up. It needs no right beyond those of the plugin's container. Not safe for several
 * threads.
 */
public final class SetupReader {
  private static final Logger LOG = LoggerFactory.getLogger(SetupReader.class);

  private final Folders folders;
  private final NodeMounts nodeMounts;
  private final BooleanSupplier shareWasUsed;
  private final boolean makesInstances;
  private Optional<String> toldProblem = Optional.empty();

  /**
   * The folders of the node that are looked at.
   *
   * @param cgroups where the node's cgroups are: of version 2 where the node runs that version, and a tmpfs with the
   *        controllers of version 1 otherwise
   * @param cdi where the plugin writes CDI specs
   * @param install where the CDI hook and the libraries are installed; the node names it so, too
   */
  public record Folders(Path cgroups, Path cdi, Path install) {}

  /**
   * The mountinfo of the first process: the node's init, where the plugin sees the node's processes. The plugin's own
   * mounts need not be as the node's: runc from 1.2 on makes a mount that may be written without noexec
   * (https://github.com/opencontainers/runc/pull/3967). Everybody may read this file.
   *
   * @param areTheNodes whether the plugin sees the node's processes
   */
  public record NodeMounts(Path file, boolean areTheNodes) {
    /** @param seesNode whether the plugin sees the node's processes */
    public static NodeMounts ofInit(boolean seesNode) {
      return new NodeMounts(Path.of("/proc/1/mountinfo"), seesNode);
    }
  }

  /**
   * @param shareWasUsed whether a container has used a share since the plugin started
   * @param makesInstances whether the plugin may make MIG instances
   */
  public SetupReader(Folders folders, NodeMounts nodeMounts, BooleanSupplier shareWasUsed, boolean makesInstances) {
    this.folders = folders;
    this.nodeMounts = nodeMounts;
    this.shareWasUsed = shareWasUsed;
    this.makesInstances = makesInstances;
  }

  /** What is there now. A folder from which the CDI hook cannot be started is warned of in the log, once. */
  public NodeSetup read() {
    Optional<Mounts.Mount> installedOn = mounts().at(folders.install());
    Optional<String> problem = installedOn.flatMap(SetupReader::problem);
    if (!problem.equals(toldProblem)) {
      problem.ifPresent(
          why -> LOG.warn(
              "containers with a GPU cannot start: the container runtime cannot start the CDI hook in {}: {}",
              folders.install(), why));
      toldProblem = problem;
    }
    return new NodeSetup(
        cgroupVersion(typeOf(folders.cgroups()).orElse("")), folders.cdi().toString(),
        problem(folders.cdi()).orElse(null), shareWasUsed.getAsBoolean(),
        installedOn.isPresent() && (nodeMounts.areTheNodes() || problem.isPresent())
            ? folders.install().toString()
            : null,
        problem.orElse(null), makesInstances);
  }

  private Mounts mounts() {
    try {
      return Mounts.read(nodeMounts.file());
    } catch (IOException e) {
      LOG.debug("cannot read {}: {}", nodeMounts.file(), e.toString());
      return new Mounts(List.of());
    }
  }

  private static Optional<String> problem(Mounts.Mount mount) {
    return mount.isNoexec() ? Optional.of(mount.point() + " is mounted noexec") : Optional.empty();
  }

  /** By the type of the file system there; null for one that is none of cgroups. */
  static @Nullable Integer cgroupVersion(String fileSystem) {
    return switch (fileSystem) {
      case "cgroup2" -> 2;
      case "tmpfs", "cgroup" -> 1;
      default -> null;
    };
  }

  private static Optional<String> typeOf(Path path) {
    try {
      return Optional.of(Files.getFileStore(path).type());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static Optional<String> problem(Path folder) {
    if (Files.isDirectory(folder)) {
      return Files.isWritable(folder) ? Optional.empty() : Optional.of("the plugin may not write there");
    }
    return Optional.of(Files.exists(folder) ? "it is no folder" : "there is no such folder");
  }
}
