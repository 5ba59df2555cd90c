package dev.partita.controller.quota;

import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.request.ClaimRequest;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what the namespaces of every quota have, claim by claim, and says whether more is too much. It depends only on
 * the world and the claims that it was told of; no I/O. For one thread.
 */
public final class QuotaLedger {
  /**
   * More than a quota allows.
   *
   * @param why for people
   * @param hosts whether the same would be too much on another host
   * @param models on cards of which models it is too much; empty for all
   */
  public record Excess(String why, Predicate<GpuHost> hosts, Set<String> models) {}

  private record Entry(String namespace, List<Booking> bookings) {}

  private final Map<String, Entry> claims = new HashMap<>();
  private final Map<CardKey, Card> cards = new HashMap<>();
  private final Map<String, Map<String, String>> nodes = new HashMap<>(); // labels
  private List<Quota> quotas = List.of();
  private long largest; // bytes of the largest card

  /**
   * Counts everything anew: quotas, or what they select by, have changed. What a claim has of a card that is not
   * reported any more counts as it did before: its node may come back, and the claim has the card until it is released.
   * Of a card that was not reported since this began, a whole one counts like the largest that is known.
   */
  public void refresh(QuotaWorld now) {
    Set<CardKey> taken = claims.values().stream().flatMap(entry -> entry.bookings().stream()).map(Booking::card)
        .collect(Collectors.toSet());
    cards.keySet().retainAll(taken);
    nodes.keySet().retainAll(taken.stream().map(CardKey::node).collect(Collectors.toSet()));
    nodes.putAll(now.nodes());
    now.inventory().hosts().values().forEach(host -> host.cards().forEach(card -> cards.put(card.key(), card)));
    largest = cards.values().stream().mapToLong(Card::allocatableMemory).max().orElse(0);
    quotas = now.quotas().entrySet().stream().map(quota -> Quota.of(quota.getKey(), quota.getValue(), now)).toList();
    claims.values().forEach(this::add);
  }

  /** Replaces what the claim of that UID has. */
  public void put(String claimUid, String namespace, List<Booking> bookings) {
    remove(claimUid);
    if (!bookings.isEmpty()) {
      Entry entry = new Entry(namespace, List.copyOf(bookings));
      claims.put(claimUid, entry);
      add(entry);
    }
  }

  public void remove(String claimUid) {
    @Nullable Entry entry = claims.remove(claimUid);
    if (entry != null) {
      for (Quota quota : of(entry.namespace())) {
        quota.subtract(use(entry.bookings()));
        quota.limits().forEach(counted -> counted.subtract(counted(entry.bookings(), counted.limit())));
      }
    }
  }

  /** The namespace of a claim that has something. */
  public Optional<String> namespaceOf(String claimUid) {
    return Optional.ofNullable(claims.get(claimUid)).map(Entry::namespace);
  }

