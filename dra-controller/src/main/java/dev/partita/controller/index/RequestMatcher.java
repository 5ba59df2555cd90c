package dev.partita.controller.index;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.match.MatchResult;
import dev.partita.controller.request.DeviceRequest.Modes;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says which devices could serve a request if nothing were taken of them. Cards of one class are judged once where the
 * request allows it.
 */
public final class RequestMatcher {
  private final Eligibility eligibility;
  private final DeviceRequest request;
  private final boolean ofKinds;
  private final Optional<Set<String>> uuids;
  private final boolean ofPositions;
  private final Map<CardGroup, List<Match>> known = new HashMap<>();
  private @Nullable CardGroup lastCards;
  private List<Match> lastDevices = List.of();

  public RequestMatcher(Eligibility eligibility, DeviceSelectors selectors, DeviceRequest request) {
    this.eligibility = eligibility;
    this.request = request;
    Choice uuidsAsked = request.placement().uuids();
    this.ofKinds = uuidsAsked.isAny()
        && request.selectors().stream().noneMatch(s -> selectors.mayRead(s.expression(), CardKind.DIFFERING));
    this.ofPositions = uuidsAsked.isAny()
        && request.selectors().stream().noneMatch(s -> selectors.mayRead(s.expression(), CardPosition.DIFFERING));
    this.uuids =
        uuidsAsked.choose().isEmpty()
            ? request.selectors().stream().flatMap(s -> selectors.onlyUuids(s.expression()).stream()).findFirst()
            : Optional.of(uuidsAsked.choose());
  }

  /** The UUIDs of the only devices that can serve the request, if it names them. */
  Optional<Set<String>> uuids() {
    return uuids;
  }

  public DeviceRequest request() {
    return request;
  }

  /** Whether it is the same for all cards of a kind. */
  public boolean ofKinds() {
    return ofKinds;
  }

  /** Whether it is the same for all cards of a kind that are at the same position of their hosts. */
  public boolean ofPositions() {
    return ofPositions;
  }

  /**
   * What could serve the request of the card at that position, for requests that go by {@linkplain #ofPositions
   * positions}: one device, or MIG instances, of any card of its group.
   */
  List<Match> at(HostState hostState, int position) {
    return devicesOf(group(hostState, position));
  }

  /** The group of that card: all of its cards serve the request in the same way, if it goes by positions. */
  public CardGroup group(HostState hostState, int position) {
    return ofKinds ? hostState.cardClass(position) : hostState.positions().get(position);
  }

  /** The first match on a card of that kind; empty if no device of it can serve the request. */
  public Optional<Match> ofKind(CardClass kind) {
    List<Match> devices = devicesOf(kind);
    return devices.isEmpty() ? Optional.empty() : Optional.of(devices.getFirst());
  }

  /** The modes in which cards of that kind may serve the request; too many where that depends on the card. */
  public Set<DeviceMode> modes(CardClass kind) {
    Stream<Device> devices = ofKinds ? devicesOf(kind).stream().map(Match::device) : kind.example().stream();
    return devices.map(Device::mode).collect(Collectors.toSet());
  }

  /**
   * What could serve the request of the host: of every card one device, or MIG instances, unless any mode serves the
   * request.
   */
  public List<Match> on(HostState hostState) {
    return ofPositions ? byGroup(hostState) : oneByOne(hostState.host());
  }

  /** Remembers the last group: most hosts have cards of one kind only, the same as the host before. */
  private List<Match> devicesOf(CardGroup cards) {
    if (cards != lastCards) {
      lastDevices = known.computeIfAbsent(cards, c -> chosen(c.example()));
      lastCards = cards;
    }
    return lastDevices;
  }

  private List<Match> byGroup(HostState hostState) {
    List<Card> cards = hostState.host().cards();
    List<Match> matches = new ArrayList<>(cards.size());
    int position = 0;
    for (Device device : hostState.host().devices()) {
      // Devices of a card follow each other.
      for (int looked = 0; looked < cards.size()
          && cards.get(position).key().index() != device.card().key().index(); looked++) {
        position = (position + 1) % cards.size();
      }
      List<Match> ofPosition = at(hostState, position);
      for (int i = 0; i < ofPosition.size(); i++) {
        Match match = ofPosition.get(i);
        if (match.device().isLike(device)) {
          matches.add(match.on(device));
        }
      }
    }
    return matches;
  }

  private List<Match> oneByOne(GpuHost host) {
    return host.devicesByCard().values().stream().flatMap(devices -> chosen(devices).stream()).toList();
  }

  /** Of the devices of one card those that serve the request. */
  private List<Match> chosen(Collection<Device> devices) {
    return serving(devices.stream().map(device -> eligibility.inPrinciple(device, request)).toList());
  }

  /** Of the results for a card's devices, were nothing taken of it, the matches that serve the request. */
  public List<Match> serving(Collection<MatchResult> inPrinciple) {
    if (request.modes() == Modes.ANY) {
      return inAnyMode(inPrinciple);
    }
    List<Match> instances = new ArrayList<>();
    Optional<Match> undivided = Optional.empty();
    for (MatchResult result : inPrinciple) {
      if (result instanceof Match match) {
        if (match.device().mode().isOfInstances()) {
          instances.add(match);
        } else {
          undivided = Optional.of(undivided.map(other -> preferred(other, match)).orElse(match));
        }
      }
    }
    return undivided.isPresent() ? List.of(undivided.get()) : withoutInferredShares(instances);
  }

  /**
   * Shares of MIG instances serve a request whose selectors match nothing else of the card: they are never inferred.
   */
  private static List<Match> withoutInferredShares(List<Match> matches) {
    List<Match> others = matches.stream().filter(match -> match.device().mode() != DeviceMode.MIG_SHARED).toList();
    return others.isEmpty() ? List.copyOf(matches) : others;
  }

  /** Every match. For adminAccess a card as a whole and the same card in shares are one device. */
  private List<Match> inAnyMode(Collection<MatchResult> inPrinciple) {
    List<Match> matches = withoutInferredShares(
        inPrinciple.stream().filter(Match.class::isInstance).map(Match.class::cast).toList());
    boolean whole = matches.stream().anyMatch(match -> match.device().mode() == DeviceMode.WHOLE);
    boolean once = whole && request.isAdminAccess();
    return once ? matches.stream().filter(match -> match.device().mode() != DeviceMode.SHARED).toList() : matches;
  }

  /**
   * The mode that is inferred where a class matches a card in several: without memory and cores it is the whole card,
   * otherwise a share. MIG instances serve the request where nothing else is matched.
   */
  private Match preferred(Match a, Match b) {
    DeviceMode wanted = !request.memory().isSaid() && request.cores().isEmpty() ? DeviceMode.WHOLE : DeviceMode.SHARED;
    return b.device().mode() == wanted ? b : a;
  }
}
