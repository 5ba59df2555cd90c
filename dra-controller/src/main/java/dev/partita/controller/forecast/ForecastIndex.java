package dev.partita.controller.forecast;

import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.HostCapacities.Capacity;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.budget.OverBudgetException;
import dev.partita.controller.index.CardClass;
import dev.partita.controller.index.ChangeLog;
import dev.partita.controller.index.HostIndex;
import dev.partita.controller.index.HostState;
import dev.partita.controller.index.RequestMatcher;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.lru.LruMap;
import dev.partita.controller.match.Taking;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keeps, for every kind of pod, what its placement on each host costs the pods that are expected later. A cost is kept
 * until the host or the expected demand changes. For one thread.
 */
public final class ForecastIndex {
  /** Kinds of pods whose costs are kept. */
  private static final int MAX_KINDS = 512;

  private final DemandHistory history;
  private final HostCapacities capacities;
  private final ForecastHosts hosts = new ForecastHosts();
  private final IdentityHashMap<CardClass, Integer> kinds = new IdentityHashMap<>();
  private Inventory inventory = Inventory.EMPTY;
  private ChangeLog.Moment seen = ChangeLog.Moment.NEVER;
  private boolean outdated = true;
  private long snapshotNumber = -1;
  private Optional<Forecast> forecast = Optional.empty();
  private Optional<Scarcity> scarcity = Optional.empty();
  private final Map<DemandHistory.Kind, PlacementCosts> costs = new LruMap<>(MAX_KINDS);

  public ForecastIndex(DemandHistory history, HostCapacities capacities) {
    this.history = history;
    this.capacities = capacities;
  }

  /**
   * Whether pods are known to take CPU or memory from the hosts. As long as they do not, the order of free cards says
   * all there is to say.
   */
  public boolean hasForecast() {
    return history.snapshot().needsRoom();
  }

  /**
   * Follows hosts and their capacities. As long as there is no forecast, only once in a while: it would be of no use.
   */
  public void follow(HostIndex index) {
    if (inventory == index.inventory() && !hasForecast()) {
      return;
    }
    Map<String, HostState> hostStates = index.hostStates();
    Set<String> names = new HashSet<>(capacities.takeChanged());
    Optional<Set<String>> changed = index.changes().since(seen);
    boolean anew = changed.isEmpty() || inventory != index.inventory();
    seen = index.changes().now();
    inventory = index.inventory();
    if (anew) {
      hosts.clear();
      kinds.clear();
      for (HostState hostState : hostStates.values()) {
        for (int i = 0; i < hostState.positions().size(); i++) {
          kinds.putIfAbsent(hostState.cardClass(i), kinds.size());
        }
      }
      hostStates.values().forEach(hostState -> hosts.add(hostState, host(hostState)));
      costs.clear();
      outdated = true;
    } else {
      names.addAll(changed.get());
      for (String name : names) {
        int position = hosts.position(name);
        @Nullable HostState hostState = hostStates.get(name);
        if (position >= 0 && hostState != null) {
          hosts.replace(position, hostState, host(hostState));
        }
      }
    }
  }

  /** Follows what is asked for. */
  public void refresh(Function<DeviceRequest, RequestMatcher> matchers) {
    if (outdated || history.snapshot().number() != snapshotNumber) {
      outdated = false;
      learn(matchers);
    }
  }

  private ForecastHost host(HostState hostState) {
    Capacity capacity = capacities.of(hostState.host().name());
    ToIntFunction<CardClass> numbers = cardClass -> kinds.getOrDefault(cardClass, 0);
    return ForecastHost.of(hostState, capacity, ForecastHost.empty(hostState, capacity, numbers), numbers);
  }

  private void learn(Function<DeviceRequest, RequestMatcher> matchers) {
    DemandHistory.Snapshot snapshot = history.snapshot();
    snapshotNumber = snapshot.number();
    List<Frequency> frequencies = new ArrayList<>();
    try {
      snapshot.arrivals().forEach(
          (kind, arrivals) -> demand(kind, matchers)
              .ifPresent(demand -> frequencies.add(new Frequency(demand, arrivals))));
    } catch (OverBudgetException e) {
      // What some pods ask for takes too long to judge: the others are decided by what is known, and this is known in
      // part next time.
    }
    // Where nothing can be foreseen now, what was is of no use: the kinds of cards have other numbers.
    scarcity = frequencies.isEmpty() ? Optional.empty() : Optional.of(new Scarcity(frequencies, hosts.empty()));
    forecast = scarcity.map(fresh -> new Forecast(frequencies, fresh));
    costs.clear();
  }

  /**
   * The kind of pod in the forecast's terms, rounded down as what is free is: what fits in bytes fits in parts, too;
   * empty if which cards will do does not follow from their kinds.
   */
  private Optional<Demand> demand(DemandHistory.Kind kind, Function<DeviceRequest, RequestMatcher> matchers) {
    int[] memory = new int[kinds.size()];
    int[] cores = new int[kinds.size()];
    Arrays.fill(memory, -1);
    int count = 0;
    if (kind.request().isPresent()) {
      RequestMatcher matcher = matchers.apply(kind.request().get());
      if (!matcher.ofKinds() || !(kind.request().get().count() instanceof DeviceRequest.Count.Exactly(int devices))) {
        return Optional.empty();
      }
      count = devices;
      AtomicBoolean otherwise = new AtomicBoolean();
      kinds.forEach(
          (cardClass, number) -> matcher.ofKind(cardClass).ifPresent(
              match -> {
                if (!match.takes().isAmount()) {
                  otherwise.set(true);
                  return;
                }
                boolean whole = match.takes() == Taking.CARD;
                long allocatable = Math.max(1, match.device().card().allocatableMemory());
                memory[number] = whole ? Demand.CARD : (int) (match.memory() * Demand.CARD / allocatable);
                cores[number] = whole ? Demand.CARD : match.cores() * (Demand.CARD / Account.CORES);
              }));
      if (otherwise.get()) {
        return Optional.empty(); // the forecast knows amounts alone
      }
    }
    return Optional
        .of(new Demand(ForecastHost.cpu(kind.needs()), ForecastHost.mebibytes(kind.needs()), count, memory, cores));
  }

  /**
   * Where pods of that kind fit, by what it costs.
   *
   * @return empty if the forecast cannot say
   */
  Optional<CheapestHosts> cheapest(DemandHistory.Kind kind, Function<DeviceRequest, RequestMatcher> matchers) {
    @Nullable PlacementCosts known = costs.get(kind);
    if (known == null) {
      Optional<Demand> demand = demand(kind, matchers);
      if (demand.isEmpty()) {
        return Optional.empty();
      }
      known = new PlacementCosts(demand.get(), forecast, scarcity);
      costs.put(kind, known);
    }
    known.refresh(hosts);
    return Optional.of(new CheapestHosts(hosts, known));
  }
}
