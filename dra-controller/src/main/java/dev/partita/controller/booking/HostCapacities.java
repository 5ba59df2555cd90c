package dev.partita.controller.booking;

import dev.partita.controller.request.PodNeeds;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Keeps how much CPU and memory every host has, and how much of it is left for pods. For one thread. */
public final class HostCapacities {
  /**
   * What a host has for pods.
   *
   * @param free what pods may still request
   * @param total what they may request together
   */
  public record Capacity(PodNeeds free, PodNeeds total) {
    /** Where nothing is known: then CPU and memory never run out. */
    public static final Capacity ENDLESS =
        new Capacity(new PodNeeds(Long.MAX_VALUE, Long.MAX_VALUE), new PodNeeds(Long.MAX_VALUE, Long.MAX_VALUE));

    /** Whether that pod's requests fit. */
    public boolean holds(PodNeeds pod) {
      return (pod.milliCpu() <= 0 || pod.milliCpu() <= free.milliCpu())
          && (pod.memory() <= 0 || pod.memory() <= free.memory());
    }
  }

  private final Map<String, Capacity> byHost = new HashMap<>();
  private final DirtySet changed = new DirtySet();

  /** Replaces what is known of the host. */
  public void put(String host, Capacity room) {
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

  public Capacity of(String host) {
    return byHost.getOrDefault(host, Capacity.ENDLESS);
  }

  /** Hosts whose room may have changed since this was last asked. */
  public Set<String> takeChanged() {
    return changed.take();
  }
}
