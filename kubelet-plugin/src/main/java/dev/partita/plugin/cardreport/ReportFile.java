package dev.partita.plugin.cardreport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

/**
 * A card report's file. It is written in place, through a descriptor that stays open from the moment the file is made.
 *
 * <p>Containers have the file mounted read-only. But a container's root can hold a lease on it, and whoever then opens
 * the file for writing has to wait. The kernel gives no lease on a file that is open for writing. So every plugin makes
 * a file of its own, which replaces that of an earlier plugin.
 */
final class ReportFile implements AutoCloseable {
  /**
   * A plugin that is being replaced leaves the file to the new one, and takes it back if the new one does not go on.
   */
  private static final Duration GONE = Duration.ofSeconds(5);

  private final Path path;
  private final FileChannel channel;
  private final Object key;

  private ReportFile(Path path, FileChannel channel, Object key) {
    this.path = path;
    this.channel = channel;
    this.key = key;
  }

  /** Makes the file, in the place of one that is there. */
  static ReportFile make(Path path, String text) throws IOException {
    Path temporary = path.resolveSibling("." + path.getFileName() + ".new");
    Files.deleteIfExists(temporary);
    FileChannel channel = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try {
      Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-r--r--"));
      channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
      Object key = Objects.requireNonNull(attributes(temporary).fileKey());
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      return new ReportFile(path, channel, key);
    } catch (IOException | RuntimeException e) {
      channel.close();
      Files.deleteIfExists(temporary);
      throw e;
    }
  }

  /**
   * Writes a report over the last one.
   *
   * @return false if the file is not there any more, or if another plugin's is that does not go on
   */
  boolean write(String text) throws IOException {
    try {
      BasicFileAttributes there = attributes(path);
      if (!key.equals(there.fileKey())) {
        return there.lastModifiedTime().toInstant().plus(GONE).isAfter(Instant.now());
      }
      channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), 0);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
