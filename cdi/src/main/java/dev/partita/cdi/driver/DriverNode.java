package dev.partita.cdi.driver;

import dev.partita.cdi.DeviceNode;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A device node of the driver.
 *
 * @param path as a program expects it, such as /dev/nvidia0
 * @param hostPath the node itself on the host, links resolved
 * @param major device number
 * @param minor device number
 * @param fileMode permission bits
 */
public record DriverNode(String path, String hostPath, long major, long minor, int fileMode) {
  /** The edit that gives it to a container, complete, so that no runtime has to look at the host. */
  public DeviceNode toEdit() {
    return new DeviceNode(
        path,
        Optional.of(hostPath),
        "c",
        major,
        minor,
        OptionalInt.of(fileMode),
        "rw",
        Optional.empty(),
        Optional.empty());
  }
}
