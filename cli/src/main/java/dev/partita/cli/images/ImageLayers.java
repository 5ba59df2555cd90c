package dev.partita.cli.images;

import com.google.cloud.tools.jib.api.buildplan.AbsoluteUnixPath;
import com.google.cloud.tools.jib.api.buildplan.FileEntriesLayer;
import com.google.cloud.tools.jib.api.buildplan.FilePermissions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Cuts a laid-out tree into layers by how often their files change, so that a registry and a node fetch only what is
 * new: the Java runtime, the libraries, and the project's own. Every file is root's, and of 1970: the plugin's AOT
 * cache holds for jars of that time alone.
 */
final class ImageLayers {
  private static final FilePermissions PLAIN = FilePermissions.fromOctalString("644");
  private static final FilePermissions PROGRAM = FilePermissions.fromOctalString("755");

  /** In the order in which they are stacked. */
  private enum Part {
    RUNTIME, LIBRARIES, OWN;

    static Part of(String path, String version) {
      if (path.startsWith("usr/lib/partita/runtime/")) {
        return RUNTIME;
      }
      boolean library = path.endsWith(".jar") && !path.endsWith("-" + version + ".jar");
      return library || path.startsWith("usr/lib/partita/native/") ? LIBRARIES : OWN;
    }
  }

  private ImageLayers() {}

  /**
   * @param root the folder that becomes /
   * @param version of the project, by which its own jars are told from others
   */
  static List<FileEntriesLayer> of(Path root, String version) throws IOException {
    Map<Part, FileEntriesLayer.Builder> layers = new EnumMap<>(Part.class);
    try (Stream<Path> tree = Files.walk(root)) {
      for (Path path : tree.filter(Files::isRegularFile).sorted().toList()) {
        String inside = root.relativize(path).toString();
        Part part = Part.of(inside, version);
        layers
            .computeIfAbsent(part,
                each -> FileEntriesLayer.builder().setName(each.name().toLowerCase(java.util.Locale.ROOT)))
            .addEntry(path, AbsoluteUnixPath.get("/" + inside), Files.isExecutable(path) ? PROGRAM : PLAIN,
                Instant.EPOCH);
      }
    }
    return layers.values().stream().map(FileEntriesLayer.Builder::build).toList();
  }
}
