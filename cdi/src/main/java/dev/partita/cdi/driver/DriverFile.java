package dev.partita.cdi.driver;

import java.nio.file.Path;

/**
 * A file of the driver.
 *
 * @param path as a program expects it, and as a container sees it: the path below the driver root, absolute
 * @param hostPath where the content is on the host, links resolved
 * @param localPath where this process finds the content, links resolved
 */
public record DriverFile(String path, String hostPath, Path localPath) {
  /** The last part of {@link #path}. */
  public String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