  /**
   * Why claims of a namespace would be too much on a host whichever of its cards they get; empty if they may not be. It
   * reckons with the least that they could take there: what they do take is for {@link #excess} to judge.
   */
  public Optional<String> refusal(String namespace, List<ClaimRequest> requests, GpuHost host) {
    for (Quota quota : of(namespace)) {
      for (Quota.Counted counted : quota.limits()) {
        if (countsAll(counted.limit(), host)) {
          Optional<String> refusal = counted.refusal(Demand.least(requests, host));
          if (refusal.isPresent()) {
            return refusal;
          }
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Why one more claim of a namespace is too much on a host, for who cannot choose where it goes, such as admission;
   * empty if it may not be.
   *
   * @param waiting what has been asked for already and may be given on that host, by namespace: it counts with the
   *        least that it could take
   */
  public Optional<String> refusal(
      String namespace,
      ClaimRequest request,
      Map<String, List<ClaimRequest>> waiting,
      GpuHost host) {
    for (Quota quota : of(namespace)) {
      List<ClaimRequest> before = waiting.entrySet().stream().filter(asked -> quota.covers(asked.getKey()))
          .flatMap(asked -> asked.getValue().stream()).toList();
      for (Quota.Counted counted : quota.limits()) {
        if (countsAll(counted.limit(), host)) {
          Optional<String> refusal = counted.refusal(Demand.least(List.of(request), host), Demand.least(before, host));
          if (refusal.isPresent()) {
            return refusal;
          }
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Whether claims of a namespace that have nothing yet are too much.
   *
   * @param bookings of each claim
   */
  public Optional<Excess> excess(String namespace, Collection<List<Booking>> bookings) {
    for (Quota quota : of(namespace)) {
      for (Quota.Counted counted : quota.limits()) {
        Optional<String> refusal = counted.refusal(sum(bookings, counted.limit()));
        if (refusal.isPresent()) {
          long largest = bookings.stream().flatMap(List::stream).mapToLong(b -> use(b).memory()).max().orElse(0);
          Limit limit = counted.limit();
          return Optional.of(new Excess(refusal.get(),
              host -> countsAll(limit, host) && Demand.smallest(host) >= largest, limit.models()));
        }
      }
    }
    return Optional.empty();
  }

  /** Whether a quota guarantees the namespace that it may have this besides what it has. */
  public boolean isGuaranteed(String namespace, Collection<List<Booking>> bookings) {
    List<Quota.Counted> limits =
        of(namespace).stream().flatMap(quota -> quota.limits().stream())
            .filter(c -> !sum(bookings, c.limit()).equals(Use.NONE)).toList();
    return !limits.isEmpty()
        && limits.stream().allMatch(c -> !Use.isMore(c.used().plus(sum(bookings, c.limit())), c.limit().guaranteed()));
  }

  /** Whether any quota guarantees the namespace anything. */
  public boolean guarantees(String namespace) {
    return of(namespace).stream().anyMatch(quota -> !quota.limits().isEmpty());
  }

  /**
   * Whether what the claim has is borrowed, at least in part: its namespaces have more than a limit that counts it
   * guarantees.
   */
  public boolean isBorrowed(String claimUid) {
    @Nullable Entry entry = claims.get(claimUid);
    return entry != null
        && of(entry.namespace()).stream()
            .flatMap(quota -> quota.limits().stream())
            .anyMatch(counted -> counted.borrows() && !counted(entry.bookings(), counted.limit()).equals(Use.NONE));
  }

  /** Whether any quota counts what both namespaces have. */
  public boolean shareAQuota(String namespace, String other) {
    return quotas.stream().anyMatch(quota -> quota.covers(namespace) && quota.covers(other));
  }

  /** The status of every quota, by its name. */
  public Map<String, GpuQuotaStatus> statuses() {
    Map<String, GpuQuotaStatus> statuses = new TreeMap<>();
    quotas.forEach(quota -> statuses.put(quota.name(), quota.status()));
    return statuses;
  }

  /**
   * What one namespace has of a limit.
   *
   * @param used in bytes, percent of a card, cards and claims
   */
  public record NamespaceUse(String namespace, Amounts used) {}

  /** Which namespaces have something of what a limit counts, by the quota's name and the limit's. */
  public Map<String, Map<String, List<NamespaceUse>>> namespaces() {
    Map<String, Map<String, List<NamespaceUse>>> all = new TreeMap<>();
    for (Quota quota : quotas) {
      Map<String, List<NamespaceUse>> limits = new TreeMap<>();
      quota.limits().forEach(counted -> limits.put(counted.limit().name(), namespaces(quota, counted.limit())));
      all.put(quota.name(), limits);
    }
    return all;
  }

  private List<NamespaceUse> namespaces(Quota quota, Limit limit) {
    Map<String, Use> uses = new TreeMap<>();
    for (Entry entry : claims.values()) {
      if (quota.covers(entry.namespace())) {
        uses.merge(entry.namespace(), counted(entry.bookings(), limit), Use::plus);
      }
    }
    uses.values().removeIf(Use.NONE::equals);
    return uses.entrySet().stream().map(use -> new NamespaceUse(use.getKey(), use.getValue().amounts())).toList();
  }

  private void add(Entry entry) {
    for (Quota quota : of(entry.namespace())) {
      quota.add(use(entry.bookings()));
      quota.limits().forEach(counted -> counted.add(counted(entry.bookings(), counted.limit())));
    }
  }

  private List<Quota> of(String namespace) {
    return quotas.stream().filter(quota -> quota.covers(namespace)).toList();
  }

  private boolean countsAll(Limit limit, GpuHost host) {
    return limit.countsNode(labels(host.name()))
        && host.cards().stream().allMatch(card -> limit.countsModel(card.model()));
  }

  private Use sum(Collection<List<Booking>> bookings, Limit limit) {
    return bookings.stream().map(ofClaim -> counted(ofClaim, limit)).reduce(Use.NONE, Use::plus);
  }

  private Use counted(List<Booking> bookings, Limit limit) {
    return use(
        bookings.stream()
            .filter(booking -> limit.countsNode(labels(booking.card().node())))
            .filter(booking -> limit.models().isEmpty()
                || Optional.ofNullable(cards.get(booking.card())).filter(c -> limit.countsModel(c.model())).isPresent())
            .toList());
  }

  private Use use(List<Booking> bookings) {
    return bookings.isEmpty() ? Use.NONE : bookings.stream().map(this::use).reduce(new Use(0, 0, 0, 1), Use::plus);
  }

  private Use use(Booking booking) {
    return switch (booking.device()) {
      case DeviceName.Whole _ -> whole(booking.card());
      // nothing holds who has turns to less than all
      case DeviceName.Shared _ -> booking.isTurn()
          ? whole(booking.card())
          : new Use(booking.memory(), booking.cores(), 1, 0);
      case DeviceName.Opaque _,DeviceName.MigShared _ -> new Use(booking.memory(), booking.cores(), 1, 0);
      case DeviceName.Mig mig -> instance(booking.card(), mig.slot());
    };
  }

  private Use whole(CardKey key) {
    @Nullable Card card = cards.get(key);
    return new Use(card == null ? largest : card.allocatableMemory(), 100, 1, 0);
  }

  /** What the instance is of its card; of a card that nobody knows, what others have by that name. */
  private Use instance(CardKey key, MigSlot slot) {
    @Nullable Card card = cards.get(key);
    return (card == null ? cards.values().stream() : Stream.of(card))
        .flatMap(each -> each.mig().kind(slot)
            .map(kind -> new Use(kind.profile().memoryBytes(), each.mig().percent(kind), 1, 0)).stream())
        .max(Comparator.comparingLong(Use::memory))
        .orElseGet(() -> whole(key));
  }

  private Map<String, String> labels(String node) {
    return nodes.getOrDefault(node, Map.of());
  }
}
