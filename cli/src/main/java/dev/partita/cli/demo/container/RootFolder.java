package dev.partita.cli.demo.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A folder that a container takes for its root: everything of the host but its devices is in it as a link below
 * {@code /.host}, where the container's mount namespace has the host's root, and every path that is to be mounted over
 * is there as an empty file or folder. So a container can see files at paths that the host has not, and nobody needs to
 * be root to make it.
 */
final class RootFolder {
  static final String HOST = "/.host";

  private static final Path ROOT = Path.of("/");
  private static final Path DEV = Path.of("/dev");

  /** Where linkers look for libraries without being told. */
  private static final List<String> LIBRARY_FOLDERS =
      List.of(
          "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
          "/lib64", "/usr/lib64", "/lib", "/usr/lib");

  /** What an OCI runtime gives every container of /dev; all else must be asked for. */
  private static final Set<String> DEFAULT_DEVICES =
      Set.of("null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "pts", "ptmx",
          "shm");

  private final Path folder;
  private final Path host;
  private final Set<Path> opened = new HashSet<>();

  /**
   * Makes the folder, which must not be there yet.
   *
   * @param host what stands for the host's root: {@code /}, or a folder in a test
   */
  RootFolder(Path folder, Path host) throws IOException {
    this.folder = folder;
    this.host = host;
    Files.createDirectories(folder);
    open(ROOT);
    open(DEV);
    Files.createDirectory(inFolder(Path.of(HOST)));
    for (String own : List.of("/proc", "/tmp")) {
      Files.deleteIfExists(inFolder(Path.of(own)));
      Files.createDirectory(inFolder(Path.of(own)));
    }
  }

  Path folder() {
    return folder;
  }

  /**
   * Makes the folders in which the host's linker finds libc the container's own, so that a hook can put a library
   * there.
   */
  void openLibraryFolders() throws IOException {
    for (String path : LIBRARY_FOLDERS) {
      Path library = resolve(Path.of(path, "libc.so.6"));
      if (Files.exists(host.resolve(ROOT.relativize(library)))) {
        open(parentOf(resolve(Path.of(path)).resolve("libc.so.6")));
      }
    }
  }

  /**
   * Makes a path something to mount over.
   *
   * @param path absolute, in the container
   * @return the same path with no link in it
   */
  Path mountPoint(String path, boolean isFolder) throws IOException {
    Path wanted = Path.of(path).normalize();
    Path parent = resolve(parentOf(wanted));
    open(parent);
    Path point = parent.resolve(fileName(wanted));
    Path here = inFolder(point);
    if (Files.isSymbolicLink(here)) {
      Files.delete(here);
    }
    if (isFolder) {
      Files.createDirectories(here);
    } else if (!Files.exists(here, LinkOption.NOFOLLOW_LINKS)) {
      Files.createFile(here);
    }
    return point;
  }

  /** Where a path leads on the host, as far as it is there; what the host has not is taken as it is. */
  private Path resolve(Path path) throws IOException {
    if (path.equals(ROOT) || opened.contains(path)) {
      return path;
    }
    Path parent = resolve(parentOf(path));
    Path onHost = host.resolve(ROOT.relativize(parent.resolve(fileName(path))));
    if (!Files.isSymbolicLink(onHost)) {
      return parent.resolve(fileName(path));
    }
    return resolve(parent.resolve(Files.readSymbolicLink(onHost)).normalize());
  }

  /** Turns a folder that is one link to the host's into a folder of links to its entries. */
  private void open(Path path) throws IOException {
    if (!opened.add(path)) {
      return;
    }
    if (!path.equals(ROOT)) {
      open(parentOf(path));
      Path here = inFolder(path);
      if (Files.isSymbolicLink(here)) {
        Files.delete(here);
      }
      Files.createDirectories(here);
    }
    Path onHost = host.resolve(ROOT.relativize(path));
    if (!Files.isDirectory(onHost)) {
      return;
    }
    try (Stream<Path> entries = Files.list(onHost)) {
      for (Path entry : (Iterable<Path>) entries::iterator) {
        if (!path.equals(DEV) || DEFAULT_DEVICES.contains(fileName(entry).toString())) {
          link(path.resolve(fileName(entry)), entry);
        }
      }
    }
  }

  private void link(Path path, Path onHost) throws IOException {
    Path here = inFolder(path);
    if (!Files.exists(here, LinkOption.NOFOLLOW_LINKS)) {
      // A link of the host stays what it is, so that it leads to what the container has at its target.
      Path target = Files.isSymbolicLink(onHost) ? Files.readSymbolicLink(onHost) : Path.of(HOST + path);
      Files.createSymbolicLink(here, target);
    }
  }

  private Path inFolder(Path path) {
    return folder.resolve(ROOT.relativize(path));
  }

  private static Path parentOf(Path path) {
    Path parent = path.getParent();
    return parent == null ? ROOT : parent;
  }

  private static Path fileName(Path path) {
    Path name = path.getFileName();
    if (name == null) {
      throw new IllegalArgumentException("a container's root cannot be mounted over");
    }
    return name;
  }
}
