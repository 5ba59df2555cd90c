package dev.partita.cli.demo.screen;

import dev.partita.cdi.ContainerEdits;
import dev.partita.cdi.Mount;
import dev.partita.cli.demo.kubelet.CdiRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The telling part of a CDI file that the plugin wrote, for the terminal. */
public final class CdiQuote {
  private static final String SHARES = "/etc/partita/shares/";
  private static final Pattern UUID = Pattern.compile("([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f-]{23}([0-9a-f]{4})");

  private CdiQuote() {}

  /**
   * The file's path, the mounts that make a share, the quota, and an example of the rest.
   *
   * @param node what the node's folders are below, left out of host paths
   */
  public static String of(CdiRegistry registry, List<String> ids, Path node) throws IOException {
    Path file = registry.fileOf(ids.getFirst());
    ContainerEdits edits = registry.editsFor(ids);
    List<String> lines = new ArrayList<>();
    lines.add(file + " (" + Files.size(file) + " bytes), of which:");
    edits.mounts().stream().filter(CdiQuote::makesAShare)
        .forEach(mount -> lines.add(line("mount", mount.containerPath(), mount.hostPath(), node)));
    edits.deviceNodes().stream()
        .limit(1)
        .forEach(device -> lines.add(line("device", device.path(), device.hostPath().orElse(device.path()), node)));
    edits.env().stream().filter(variable -> variable.startsWith("CUDA_DEVICE_MEMORY_LIMIT"))
        .forEach(variable -> lines.add("env    " + variable));
    for (Mount mount : edits.mounts()) {
      if (mount.containerPath().startsWith(SHARES)) {
        lines.add("quota  " + quota(Path.of(mount.hostPath(), "quota")));
      }
    }
    return String.join("\n", lines);
  }

  private static boolean makesAShare(Mount mount) {
    return mount.containerPath().contains("/partita/") || mount.containerPath().endsWith(".so.1");
  }

  private static String line(String kind, String containerPath, String hostPath, Path node) {
    return "%-6s %-54s <- %s".formatted(kind, shortened(containerPath),
        shortened(hostPath.replace(node.toString(), "...")));
  }

  private static String quota(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.filter(line -> line.matches("(memory|cores|core-limit) .*")).collect(Collectors.joining(", "));
    }
  }

  /** With the middle of UUIDs left out. */
  public static String shortened(String text) {
    return UUID.matcher(text).replaceAll("$1..$2");
  }
}
