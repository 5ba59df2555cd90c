package dev.partita.controller.held;

import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.quota.QuotaLedger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Keeps in the books what nodes hold for claims that are gone. Nodes report it. Until they do, it is what a claim had
 * that was deleted while a pod of it runs. It counts in the quotas of the claim's namespace as well, for its pod goes
 * on using it: otherwise somebody who deletes the claims of his running pods would have as much as he likes. For one
 * thread.
 */
public final class HeldLedger {
  /** A claim that was deleted while pods of it ran. */
  private record Orphan(String namespace, Set<String> pods, List<Booking> bookings) {}

  private final BiConsumer<String, List<Booking>> book;
  private final Consumer<String> unbook;
  private final Function<String, List<Booking>> ofClaim;
  private final QuotaLedger quotas;
  private final Predicate<String> runs;
  private final Map<String, HeldBookings> reported = new HashMap<>(); // by key
  private final Map<String, Orphan> orphans = new HashMap<>(); // by the claim's UID
  private Inventory inventory = Inventory.EMPTY;

  /**
   * @param book puts bookings under a key into the books
   * @param unbook takes them out again
   * @param ofClaim what the claim of that UID has in the books
   * @param runs whether the pod of that UID is on a node and has not ended
   */
  public HeldLedger(
      BiConsumer<String, List<Booking>> book,
      Consumer<String> unbook,
      Function<String, List<Booking>> ofClaim,
      QuotaLedger quotas,
      Predicate<String> runs) {
    this.book = book;
    this.unbook = unbook;
    this.ofClaim = ofClaim;
    this.quotas = quotas;
    this.runs = runs;
  }

  /** Takes note of what nodes report. */
  public void report(Inventory now) {
    if (now == inventory) {
      return;
    }
    inventory = now;
    reported.keySet().forEach(this::remove);
    reported.clear();
    for (GpuHost host : now.hosts().values()) {
      HeldBookings.of(host).forEach(held -> reported.put(held.key(), held));
    }
    reported.values().forEach(this::count);
    List.copyOf(orphans.keySet()).stream().filter(this::isReported).forEach(this::forget);
  }

  /** What the claim has in the books has changed. */
  public void changed(String claimUid) {
    if (!ofClaim.apply(claimUid).isEmpty()) {
      forget(claimUid);
    }
    if (!reported.isEmpty()) {
      reported.values().stream().filter(held -> held.claimUid().equals(claimUid)).forEach(this::count);
    }
  }

  /**
   * The claim was deleted, and has nothing in the books any more.
   *
   * @param pods UIDs of those that it was reserved for
   * @param bookings what it had
   */
  public void deleted(String claimUid, Optional<String> namespace, Set<String> pods, List<Booking> bookings) {
    if (bookings.isEmpty() || isReported(claimUid) || pods.stream().noneMatch(runs)) {
      return;
    }
    Orphan orphan = new Orphan(namespace.orElse(""), Set.copyOf(pods), List.copyOf(bookings));
    orphans.put(claimUid, orphan);
    put(key(claimUid), orphan.namespace(), bookings);
  }

  /**
   * A pod has changed.
   *
   * @return whether something that was held for its claim is free by that
   */
  public boolean podChanged(String podUid) {
    if (orphans.isEmpty()) {
      return false;
    }
    List<String> over = new ArrayList<>();
    orphans.forEach(
        (uid, orphan) -> {
          if (orphan.pods().contains(podUid) && orphan.pods().stream().noneMatch(runs)) {
            over.add(uid);
          }
        });
    over.forEach(this::forget);
    return !over.isEmpty();
  }

  private boolean isReported(String claimUid) {
    return reported.values().stream().anyMatch(held -> held.claimUid().equals(claimUid));
  }

  private void count(HeldBookings held) {
    if (held.counts(ofClaim.apply(held.claimUid()))) {
      put(held.key(), held.namespace().orElse(""), held.bookings());
    } else {
      remove(held.key());
    }
  }

  private void forget(String claimUid) {
    @Nullable Orphan orphan = orphans.remove(claimUid);
    if (orphan != null) {
      remove(key(claimUid));
    }
  }

  private void put(String key, String namespace, List<Booking> bookings) {
    book.accept(key, bookings);
    quotas.put(key, namespace, bookings);
  }

  private void remove(String key) {
    unbook.accept(key);
    quotas.remove(key);
  }

  private static String key(String claimUid) {
    return "deleted/" + claimUid;
  }
}
