package dev.partita.cli.demo.container;

import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Mount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Where namespaces are not allowed: a container is a folder laid out like its root, with a link for every mount and
 * device, and its programs find their libraries there by LD_LIBRARY_PATH. Nothing keeps a program from looking
 * elsewhere: hooks that would make mounts in the container are not called, since there is nothing to mount in.
 */
public final class LibraryPathRuntime implements ContainerRuntime {
  private final Path folder;

  /**
   * @param folder where the containers' folders are made
   */
  public LibraryPathRuntime(Path folder) {
    this.folder = folder;
  }

  @Override
  public Container create(String name, ContainerSpec spec) throws IOException {
    Path root = Files.createDirectories(folder.resolve(name));
    for (Mount mount : spec.mounts()) {
      link(root, mount.containerPath(), mount.hostPath());
    }
    for (DeviceNode node : spec.devices()) {
      link(root, node.path(), NamespaceRuntime.hostDevice(node));
    }
    Map<String, String> env = new LinkedHashMap<>(spec.env());
    env.put("PATH", root.resolve("usr/bin") + ":" + spec.env().getOrDefault("PATH", "/usr/bin:/bin"));
    String libraries =
        LibraryFolders.of(spec).stream().map(library -> inRoot(root, library).toString())
            .collect(Collectors.joining(":"));
    if (!libraries.isEmpty()) {
      env.put("LD_LIBRARY_PATH", libraries);
    }
    ContainerSpec effective = spec.withEnv(env);
    return new Container(name, effective, command -> Container.withEnvironment(effective, command), false);
  }

  private static void link(Path root, String containerPath, String hostPath) throws IOException {
    Path here = inRoot(root, containerPath);
    for (Path above = here.getParent(); above != null && !above.equals(root); above = above.getParent()) {
      if (Files.isSymbolicLink(above)) {
        throw new IOException("a mount inside a mount needs namespaces: " + containerPath);
      }
    }
    Files.createDirectories(here.resolveSibling("."));
    Path target = Path.of(hostPath);
    if (Files.isRegularFile(target)) {
      try {
        // A program that follows no symbolic link finds the file as well.
        Files.createLink(here, target);
        return;
      } catch (IOException e) {
        // on another file system
      }
    }
    Files.createSymbolicLink(here, target);
  }

  private static Path inRoot(Path root, String containerPath) {
    return root.resolve(Path.of("/").relativize(Path.of(containerPath).normalize()));
  }

  @Override
  public String description() {
    return "a folder of links for each container, and LD_LIBRARY_PATH into it; CDI hooks are not called";
  }
}
