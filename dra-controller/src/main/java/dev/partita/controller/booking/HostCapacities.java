package dev.partita.controller.booking;

import dev.partita.controller.request.PodNeeds;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Keeps how much CPU and memory every host has, and how much of it is left for pods. For one thread. */
public final class HostCapacities {
  /**
   * A host's room.
   *
   * @param free what pods may still request
   * @param total what they may request together
   */
  public record Room(PodNeeds free, PodNeeds total) {
    /** Where nothing is known: then CPU and memory never run out. */
    public static final Room ENDLESS =
        new Room(new PodNeeds(Long.MAX_VALUE, Long.MAX_VALUE), new PodNeeds(Long.MAX_VALUE, Long.MAX_VALUE));

    /** Whether that pod's requests fit. */
    public boolean holds(PodNeeds pod) {
      return (pod.milliCpu() <= 0 || pod.milliCpu() <= free.milliCpu())
          && (pod.memory() <= 0 || pod.memory() <= free.memory());
    }
  }

  private final Map<String, Room> byHost = new HashMap<>();
  private final DirtySet changed = new DirtySet();

  /** Replaces what is known of the host. */
  public void put(String host, Room room) {
    if (!room.equals(byHost.put(host, room))) {
      changed.add(host);
    }
  }

  /** Forgets the host. */
  public void remove(String host) {
    if (byHost.remove(host) != null) {
      changed.add(host);
    }
  }

  public Room of(String host) {
    return byHost.getOrDefault(host, Room.ENDLESS);
  }

  /** Hosts whose room may have changed since this was last asked. */
  public Set<String> takeChanged() {
    return changed.take();
  }
}
