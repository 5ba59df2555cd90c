package dev.partita.plugin.setup;

import dev.partita.api.node.NodeSetup;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Looks at how the node is set up. It needs no right beyond those of the plugin's container. */
public final class SetupReader {
  private final Path cgroups;
  private final Path cdiFolder;
  private final BooleanSupplier shareWasUsed;

  /**
   * @param cgroups where the node's cgroups are: of version 2 where the node runs that version, and a tmpfs with the
   *        controllers of version 1 otherwise
   * @param cdiFolder where the plugin writes CDI specs
   * @param shareWasUsed whether a container has used a share since the plugin started
   */
  public SetupReader(Path cgroups, Path cdiFolder, BooleanSupplier shareWasUsed) {
    this.cgroups = cgroups;
    this.cdiFolder = cdiFolder;
    this.shareWasUsed = shareWasUsed;
  }

  /** What is there now. */
  public NodeSetup read() {
    return new NodeSetup(
        cgroupVersion(typeOf(cgroups).orElse("")), cdiFolder.toString(), problem(cdiFolder).orElse(null),
        shareWasUsed.getAsBoolean());
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
