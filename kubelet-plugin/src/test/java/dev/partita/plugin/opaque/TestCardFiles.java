package dev.partita.plugin.opaque;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;

/** Files that list opaque cards, which belong to whoever runs the tests. */
public final class TestCardFiles {
  private TestCardFiles() {}

  /** Those below a folder, of which nothing need be there yet. */
  public static CardFiles in(Path root, String node) throws IOException {
    return new CardFiles(Optional.of(root.resolve("cards.d")), node,
        new CardFiles.Host(Path.of("/dev"), root.resolve("sys")), (Integer) Files.getAttribute(root, "unix:uid"));
  }

  /** Writes the file of one node with those cards. */
  public static void write(Path root, String cards) throws IOException {
    Path folder = Files.createDirectories(root.resolve("cards.d"));
    Path file = folder.resolve("cards.yaml");
    Files.writeString(file, "apiVersion: gpu.partita.dev/v1alpha1\nkind: OpaqueCards\ncards:\n" + cards);
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
  }
}
