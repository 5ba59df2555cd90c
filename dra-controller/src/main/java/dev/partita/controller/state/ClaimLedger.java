package dev.partita.controller.state;

import dev.partita.controller.allocate.FreeCards;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.held.HeldLedger;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.proposal.OthersProposals;
import dev.partita.controller.proposal.Proposal;
import dev.partita.controller.quota.QuotaLedger;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.watch.ResourceVersion;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what every claim takes: what the API server says, and besides it what this instance has decided and the
 * informers do not show yet. For one thread.
 */
public final class ClaimLedger {
  /** What became of a claim since it was last seen. */
  public sealed interface Change {
    record None() implements Change {}

    /** It takes something now that it did not take before. */
    record Taken() implements Change {}

    /** It takes less than before of the cards that it has. */
    record Shrunk() implements Change {}

    /**
     * It gave back what it had.
     *
     * @param vetoed the node, if nobody had begun to use it: then kube-scheduler took the allocation back
     */
    record Freed(Optional<String> vetoed) implements Change {}
  }

  /**
   * A decision of ours.
   *
   * @param node where it is; what only looks takes nothing there that would tell
   * @param writtenVersion resourceVersion that its write gave; empty while that is under way
   * @param openVersion resourceVersion of the last state without an allocation that was seen while the write was under
   *        way
   */
  record Assumed(String node, Optional<String> writtenVersion, Optional<String> openVersion) {}

  /**
   * A size that was decided and that the informers do not show yet.
   *
   * @param bookings what the claim takes with it
   * @param writtenVersion resourceVersion that its write gave; empty while that is under way
   */
  private record Resizing(List<Booking> bookings, Optional<String> writtenVersion) {
    boolean isShownBy(ResourceClaim claim) {
      return writtenVersion.filter(version -> ResourceVersion.hasReached(claim, version)).isPresent();
    }
  }

  /**
   * What was last seen of a claim that takes something.
   *
   * @param reservedFor UIDs of pods
   * @param proposed another instance is about to allocate it
   * @param onlyLooks the node, if it takes nothing of the devices that it has there
   * @param proposal what is proposed for it, or what its allocation was made of, as its annotation says it
   */
  private record Seen(
      Set<String> reservedFor,
      boolean proposed,
      Optional<String> onlyLooks,
      Optional<String> proposal) {}

  private final Predicate<String> uses;
  private final OthersProposals others;
  private final HeldLedger held;
  private final QuotaLedger quotas = new QuotaLedger();
  private final Books books = new Books();
  private final HostCapacities capacities = new HostCapacities();
  private final DemandHistory history = new DemandHistory();
  private final FreeCards freeCards = new FreeCards(books, capacities, history);
  private final Map<String, Assumed> assumed = new ConcurrentHashMap<>();
  private final Map<String, Seen> seen = new HashMap<>();
  private final Map<String, Resizing> resizing = new HashMap<>();
  private final Set<String> releasing = new HashSet<>();
  private final Map<String, Integer> kept = new HashMap<>();
  private final Map<String, String> proposals = new HashMap<>();
  private final Map<String, String> spent = new ConcurrentHashMap<>();

  /**
   * @param uses whether the pod of that UID may have begun to use what is reserved for it, or is gone
   * @param runs whether the pod of that UID is on a node and has not ended
   * @param others how far proposals count that this instance has not made
   */
  public ClaimLedger(Predicate<String> uses, Predicate<String> runs, OthersProposals others) {
    this.uses = uses;
    this.others = others;
    this.held = new HeldLedger(books::put, books::remove, books::bookings, quotas, runs);
  }

  /** What nodes hold for claims that are gone. */
  public HeldLedger held() {
    return held;
  }

  Accounts accounts() {
    return books;
  }

  /** What is taken of the card. */
  public Account account(CardKey card) {
    return books.of(card);
  }

  /** The same by quotas. */
  public QuotaLedger quotas() {
    return quotas;
  }

  /**
   * Counts something as taken that is no claim's yet, also against the quotas of its namespace: else somebody else's
   * claim there could make it too much.
   *
   * @param bookings of each claim that is to get them
   */
  void keep(String key, String namespace, List<List<Booking>> bookings) {
    unkeep(key);
    books.put(key, bookings.stream().flatMap(List::stream).toList());
    for (int i = 0; i < bookings.size(); i++) {
      quotas.put(part(key, i), namespace, bookings.get(i));
    }
    kept.put(key, bookings.size());
  }

  void unkeep(String key) {
    books.remove(key);
    IntStream.range(0, Objects.requireNonNullElse(kept.remove(key), 0)).forEach(i -> quotas.remove(part(key, i)));
  }

  private static String part(String key, int claim) {
    return key + "/" + claim;
  }

  /** Whether the claim has taken something. */
  public boolean isTaken(String claimUid) {
    return !books.bookings(claimUid).isEmpty();
  }

  /** What the claim has taken. */
  public List<Booking> bookings(String claimUid) {
    return books.bookings(claimUid);
  }

