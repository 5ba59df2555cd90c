package dev.partita.cli.demo;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.demo.container.FolderTree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** The one folder in which the demo leaves anything, and which it removes. */
final class DemoFolder implements AutoCloseable {
  /** sun_path in unix(7), less its final zero byte. */
  private static final int SOCKET_PATH_LIMIT = 107;

  /** The longest path of a socket below the folder. */
  private static final String LONGEST_SOCKET = "/node-a/kubelet/plugins_registry/gpu.partita.dev-reg.sock";

  private final Path path;
  private volatile boolean keep;

  private DemoFolder(Path path, boolean keep) {
    this.path = path;
    this.keep = keep;
  }

  /**
   * Makes a new folder below $TMPDIR, or if that is not set below the first that serves of /tmp, /var/tmp and the
   * user's home.
   *
   * @param keep whether to leave it there in the end
   * @throws CommandFailure if no place serves: it cannot be written, its path is too long, or no program may run from
   *         it
   */
  static DemoFolder create(boolean keep) {
    String chosen = System.getenv("TMPDIR");
    List<String> places =
        chosen == null ? List.of("/tmp", "/var/tmp", System.getProperty("user.home")) : List.of(chosen);
    List<String> obstacles = new ArrayList<>();
    for (String place : places) {
      try {
        Path path = makeFolder(Path.of(place).toAbsolutePath());
        DemoFolder folder = new DemoFolder(path, keep);
        Optional<String> obstacle = folder.obstacle();
        if (obstacle.isEmpty()) {
          return folder;
        }
        folder.remove();
        obstacles.add(place + " " + obstacle.get());
      } catch (IOException e) {
        obstacles.add("no folder can be made in " + place + " (" + e + ")");
      }
    }
    throw CommandFailure.usage(String.join("; ", obstacles) + ": set TMPDIR to another folder");
  }

  /** With a shorter name than createTempDirectory's: the paths of unix sockets are limited. */
  private static Path makeFolder(Path place) throws IOException {
    while (true) {
      String suffix = Integer.toString(RandomGenerator.getDefault().nextInt(1 << 20), Character.MAX_RADIX);
      try {
        Path folder = place.resolve("partita-demo-" + suffix);
        return Files.createDirectory(folder,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      } catch (FileAlreadyExistsException e) {
        // another demo's
      }
    }
  }

  private Optional<String> obstacle() throws IOException {
    if ((path + LONGEST_SOCKET).getBytes(StandardCharsets.UTF_8).length > SOCKET_PATH_LIMIT) {
      return Optional.of("is too long a path for unix sockets below it");
    }
    return runsPrograms() ? Optional.empty() : Optional.of("lets no program run from it (mount option noexec)");
  }

  private boolean runsPrograms() throws IOException {
    Path program = path.resolve("try");
    Files.writeString(program, "#!/bin/sh\nexit 0\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    try {
      return new ProcessBuilder(program.toString()).start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      Files.delete(program);
    }
  }

  Path path() {
    return path;
  }

  /** Where controller, plugins and libraries write what they have to say. */
  Path log() {
    return path.resolve("demo.log");
  }

  /** Leaves it in place in the end. */
  void keep() {
    keep = true;
  }

  boolean isKept() {
    return keep;
  }

  @Override
  public void close() throws IOException {
    if (!keep) {
      remove();
    }
  }

  private void remove() throws IOException {
    FolderTree.remove(path);
  }
}
