package dev.partita.plugin.cardreport;

import dev.partita.plugin.usage.measure.ContainerShares;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.plugin.usage.measure.ProcessIdentity;
import dev.partita.plugin.usage.measure.ShareRef;
import dev.partita.plugin.usage.measure.WatchedShare;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds out whose a process is that NVML's samples name before {@code usage} has seen it: which shares its container
 * has. {@code usage} looks every second, and programs can begin and end in between. For one thread.
 */
public final class NewProcesses {
  /** For how long at least a process is remembered that has ended, in ns: samples come up to a second later. */
  private static final long REMEMBERED = 2_000_000_000L;

  private final HostProcesses host;
  private final ContainerShares containers;
  private Map<Long, ProcessIdentity> before = Map.of();
  private Map<Long, ProcessIdentity> now = new HashMap<>();
  private long since = Long.MIN_VALUE;

  /** @param containers that nobody else asks */
  public NewProcesses(HostProcesses host, ContainerShares containers) {
    this.host = host;
    this.containers = containers;
  }

  /** Begins a look, at this time by a monotonic clock in ns. */
  void beginLook(long nanos) {
    if (since == Long.MIN_VALUE || nanos - since >= REMEMBERED) {
      since = nanos;
      before = now;
      now = new HashMap<>();
      containers.beginLook();
    }
  }

  /**
   * Those of the shares that each process' container has, by pid; without processes of which that is not known. That is
   * so of all where this process sees other pids than the driver gives.
   */
  Map<Long, Set<ShareRef>> of(Collection<Long> pids, List<WatchedShare> shares) {
    Map<Long, Set<ShareRef>> found = new HashMap<>();
    if (!host.seesAll()) {
      return found;
    }
    for (long pid : pids) {
      Set<ShareRef> has = identity(pid).map(process -> containers.of(process, shares)).orElse(Set.of());
      if (!has.isEmpty()) {
        found.put(pid, has);
      }
    }
    return found;
  }

  /** The process that has the pid, or had it until lately. */
  private Optional<ProcessIdentity> identity(long pid) {
    Optional<ProcessIdentity> identity =
        host.identity(pid).or(() -> Optional.ofNullable(now.get(pid))).or(() -> Optional.ofNullable(before.get(pid)));
    identity.ifPresent(process -> now.put(pid, process));
    return identity;
  }
}