  /** How a claim counts at one moment, to be {@linkplain #restore restored}. */
  record Standing(List<Booking> bookings, String namespace, Optional<Assumed> assumed, boolean isReleasing) {}

  Standing standing(String claimUid) {
    return new Standing(
        books.bookings(claimUid),
        quotas.namespaceOf(claimUid).orElse(""),
        Optional.ofNullable(assumed.get(claimUid)),
        releasing.contains(claimUid));
  }

  /** Counts the claim as it did then. */
  void restore(String claimUid, Standing before) {
    if (before.bookings().isEmpty()) {
      unbook(claimUid);
    } else {
      book(claimUid, before.namespace(), before.bookings());
    }
    before.assumed().ifPresentOrElse(ours -> assumed.put(claimUid, ours), () -> assumed.remove(claimUid));
    if (before.isReleasing()) {
      releasing.add(claimUid);
    } else {
      releasing.remove(claimUid);
    }
  }

  /** Counts nothing any longer that the claim has. */
  void leaveOut(String claimUid) {
    unbook(claimUid);
  }

  /** What CPU and memory hosts have left. */
  public HostCapacities capacities() {
    return capacities;
  }

  /** What pods have asked for. */
  public DemandHistory history() {
    return history;
  }

  /** What is free of the inventory's cards. */
  public FreeCards freeCards(Inventory inventory) {
    freeCards.refresh(inventory);
    return freeCards;
  }

  /** Forgets what searches have put in order, for one of them ended in the middle. */
  public void forgetOrder() {
    freeCards.forget();
  }

  /** Whether this instance has allocated the claim, and the API server does not show it yet. */
  public boolean isAssumed(String claimUid) {
    return assumed.containsKey(claimUid);
  }

  /**
   * Whether nobody can make an allocation of what is proposed for the claim. It was seen without the allocation that it
   * had, and the proposal is from before: it could only be written while nothing else changed. Or the claim could not
   * be given that, so no controller has proposed it. For any thread.
   */
  public boolean isSpent(ResourceClaim claim) {
    String uid = claim.getMetadata().getUid();
    return Proposal.textOf(claim).filter(text -> text.equals(spent.get(uid))).isPresent()
        || (!assumed.containsKey(uid) && others.isRefused(claim));
  }

  /** This instance is about to write that the claim has this on the node; nothing, if it only looks at devices. */
  public void assume(ClaimRef claim, String node, List<Booking> bookings) {
    book(claim.uid(), claim.namespace(), bookings);
    releasing.remove(claim.uid()); // what is given back is what it had before
    assumed.put(claim.uid(), new Assumed(node, Optional.empty(), Optional.empty()));
  }

  /**
   * The assumed allocation was written; it counts until the informers show that version or a newer one. They may have
   * shown a newer one already, in which the allocation is gone again: nothing more would be heard of the claim.
   */
  public Change written(String claimUid, String resourceVersion) {
    @Nullable Assumed ours = assumed.get(claimUid);
    if (ours == null) {
      return new Change.None();
    }
    if (ours.openVersion().filter(open -> isNewer(open, Optional.of(resourceVersion))).isPresent()) {
      return freed(claimUid);
    }
    assumed.put(claimUid, new Assumed(ours.node(), Optional.of(resourceVersion), Optional.empty()));
    return new Change.None();
  }

  /**
   * This instance is about to write that the claim's shares have another size: that counts from now on, and besides it
   * what they have until then.
   */
  public void resize(ClaimRef claim, List<Booking> bookings) {
    List<Booking> before = books.bookings(claim.uid());
    List<Booking> larger = before.size() != bookings.size()
        ? bookings
        : IntStream.range(0, before.size()).mapToObj(i -> bookings.get(i).max(before.get(i))).toList();
    book(claim.uid(), claim.namespace(), larger);
    resizing.put(claim.uid(), new Resizing(larger, Optional.empty()));
  }

  /** Whether that is under way. */
  public boolean isResizing(String claimUid) {
    return resizing.containsKey(claimUid);
  }

  /**
   * The write of a claim's size came to its end; what the claim takes is to be observed again.
   *
   * @param version the claim's new resourceVersion; empty if the write failed
   */
  public void resized(String claimUid, Optional<String> version) {
    @Nullable Resizing ours = resizing.remove(claimUid);
    if (ours != null && version.isPresent()) {
      resizing.put(claimUid, new Resizing(ours.bookings(), version));
    }
  }

  /**
   * This instance takes the claim's allocation back: that it is gone is then no veto.
   *
   * @return false if that is under way already
   */
  public boolean releasing(String claimUid) {
    return releasing.add(claimUid);
  }

  /** The allocation was not taken back after all. */
  public void notReleased(String claimUid) {
    releasing.remove(claimUid);
  }

  /** The assumed allocation was not written. */
  public void dropped(String claimUid) {
    if (assumed.remove(claimUid) != null) {
      unbook(claimUid);
    }
  }

