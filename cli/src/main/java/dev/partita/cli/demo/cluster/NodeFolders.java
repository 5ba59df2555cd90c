package dev.partita.cli.demo.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folders of a simulated node, which on a real one are {@code /var/lib/kubelet}, {@code /var/run/cdi} and so on.
 *
 * @param root what all of them are below
 */
public record NodeFolders(Path root) {
  Path driver() {
    return root.resolve("driver");
  }

  public Path cdi() {
    return root.resolve("cdi");
  }

  Path state() {
    return root.resolve("state");
  }

  Path run() {
    return root.resolve("run");
  }

  Path install() {
    return root.resolve("opt");
  }

  Path registry() {
    return root.resolve("kubelet/plugins_registry");
  }

  Path plugins() {
    return root.resolve("kubelet/plugins");
  }

  Path containers() {
    return root.resolve("containers");
  }

  /** Everything that the plugin keeps of a claim: whatever bears its UID in its name. */
  public List<Path> tracesOf(String claimUid) throws IOException {
    List<Path> found = new ArrayList<>();
    for (Path folder : List.of(cdi(), state(), run())) {
      if (Files.isDirectory(folder)) {
        try (Stream<Path> files = Files.walk(folder)) {
          files.filter(file -> String.valueOf(file.getFileName()).contains(claimUid)).forEach(found::add);
        }
      }
    }
    return found;
  }
}
