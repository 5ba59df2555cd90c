package dev.partita.controller.index;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.booking.Books;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the cards of all hosts in the order in which a request would take them, so that the best one is looked up and
 * not searched for. It follows an inventory and the books: when a decision changes something, only the hosts concerned
 * are put in order anew. For one thread.
 */
public final class HostIndex {
  /** Kinds of claims for which an order of all hosts is kept: each takes memory for every host. */
  private static final int MAX_RANKINGS = 32;

  /** Requests whose matchers are remembered. */
  private static final int MAX_MATCHERS = 512;

  /** Characters of selectors that are remembered in all, once for matchers and once for orders. */
  private static final int MOST_CHARACTERS = 2 << 20;

  private final Books books;
  private final SortedMap<String, HostState> hostStates = new TreeMap<>();
  private final Map<CardKind, CardClass> cardClasses = new HashMap<>();
  private final Map<CardPosition.Key, CardPosition> positions = new HashMap<>();
  private final Map<HostShape, WholeCardIndex> wholeCardIndexes = new HashMap<>();
  private final Map<String, Set<String>> hostsByUuid = new HashMap<>();
  private final ChangeLog changes = new ChangeLog();
  private final Cache<Ranking.Kind, Ranking> rankings = remembering(MAX_RANKINGS, Ranking.Kind::characters);
  private final Cache<DeviceRequest, RequestMatcher> matchers =
      remembering(MAX_MATCHERS, DeviceRequest::characters);
  private Inventory inventory = Inventory.EMPTY;

  public HostIndex(Books books) {
    this.books = books;
  }

  /** Forgets all that was computed from inventory and books: it is computed anew when it is needed next. */
  public void forget() {
    hostStates.clear();
    cardClasses.clear();
    positions.clear();
    wholeCardIndexes.clear();
    hostsByUuid.clear();
    rankings.invalidateAll();
    matchers.invalidateAll();
    inventory = Inventory.EMPTY;
  }

  /** Follows the books, and the inventory if it is another one than last time. */
  public void refresh(Inventory now) {
    if (now != inventory) {
      follow(now);
      inventory = now;
    }
    for (String node : books.takeChangedNodes()) {
      @Nullable HostState before = hostStates.get(node);
      if (before != null) {
        remove(before);
        add(before.now(books));
      }
    }
  }

  /** What it followed last. */
  public Inventory inventory() {
    return inventory;
  }

  public Accounts accounts() {
    return books;
  }

  /** All hosts by name. */
  public SortedMap<String, HostState> hostStates() {
    return Collections.unmodifiableSortedMap(hostStates);
  }

  /** All hosts in the order in which claims of that kind would take them: kept from one decision to the next. */
  Ranking ranking(Ranking.Kind kind, Supplier<Ranking> first) {
    @Nullable Ranking known = rankings.getIfPresent(kind);
    if (known == null) {
      known = first.get();
      rankings.put(kind, known);
    }
    return known;
  }

  /** Finds what could serve the request if nothing were taken: kept until kinds of cards go. */
  public RequestMatcher matcher(DeviceRequest request, Function<DeviceRequest, RequestMatcher> first) {
    @Nullable RequestMatcher known = matchers.getIfPresent(request);
    if (known == null) {
      known = first.apply(request);
      matchers.put(request, known);
    }
    return known;
  }

  /**
   * What was used last, as many as that, or fewer where their selectors are long.
   *
   * @param characters of the selectors of one
   */
  private static <K, V> Cache<K, V> remembering(int most, ToLongFunction<K> characters) {
    int least = MOST_CHARACTERS / most;
    return CacheBuilder.newBuilder().concurrencyLevel(1).maximumWeight(MOST_CHARACTERS)
        .weigher((K key, V _) -> Math.clamp(characters.applyAsLong(key), least, MOST_CHARACTERS + 1)).build();
  }

  public ChangeLog changes() {
    return changes;
  }

