package dev.partita.controller.state;

import dev.partita.controller.watch.ObjectKey;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Notes which claims have changed since they were counted. Informers' threads and those that ask note without a lock;
 * one thread at a time takes the notes, and only that one clears any. So what is noted while it counts stays for the
 * next time.
 */
final class ChangedClaims {
  /** How many are noted before all are to be counted anew, which needs no notes, and so no more memory. */
  static final int MOST_NOTED = 50_000;

  private final Set<ObjectKey> noted = ConcurrentHashMap.newKeySet();
  private volatile boolean all = true;

  /** A claim has changed; to be called after the view shows it. */
  void note(ObjectKey claim) {
    if (!all) {
      noted.add(claim);
      if (noted.size() > MOST_NOTED) {
        all = true;
      }
    }
  }

  /** All claims are to be counted anew; none is noted until somebody does. */
  void noteAll() {
    all = true;
  }

  /** Whether all are to be counted anew. Who takes this reads the view after it. */
  boolean takeAll() {
    if (!all) {
      return false;
    }
    noted.clear();
    all = false;
    return true;
  }

  /** The claims that were noted. Who takes them reads the view after it. */
  List<ObjectKey> take() {
    List<ObjectKey> taken = List.copyOf(noted);
    taken.forEach(noted::remove);
    return taken;
  }
}
