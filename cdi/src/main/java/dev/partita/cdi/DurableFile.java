package dev.partita.cdi;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Files that are either the old or the new content after a crash at any moment, and stay what they are once a call has
 * returned: a temporary file beside the target, fsync, rename, fsync of the folder.
 */
public final class DurableFile {
  private static final String TEMPORARY_SUFFIX = ".partita-tmp";

  private DurableFile() {}

  /** Writes or replaces a file whose permissions are then exactly the given ones. The folder must be there. */
  public static void write(Path target, byte[] content, Set<PosixFilePermission> permissions) throws IOException {
    Path folder = folderOf(target);
    Path temporary = folder.resolve("." + target.getFileName() + "." + UUID.randomUUID() + TEMPORARY_SUFFIX);
    FileAttribute<Set<PosixFilePermission>> attribute = PosixFilePermissions.asFileAttribute(permissions);
    try {
      try (FileChannel channel =
          FileChannel.open(temporary, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), attribute)) {
        ByteBuffer rest = ByteBuffer.wrap(content);
        while (rest.hasRemaining()) {
          channel.write(rest);
        }
        Files.setPosixFilePermissions(temporary, permissions); // the umask has taken some away
        channel.force(true);
      }
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(temporary);
    }
    syncFolder(folder);
  }

  /** Removes a file durably; whether it was there. */
  public static boolean remove(Path target) throws IOException {
    boolean removed = Files.deleteIfExists(target);
    if (removed) {
      syncFolder(folderOf(target));
    }
    return removed;
  }

  /** Removes what a writer that was killed has left of files whose names begin with {@code prefix}. */
  public static void removeLeftovers(Path folder, String prefix) throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> isTemporaryOf(f, prefix)).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static boolean isTemporaryOf(Path file, String prefix) {
    String name = String.valueOf(file.getFileName());
    return name.startsWith("." + prefix) && name.endsWith(TEMPORARY_SUFFIX);
  }

  /** Makes renames and removals in a folder survive a power cut. */
  public static void syncFolder(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private static Path folderOf(Path target) throws IOException {
    Path folder = target.toAbsolutePath().getParent();
    if (folder == null) {
      throw new IOException(target + " is not the path of a file");
    }
    return folder;
  }
}
