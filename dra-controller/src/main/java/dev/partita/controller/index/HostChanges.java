package dev.partita.controller.index;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Which hosts changed since somebody last looked. So much is remembered, and no more: who comes too late looks at all of them. For one thread. */
public final class HostChanges {
  private static final int MOST = 4_096;

  private final List<String> hosts = new ArrayList<>();
  private long volume;

  /** A moment between two changes. */
  public record Moment(long volume, int changes) {
    /** Before everything. */
    public static final Moment NEVER = new Moment(-1, 0);
  }

  void add(String host) {
    if (hosts.size() == MOST) {
      hosts.clear();
      volume++;
    }
    hosts.add(host);
  }

  public Moment now() {
    return new Moment(volume, hosts.size());
  }

  /** Names of the hosts that changed, came or went since then; empty if that is not known any more. */
  public Optional<Set<String>> since(Moment then) {
    return then.volume() == volume ? Optional.of(Set.copyOf(hosts.subList(then.changes(), hosts.size()))) : Optional.empty();
  }
}
