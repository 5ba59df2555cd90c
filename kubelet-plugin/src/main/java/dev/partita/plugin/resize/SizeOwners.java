package dev.partita.plugin.resize;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/** Says who is changing the sizes of a claim's shares: two at once would undo each other's files. For any thread. */
public final class SizeOwners {
  private final ConcurrentMap<String, Object> owners = new ConcurrentHashMap<>(); // by the claim's UID

  /** Whether the claim belongs to that owner from now on, until it leaves the claim. */
  boolean take(String uid, Object who) {
    return owners.computeIfAbsent(uid, _ -> who) == who;
  }

  /** Gives a claim up that the owner has done with. */
  void leave(String uid, Object who) {
    owners.remove(uid, who);
  }

  /** Forgets claims that are not there any more. */
  void keep(Set<String> uids) {
    owners.keySet().retainAll(uids);
  }
}
