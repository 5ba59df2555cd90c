package dev.partita.cdi;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A device node in the container.
 *
 * @param path where it appears in the container
 * @param hostPath the node on the host; without it, the same path
 * @param type {@code c} or {@code u} (character), {@code b} (block), {@code p} (fifo), or empty: the runtime looks at
 *        the host path
 * @param major device number, 0 if not known
 * @param minor device number, 0 if not known
 * @param fileMode permission bits of the node, if they are to be set
 * @param permissions cgroup permissions out of {@code rwm}, {@code none}, or empty for all of them
 * @param uid owner in the container; without it, the container's user
 * @param gid group in the container; without it, the container's group
 */
public record DeviceNode(
    String path,
    Optional<String> hostPath,
    String type,
    long major,
    long minor,
    OptionalInt fileMode,
    String permissions,
    Optional<Long> uid,
    Optional<Long> gid) {}
