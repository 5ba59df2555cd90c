package dev.partita.cdi.driver;

import dev.partita.cdi.driver.DriverSearch.Found;
import dev.partita.cdi.driver.DriverSearch.NotFound;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A folder below which an NVIDIA driver is installed: {@code /} of the host, the folder of a driver container, or one
 * that has such folders below it.
 *
 * @param local the folder as this process sees it
 * @param onHost the same folder as the host sees it, absolute
 */
public record DriverRoot(Path local, String onHost) {
  /** Where the nodes that open MIG instances lie. */
  public static final String CAPABILITY_NODES = "/dev/nvidia-caps/";

  /**
   * Folders below which a whole driver may lie, in the order of preference: the root itself, NVIDIA's driver container
   * (GPU operator, OpenShift), and what GKE's installer puts on Container-Optimized OS.
   */
  private static final List<String> PLACES = List.of("/", "/run/nvidia/driver", "/home/kubernetes/bin/nvidia");

  /**
   * Folders of libraries in the order of preference: Debian's, Red Hat's, that of Debian's own packages of the driver,
   * those of driver containers and installers, Bottlerocket's (before its kernel kit of June 2026) and Talos' (before
   * 1.13).
   */
  private static final List<String> LIBRARY_FOLDERS =
      List.of(
          "/usr/lib64",
          "/usr/lib/x86_64-linux-gnu",
          "/usr/lib/aarch64-linux-gnu",
          "/lib64",
          "/lib/x86_64-linux-gnu",
          "/lib/aarch64-linux-gnu",
          "/usr/lib/x86_64-linux-gnu/nvidia/current",
          "/usr/lib/aarch64-linux-gnu/nvidia/current",
          "/usr/lib",
          "/usr/local/nvidia/lib64",
          "/usr/local/nvidia/lib",
          "/usr/lib/nvidia/tesla",
          "/usr/local/glibc/usr/lib");

  private static final List<String> PROGRAM_FOLDERS =
      List.of(
          "/usr/bin",
          "/bin",
          "/usr/local/nvidia/bin",
          "/opt/bin",
          "/usr/local/bin",
          "/usr/sbin"); // Debian has the MPS server in sbin
  private static final List<String> PROGRAMS =
      List.of(
          "nvidia-smi",
          "nvidia-debugdump",
          "nvidia-persistenced",
          "nvidia-cuda-mps-control",
          "nvidia-cuda-mps-server");
  private static final List<String> CONTROL_NODES =
      List.of("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset");

  private static final int CAPABILITY_MODE = 0444; // as the driver gives it to the nodes of instances

  private static final Pattern CUDA = Pattern.compile("libcuda\\.so\\.([0-9]+(?:\\.[0-9]+)+)");
  private static final Pattern DRIVER_LIBRARY =
      Pattern.compile("lib(nvidia|cuda|nv|GLX_nvidia|EGL_nvidia|GLES).*\\.so(\\..*)?");
  private static final Pattern CARD_NODE = Pattern.compile("nvidia([0-9]{1,5})");

  public DriverRoot {
    if (!onHost.startsWith("/")) {
      throw new IllegalArgumentException("a driver root on the host is an absolute path: \"" + onHost + "\"");
    }
    local = local.toAbsolutePath().normalize();
    onHost = Path.of(onHost).normalize().toString();
  }

  /** Looks for a driver. Reads folders only; nothing is loaded or run. */
  public DriverSearch search() {
    if (!Files.isDirectory(local)) {
      return new NotFound(
          "the driver root " + onHost + " is not a folder",
          "set the driver root to where the NVIDIA driver is installed (/ if on the host itself)");
    }
    Optional<DriverSearch> incomplete = Optional.empty();
    try {
      for (String place : PLACES) {
        Optional<DriverSearch> there = below(place).installed(this);
        if (there.isPresent() && there.get() instanceof Found) {
          return there.get();
        }
        incomplete = incomplete.or(() -> there);
      }
    } catch (IOException | UncheckedIOException e) {
      return new NotFound("the driver root " + onHost + " cannot be read: " + e.getMessage(),
          "let this process read it");
    }
    return incomplete.orElseGet(
        () -> new NotFound(
            "no libcuda.so.<version> below " + onHost + " (looked in " + String.join(", ", LIBRARY_FOLDERS)
                + ", and in these below " + String.join(" and ", PLACES.subList(1, PLACES.size())) + ")",
            "install the NVIDIA driver on this node, or set the driver root to where it is"));
  }

