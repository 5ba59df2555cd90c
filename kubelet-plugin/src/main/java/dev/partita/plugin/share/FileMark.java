package dev.partita.plugin.share;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Marks a file's present state, to see later whether the file was changed or replaced. The kernel sets what it compares
 * whenever a file's content or permissions change, or another file takes its place. Nobody can set the time of change
 * without setting the machine's clock.
 *
 * @param changed with the kernel's resolution, which is a few milliseconds
 */
record FileMark(Object inode, Object device, Object mode, Object size, FileTime changed) {
  private static final Duration RESOLUTION = Duration.ofSeconds(1);

  /** The mark of a file, or of a link itself; empty if there is none. */
  static Optional<FileMark> of(Path file) throws IOException {
    try {
      Map<String, Object> all = Files.readAttributes(file, "unix:ino,dev,mode,size,ctime", LinkOption.NOFOLLOW_LINKS);
      return Optional.of(
          new FileMark(of(all, "ino"), of(all, "dev"), of(all, "mode"), of(all, "size"), (FileTime) of(all, "ctime")));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static Object of(Map<String, Object> all, String name) {
    return Objects.requireNonNull(all.get(name), name);
  }

  /** Whether a further change would give another time. */
  boolean isSettled() {
    return changed.toInstant().isBefore(Instant.now().minus(RESOLUTION));
  }
}