  /**
   * Takes note of what the API server says of a claim.
   *
   * @param claim null if it is gone, or another one has its name
   */
  public Change observe(String claimUid, @Nullable ResourceClaim claim) {
    if (claim == null || !AllocatedClaim.isAllocated(claim)) {
      resizing.remove(claimUid);
    }
    if (claim == null) {
      assumed.remove(claimUid);
      Set<String> pods = Optional.ofNullable(seen.remove(claimUid)).map(Seen::reservedFor).orElse(Set.of());
      List<Booking> had = books.bookings(claimUid);
      Optional<String> namespace = quotas.namespaceOf(claimUid);
      releasing.remove(claimUid);
      spent.remove(claimUid);
      proposals.remove(claimUid);
      others.forget(claimUid);
      boolean freed = unbook(claimUid);
      held.deleted(claimUid, namespace, pods, had);
      return freed ? new Change.Freed(Optional.empty()) : new Change.None();
    }
    Proposal.textOf(claim).ifPresentOrElse(text -> proposals.put(claimUid, text), () -> proposals.remove(claimUid));
    if (AllocatedClaim.isAllocated(claim)) {
      List<Booking> bookings = allocated(claim);
      List<Booking> before = books.bookings(claimUid);
      assumed.remove(claimUid);
      Optional<String> onlyLooks = bookings.isEmpty() ? AllocatedClaim.nodeOfOurs(claim) : Optional.empty();
      seen.put(claimUid, new Seen(AllocatedClaim.reservedFor(claim), false, onlyLooks, Proposal.textOf(claim)));
      book(claimUid, claim.getMetadata().getNamespace(), bookings);
      return before.equals(bookings)
          ? new Change.None()
          : isLess(bookings, before) ? new Change.Shrunk() : new Change.Taken();
    }
    @Nullable Assumed ours = assumed.get(claimUid);
    String version = claim.getMetadata().getResourceVersion();
    if (ours != null && !isNewer(version, ours.writtenVersion())) {
      assumed.put(claimUid, new Assumed(ours.node(), ours.writtenVersion(), Optional.of(version)));
      return new Change.None();
    }
    if (ours == null && Proposal.isOn(claim) && !isSpent(claim) && !wasAllocated(claimUid)) {
      Optional<Proposal> counted = others.counted(claim);
      if (counted.isPresent()) {
        seen.put(claimUid, new Seen(Set.of(), true, Optional.empty(), Proposal.textOf(claim)));
        book(claimUid, claim.getMetadata().getNamespace(), counted.get().bookings());
        return new Change.None();
      }
    }
    return freed(claimUid);
  }

  /** What the claim takes: as the API server says, or as it was decided and is still to be seen. */
  private List<Booking> allocated(ResourceClaim claim) {
    String uid = claim.getMetadata().getUid();
    @Nullable Resizing ours = resizing.get(uid);
    if (ours != null && ours.isShownBy(claim)) {
      resizing.remove(uid);
    }
    return ours == null || ours.isShownBy(claim) ? AllocatedClaim.bookings(claim) : ours.bookings();
  }

  /** Whether these are the same devices, and none of them takes more. */
  private static boolean isLess(List<Booking> now, List<Booking> before) {
    return now.size() == before.size() && IntStream.range(0, now.size()).allMatch(
        i -> now.get(i).card().equals(before.get(i).card()) && now.get(i).device().equals(before.get(i).device())
            && now.get(i).memory() <= before.get(i).memory() && now.get(i).cores() <= before.get(i).cores());
  }

  private void book(String claimUid, String namespace, List<Booking> bookings) {
    books.put(claimUid, bookings);
    quotas.put(claimUid, namespace, bookings);
    held.changed(claimUid);
  }

  private boolean unbook(String claimUid) {
    quotas.remove(claimUid);
    boolean had = books.remove(claimUid);
    held.changed(claimUid);
    return had;
  }

  private boolean wasAllocated(String claimUid) {
    @Nullable Seen last = seen.get(claimUid);
    return last != null && !last.proposed();
  }

  private Change freed(String claimUid) {
    List<Booking> before = books.bookings(claimUid);
    Optional<String> decided = Optional.ofNullable(assumed.remove(claimUid)).map(Assumed::node);
    @Nullable Seen last = seen.remove(claimUid);
    boolean released = releasing.remove(claimUid);
    Optional<String> onlyLooked = Optional.ofNullable(last).flatMap(Seen::onlyLooks);
    if (!unbook(claimUid) && onlyLooked.isEmpty() && decided.isEmpty()) {
      return new Change.None();
    }
    if (last != null && last.proposed()) {
      return new Change.Freed(Optional.empty());
    }
    // of what was seen allocated, not what another instance may have proposed anew since
    Optional<String> past =
        last == null || decided.isPresent() ? Optional.ofNullable(proposals.get(claimUid)) : last.proposal();
    past.ifPresent(text -> spent.put(claimUid, text));
    boolean used = last != null && last.reservedFor().stream().anyMatch(uses);
    return new Change.Freed(
        used || released
            ? Optional.empty()
            : before.stream().findFirst().map(booking -> booking.card().node()).or(() -> onlyLooked).or(() -> decided));
  }

  private static boolean isNewer(String observed, Optional<String> written) {
    return written.isPresent() && ResourceVersion.isNewer(observed, written.get());
  }
}
