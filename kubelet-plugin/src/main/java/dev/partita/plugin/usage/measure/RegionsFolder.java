package dev.partita.plugin.usage.measure;

import dev.partita.plugin.mounts.Mounts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder with the usage regions, as it stands in the mounts of every process that has one of them mounted. A
 * container may have a folder of the same file system, such as one of /run, and mount a file of that under any path. So
 * the file system alone does not say that a file is a region.
 *
 * @param device its st_dev
 * @param path its path within its file system, by the characters of {@link Mounts}; empty if this process' mounts do
 *        not tell
 */
public record RegionsFolder(long device, Optional<String> path) {
  /** One that is not there. */
  public static final RegionsFolder NONE = new RegionsFolder(-1, Optional.empty());

  private static final Logger LOG = LoggerFactory.getLogger(RegionsFolder.class);
  private static final AtomicBoolean UNKNOWN_TOLD = new AtomicBoolean();

  /**
   * Looks where it is now.
   *
   * @param runRoot that of {@link dev.partita.plugin.share.ShareFolders}
   */
  public static RegionsFolder of(Path runRoot) throws IOException {
    long device = (Long) Files.getAttribute(runRoot, "unix:dev");
    Optional<String> path = Mounts.read(Path.of("/proc/self/mountinfo")).pathWithin(runRoot.toRealPath(), device);
    if (path.isEmpty() && !UNKNOWN_TOLD.getAndSet(true)) {
      LOG.debug(
          "/proc/self/mountinfo does not tell where {} lies in its file system, so a region mounted from any folder of that counts",
          runRoot);
    }
    return new RegionsFolder(device, path);
  }
}