  private DriverRoot below(String place) {
    return place.equals("/") ? this : new DriverRoot(at(place), onHost(place));
  }

  /**
   * The driver in this root's own folders; empty if there is none. A folder may have no more than links by which the
   * linker finds it, and another one all of it.
   *
   * @param host where the device nodes are if they are not here: a driver container has them or leaves them to the host
   */
  private Optional<DriverSearch> installed(DriverRoot host) throws IOException {
    Optional<DriverSearch> incomplete = Optional.empty();
    for (String folder : LIBRARY_FOLDERS) {
      Optional<String> version = versionIn(at(folder));
      if (version.isPresent()) {
        DriverSearch there = found(folder, version.get(), equals(host) || !cardNodes().isEmpty() ? this : host);
        if (there instanceof Found) {
          return Optional.of(there);
        }
        incomplete = incomplete.or(() -> Optional.of(there));
      }
    }
    return incomplete;
  }

  /** A path below the root as this process sees it; {@code path} begins with a slash. */
  public Path at(String path) {
    return local.resolve(path.substring(1));
  }

  /** A path below the root as the host sees it; {@code path} begins with a slash. */
  public String onHost(String path) {
    return onHost.equals("/") ? path : onHost + path;
  }

  /**
   * The device nodes that a process must be able to open, besides the card's, to use a MIG instance: those of the GPU
   * instance and of the compute instance. One that is not there yet, since nvidia-modprobe makes them when somebody
   * asks, has the numbers that it will have.
   *
   * @param card minor number of the card
   * @return empty if the driver does not say which they are
   */
  public Optional<List<DriverNode>> migNodes(int card, int gpuInstance, int computeInstance) {
    String gpu = "gpu" + card + "/gi" + gpuInstance;
    try {
      for (Path root : List.of(local, Path.of("/"))) {
        OptionalLong ofGpu = MigMinors.minor(root, gpu + "/access");
        OptionalLong ofCompute = MigMinors.minor(root, gpu + "/ci" + computeInstance + "/access");
        if (ofGpu.isPresent() && ofCompute.isPresent()) {
          OptionalLong major = MigMinors.major(root);
          Optional<DriverNode> first = capability(ofGpu.getAsLong(), major);
          Optional<DriverNode> second = capability(ofCompute.getAsLong(), major);
          return first.isPresent() && second.isPresent()
              ? Optional.of(List.of(first.get(), second.get()))
              : Optional.empty();
        }
      }
    } catch (IOException | UncheckedIOException e) {
      return Optional.empty();
    }
    return Optional.empty();
  }

  private Optional<DriverNode> capability(long minor, OptionalLong major) throws IOException {
    String path = CAPABILITY_NODES + "nvidia-cap" + minor;
    Optional<DriverNode> there = node(path);
    return there.isPresent() || major.isEmpty()
        ? there
        : Optional.of(new DriverNode(path, onHost(path), major.getAsLong(), minor, CAPABILITY_MODE));
  }

  private DriverSearch found(String folder, String version, DriverRoot devices) throws IOException {
    SortedMap<String, DriverFile> libraries = new TreeMap<>();
    for (Path file : sorted(at(folder))) {
      String name = String.valueOf(file.getFileName());
      if (DRIVER_LIBRARY.matcher(name).matches()) {
        resolve(folder + "/" + name)
            .filter(f -> String.valueOf(f.localPath().getFileName()).endsWith(".so." + version))
            .ifPresent(f -> libraries.put(f.path(), f));
      }
    }
    if (!libraries.containsKey(folder + "/libnvidia-ml.so." + version)) {
      return new NotFound(
          "libcuda.so." + version + " is in " + onHost(folder) + ", but libnvidia-ml.so." + version + " is not",
          "install the whole NVIDIA driver " + version);
    }
    return new Found(
        new DriverFiles(version, folder, List.copyOf(libraries.values()), programs(), graphics(),
            devices.controlNodes(),
            devices.cardNodes()));
  }

