package dev.partita.controller.state;

import java.util.Comparator;

/**
 * A pod that may be evicted.
 *
 * @param uid of the pod
 * @param namespace of the pod
 * @param name of the pod
 * @param priority the pod's
 * @param started when it was bound or made, as the API writes times; sorts by time
 */
public record Victim(String uid, String namespace, String name, int priority, String started) {
  /** Those first that are to be kept rather than others: of higher priority, and longer there. */
  public static final Comparator<Victim> MOST_IMPORTANT =
      Comparator.comparingInt((Victim victim) -> -victim.priority()).thenComparing(Victim::started)
          .thenComparing(Victim::uid);

  @Override
  public String toString() {
    return namespace + "/" + name;
  }
}
