package dev.partita.cli.demo.container;

import dev.partita.cdi.DeviceNode;
import dev.partita.cdi.Mount;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Containers in user, mount and pid namespaces of their own, by util-linux's {@code unshare}: the CDI mounts are real
 * bind mounts, the CDI hooks are called before its root becomes the root, and no one needs to be root.
 */
public final class NamespaceRuntime implements ContainerRuntime {
  private static final Duration CHECK_TIMEOUT = Duration.ofSeconds(10);
  private static final List<String> UNSHARE =
      List.of("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child");

  /** Of util-linux and of coreutils: what is started here, and what {@code enter-container.sh} calls. */
  private static final String[] PROGRAMS = {"unshare", "mount", "chroot"};

  private final Path folder;
  private final Path script;
  private final ProgramPath programs;

  /**
   * @param folder where the containers' root folders are made
   */
  public NamespaceRuntime(Path folder) throws IOException {
    this(folder, ProgramPath.of(Objects.requireNonNullElse(System.getenv("PATH"), "")));
  }

  NamespaceRuntime(Path folder, ProgramPath programs) throws IOException {
    this.programs = programs;
    this.folder = Files.createDirectories(folder);
    this.script = folder.resolve("enter-container.sh");
    try (InputStream source = NamespaceRuntime.class.getResourceAsStream("enter-container.sh")) {
      Files.write(script, Objects.requireNonNull(source, "enter-container.sh").readAllBytes());
    }
  }

  /** Tries it out with an empty container: empty if it works here, else why not, in one line. */
  public Optional<String> obstacle() throws InterruptedException {
    Optional<String> missing = programs.missing(PROGRAMS);
    if (missing.isPresent()) {
      return missing;
    }
    try {
      Outcome outcome =
          create("try", new ContainerSpec(Map.of(), List.of(), List.of())).run(CHECK_TIMEOUT, "/usr/bin/env");
      String said = outcome.lines().isEmpty() ? "exit status " + outcome.status() : outcome.lines().getFirst();
      return outcome.status() == 0 ? Optional.empty() : Optional.of(said);
    } catch (IOException e) {
      return Optional.of(Objects.requireNonNullElse(e.getMessage(), e.toString()));
    }
  }

  @Override
  public Container create(String name, ContainerSpec spec) throws IOException {
    RootFolder root = new RootFolder(folder.resolve(name), Path.of("/"));
    root.openLibraryFolders();
    List<String> mounts = new ArrayList<>();
    for (Mount mount : spec.mounts()) {
      Path point = root.mountPoint(mount.containerPath(), Files.isDirectory(Path.of(mount.hostPath())));
      mounts.addAll(List.of(mount.options().contains("ro") ? "ro" : "rw", mount.hostPath(), point.toString()));
    }
    for (DeviceNode node : spec.devices()) {
      mounts.addAll(List.of("rw", hostDevice(node), root.mountPoint(node.path(), false).toString()));
    }
    Bundle bundle = Bundle.write(folder.resolve(name + ".bundle"), name, root.folder(), spec);
    return new Container(name, spec,
        command -> entering(root.folder(), bundle, mounts, Container.withEnvironment(spec, command)), true);
  }

  private List<String> entering(Path root, Bundle bundle, List<String> mounts, List<String> command) {
    List<String> line = new ArrayList<>(List.of("/usr/bin/env", "PATH=" + programs.text()));
    line.addAll(UNSHARE);
    line.addAll(List.of("/bin/sh", script.toString(), root.toString(), bundle.hooks().toString()));
    line.addAll(mounts);
    line.add("--");
    line.addAll(command);
    return line;
  }

  /**
   * The device node on this machine that a CDI device node stands for.
   *
   * @throws IOException if it is none: like containerd, this follows no link
   */
  static String hostDevice(DeviceNode node) throws IOException {
    Path path = Path.of(node.hostPath().orElse(node.path()));
    if (!Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS).isOther()) {
      throw new IOException("CDI host device " + path + " of " + node.path() + " is not a device node");
    }
    return path.toString();
  }

  @Override
  public String description() {
    return "user, mount and pid namespaces of its own for each container, real bind mounts, and the CDI hooks";
  }
}
