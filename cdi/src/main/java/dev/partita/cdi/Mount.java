package dev.partita.cdi;

import java.util.List;

/**
 * A mount in the container.
 *
 * @param hostPath what is mounted, on the host
 * @param containerPath where it appears
 * @param options such as {@code ro}, {@code rbind}
 * @param type such as {@code bind}; empty leaves it to the runtime
 */
public record Mount(String hostPath, String containerPath, List<String> options, String type) {
  public Mount {
    options = List.copyOf(options);
  }

  /** A bind mount that the container can only read. */
  public static Mount readOnly(String hostPath, String containerPath) {
    return new Mount(hostPath, containerPath, List.of("ro", "nosuid", "nodev", "rbind", "rprivate"), "bind");
  }

  /** A bind mount that the container can write. */
  public static Mount readWrite(String hostPath, String containerPath) {
    return new Mount(hostPath, containerPath, List.of("rw", "nosuid", "nodev", "rbind", "rprivate"), "bind");
  }
}