  private List<DriverFile> programs() {
    SortedMap<String, DriverFile> programs = new TreeMap<>();
    for (String name : PROGRAMS) {
      PROGRAM_FOLDERS.stream()
          .flatMap(folder -> resolve(folder + "/" + name).stream())
          .findFirst()
          .ifPresent(f -> programs.put(f.path(), f));
    }
    return List.copyOf(programs.values());
  }

  private List<DriverFile> graphics() {
    return Arrays.stream(GraphicsFile.values())
        .flatMap(file -> file.candidates().flatMap(place -> resolve(place).stream()).limit(1)
            .map(found -> new DriverFile(file.path(), found.hostPath(), found.localPath())))
        .toList();
  }

  private List<DriverNode> controlNodes() throws IOException {
    List<DriverNode> nodes = new ArrayList<>();
    for (String path : CONTROL_NODES) {
      node(path).ifPresent(nodes::add);
    }
    return nodes;
  }

  private SortedMap<Integer, DriverNode> cardNodes() throws IOException {
    SortedMap<Integer, DriverNode> nodes = new TreeMap<>();
    for (Path file : sorted(at("/dev"))) {
      Matcher name = CARD_NODE.matcher(String.valueOf(file.getFileName()));
      if (name.matches()) {
        Optional<DriverNode> node = node("/dev/" + file.getFileName());
        if (node.isPresent()) {
          nodes.put(Integer.parseInt(name.group(1)), node.get());
        }
      }
    }
    return nodes;
  }

  /** The device node at a path below the root, behind its links; empty if it is not a character device. */
  private Optional<DriverNode> node(String path) throws IOException {
    Optional<DriverFile> target = resolveAny(path);
    if (target.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Object> attributes = Files.readAttributes(target.get().localPath(), "unix:mode,rdev");
    int mode = (Integer) Objects.requireNonNull(attributes.get("mode"));
    long device = (Long) Objects.requireNonNull(attributes.get("rdev"));
    if ((mode & 0170000) != 0020000) { // S_IFMT, S_IFCHR
      return Optional.empty();
    }
    return Optional.of(
        new DriverNode(path, target.get().hostPath(), major(device), minor(device), mode & 0777));
  }

  private Optional<DriverFile> resolve(String path) {
    return resolveAny(path).filter(file -> Files.isRegularFile(file.localPath()));
  }

  /**
   * Follows the links of a path below the root. An absolute link means a path below the root, as for a process that
   * lives in it; if nothing is there, the same path of this process's own root, which must then be the host's
   * (/dev/null is).
   */
  private Optional<DriverFile> resolveAny(String path) {
    Path current = at(path);
    try {
      for (int hops = 0; hops < 40 && Files.isSymbolicLink(current); hops++) {
        Path link = Files.readSymbolicLink(current);
        if (!link.isAbsolute()) {
          current = current.resolveSibling(link).normalize();
        } else {
          Path below = at(link.toString());
          boolean isBelow = Files.exists(below, java.nio.file.LinkOption.NOFOLLOW_LINKS);
          current = isBelow ? below : link;
        }
      }
    } catch (IOException e) {
      return Optional.empty();
    }
    if (!Files.exists(current, java.nio.file.LinkOption.NOFOLLOW_LINKS) || Files.isSymbolicLink(current)) {
      return Optional.empty();
    }
    String hostPath =
        current.startsWith(local) ? onHost("/" + local.relativize(current)) : current.toString();
    return Optional.of(new DriverFile(path, hostPath, current));
  }

  /** The version that libcuda.so.1 leads to, or else the first that is there. */
  private static Optional<String> versionIn(Path folder) throws IOException {
    Path soname = folder.resolve(DriverFiles.CUDA_SONAME);
    if (Files.isRegularFile(soname)) {
      Matcher target = CUDA.matcher(String.valueOf(soname.toRealPath().getFileName()));
      if (target.matches()) {
        return Optional.of(target.group(1));
      }
    }
    for (Path file : sorted(folder)) {
      Matcher name = CUDA.matcher(String.valueOf(file.getFileName()));
      if (name.matches() && Files.isRegularFile(file)) {
        return Optional.of(name.group(1));
      }
    }
    return Optional.empty();
  }

  private static List<Path> sorted(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }

  private static long major(long device) {
    return ((device >> 8) & 0xfff) | ((device >> 32) & ~0xfffL);
  }

  private static long minor(long device) {
    return (device & 0xff) | ((device >> 12) & ~0xffL);
  }
}
