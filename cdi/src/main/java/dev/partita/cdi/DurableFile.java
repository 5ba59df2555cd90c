package dev.partita.cdi;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Files that are either the old or the new content after a crash of the program at any moment: a temporary file beside
 * the target, and a rename. {@link #write} keeps that through a power cut too, by an fsync of the file and of its
 * folder; {@link #replace} leaves that out, for files that are written anew after every start of the machine before
 * anybody reads them.
 */
public final class DurableFile {
  private static final String TEMPORARY_SUFFIX = ".partita-tmp";

  /**
   * The JDK copies what is written into memory of its own of the same size, and keeps that for the thread's next write.
   */
  private static final int MOST_AT_ONCE = 64 << 10;

  /** Outside the heap, so that nothing is copied; nobody writes to it, and slices have positions of their own. */
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(MOST_AT_ONCE).asReadOnlyBuffer();

  private DurableFile() {}

  /** Makes renames and removals in a folder survive a power cut. */
  public interface FolderSync {
    void sync(Path folder) throws IOException;
  }

  /** Writes or replaces a file whose permissions are then exactly the given ones. The folder must be there. */
  public static void write(Path target, byte[] content, Set<PosixFilePermission> permissions) throws IOException {
    write(target, content, permissions, DurableFile::syncFolder);
  }

  /**
   * The same with a way to sync the folder.
   *
   * @param sync may be shared by several writers
   */
  public static void write(Path target, byte[] content, Set<PosixFilePermission> permissions, FolderSync sync)
      throws IOException {
    put(target, bytes(content), permissions, true);
    sync.sync(folderOf(target));
  }

  /** The same, but after a power cut the file may have the old content, the new one or none. */
  public static void replace(Path target, byte[] content, Set<PosixFilePermission> permissions) throws IOException {
    put(target, bytes(content), permissions, false);
  }

  /**
   * The same with so many bytes of zero, which are written and not left out: the file has its room from then on.
   *
   * @param size in bytes
   */
  public static void replaceWithZeros(Path target, long size, Set<PosixFilePermission> permissions)
      throws IOException {
    put(
        target,
        channel -> {
          for (long from = 0; from < size;) {
            from += channel.write(ZEROS.slice(0, (int) Math.min(MOST_AT_ONCE, size - from)));
          }
        },
        permissions,
        false);
  }

  /** What a file holds; empty if it is not there. */
  public static Optional<byte[]> read(Path file) throws IOException {
    try {
      return Optional.of(Files.readAllBytes(file));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private interface Content {
    void writeTo(FileChannel channel) throws IOException;
  }

  private static Content bytes(byte[] content) {
    return channel -> {
      for (int from = 0; from < content.length;) {
        from += channel.write(ByteBuffer.wrap(content, from, Math.min(MOST_AT_ONCE, content.length - from)));
      }
    };
  }

  private static void put(Path target, Content content, Set<PosixFilePermission> permissions, boolean force)
      throws IOException {
    Path temporary = folderOf(target).resolve("." + target.getFileName() + "." + UUID.randomUUID() + TEMPORARY_SUFFIX);
    FileAttribute<Set<PosixFilePermission>> attribute = PosixFilePermissions.asFileAttribute(permissions);
    try {
      try (FileChannel channel =
          FileChannel.open(temporary, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), attribute)) {
        content.writeTo(channel);
        Files.setPosixFilePermissions(temporary, permissions); // the umask has taken some away
        if (force) {
          channel.force(true);
        }
      }
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(temporary);
      throw e;
    }
  }

  /** Removes a file durably; whether it was there. */
  public static boolean remove(Path target) throws IOException {
    return remove(target, DurableFile::syncFolder);
  }

  /** The same with a way to sync the folder. */
  public static boolean remove(Path target, FolderSync sync) throws IOException {
    boolean removed = Files.deleteIfExists(target);
    if (removed) {
      sync.sync(folderOf(target));
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