  /** The hosts that have one of these devices, in order of name. */
  Collection<HostState> withDevices(Set<String> uuids) {
    SortedMap<String, HostState> hosts = new TreeMap<>();
    for (String uuid : uuids) {
      for (String host : hostsByUuid.getOrDefault(uuid, Set.of())) {
        hosts.put(host, Objects.requireNonNull(hostStates.get(host), host));
      }
    }
    return hosts.values();
  }

  /** One for each kind of card that there is. */
  public Collection<CardClass> cardClasses() {
    return Collections.unmodifiableCollection(cardClasses.values());
  }

  /** One for each shape of hosts that there is. */
  Collection<WholeCardIndex> wholeCardIndexes() {
    return Collections.unmodifiableCollection(wholeCardIndexes.values());
  }

  private void follow(Inventory now) {
    boolean gone = false;
    for (HostState hostState : List.copyOf(hostStates.values())) {
      if (!hostState.host().equals(now.host(hostState.host().name()))) {
        remove(hostState);
        hostStates.remove(hostState.host().name());
        changes.add(hostState.host().name());
        uuids(hostState.host())
            .forEach(uuid -> hostsByUuid.computeIfPresent(uuid, (u, hosts) -> without(hosts, hostState.host().name())));
        gone = true;
      }
    }
    for (GpuHost host : now.hosts().values()) {
      if (!hostStates.containsKey(host.name())) {
        add(hostState(host));
        uuids(host).forEach(uuid -> hostsByUuid.computeIfAbsent(uuid, u -> new TreeSet<>()).add(host.name()));
      }
    }
    if (gone) {
      Set<CardClass> used = new HashSet<>();
      hostStates.values().forEach(
          hostState -> hostState.positions().forEach(position -> used.add(position.cardClass())));
      boolean kindsGone = cardClasses.values().retainAll(used);
      positions.values().removeIf(position -> !used.contains(position.cardClass()));
      wholeCardIndexes.values().removeIf(wholeCards -> wholeCards.byUntouched().isEmpty());
      if (kindsGone) { // of which both remember what serves their requests
        matchers.invalidateAll();
        rankings.invalidateAll();
      }
    }
  }

  private HostState hostState(GpuHost host) {
    Map<CardKey, List<Device>> devices = host.devicesByCard();
    List<CardPosition> ofCards = new ArrayList<>();
    for (Card card : host.cards()) {
      List<Device> offered = devices.getOrDefault(card.key(), List.of());
      CardKind kind = new CardKind(card.allocatableMemory(), offered.stream().map(CardKind.DeviceKind::new).toList());
      CardClass cardClass = cardClasses.computeIfAbsent(kind, k -> new CardClass(offered));
      ofCards.add(positions.computeIfAbsent(CardPosition.Key.of(cardClass, card, offered),
          key -> new CardPosition(key, offered)));
    }
    WholeCardIndex wholeCards =
        wholeCardIndexes.computeIfAbsent(
            HostShape.of(ofCards.stream().map(CardPosition::cardClass).toList(), host.devices()),
            shape -> new WholeCardIndex());
    return HostState.of(host, List.copyOf(ofCards), wholeCards, books);
  }

  private void add(HostState hostState) {
    hostStates.put(hostState.host().name(), hostState);
    changes.add(hostState.host().name());
    hostState.wholeCards().add(hostState.untouched(), IndexEntry.of(0, hostState));
    for (HostState.FreePart part : hostState.freeParts()) {
      part.cardClass().add(part.untouched(), part.cores(), IndexEntry.of(part.memory(), hostState));
    }
  }

  private static List<String> uuids(GpuHost host) {
    return host.devices().stream().flatMap(device -> device.attribute(DeviceAttribute.UUID).stream())
        .map(AttributeValue::toString).distinct().toList();
  }

  private static @Nullable Set<String> without(Set<String> hosts, String host) {
    hosts.remove(host);
    return hosts.isEmpty() ? null : hosts;
  }

  private void remove(HostState hostState) {
    hostState.wholeCards().remove(hostState.untouched(), IndexEntry.of(0, hostState));
    for (HostState.FreePart part : hostState.freeParts()) {
      part.cardClass().remove(part.untouched(), part.cores(), IndexEntry.of(part.memory(), hostState));
    }
  }
}
