package dev.partita.controller.index;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Lists which hosts changed, in order, so that each reader can follow from where it last read. Only the last 4,096
 * changes are kept: who comes later reads all hosts. For one thread.
 */
public final class ChangeLog {
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
    return then.volume() == volume
        ? Optional.of(Set.copyOf(hosts.subList(then.changes(), hosts.size())))
        : Optional.empty();
  }
}
