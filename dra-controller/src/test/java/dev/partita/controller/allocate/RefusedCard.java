package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.config.GpuShareConfig.Choice;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.booking.Books;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.CardRefusal;
import dev.partita.controller.reasons.Explanation;
import dev.partita.controller.reasons.NodeRefusal;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * A card, what is taken of it and a request: what has to be changed for what is said against the card to go away.
 *
 * @param node the card's, on which it is alone
 * @param taken of it
 */
record RefusedCard(GpuNode node, List<Booking> taken, DeviceRequest request) {
  /** More than any reason has company. */
  private static final int MOST_REASONS = 12;

  /** @param taken of any card */
  static RefusedCard of(GpuNode node, int index, List<Booking> taken, DeviceRequest request) {
    List<Gpu> alone =
        Objects.requireNonNull(node.getStatus()).gpus().stream().filter(gpu -> gpu.index() == index).toList();
    String name = node.getMetadata().getName();
    List<Booking> its = taken.stream().filter(booking -> booking.card().equals(new CardKey(name, index))).toList();
    return new RefusedCard(GpuNodes.ready(name, node.getSpec(), alone), its, request);
  }

  /** Who satisfies the reasons one by one meets none of them again, and can have the card in the end. */
  void assertReasonsGoAway(Allocator allocator) {
    RefusedCard now = this;
    for (int i = 0; i < MOST_REASONS; i++) {
      Optional<CardRefusal> why = now.refusal(allocator);
      if (why.isEmpty()) {
        return;
      }
      now = now.satisfied(why.get());
      Optional<CardRefusal> next = now.refusal(allocator);
      assertThat(next).as("%s, once that is satisfied", why.get()).isNotEqualTo(why);
      if (isSaidOnce(why.get())) {
        next.ifPresent(again -> assertThat(again).as("%s, once that is satisfied", why.get())
            .isNotInstanceOf(why.get().getClass()));
      }
    }
    throw new AssertionError(this + " is still refused: " + now.refusal(allocator));
  }

  /** Selectors, capacities and profiles are several, and each is named by itself. */
  private static boolean isSaidOnce(CardRefusal why) {
    return !(why instanceof CardRefusal.NotSelected
        || why instanceof CardRefusal.OtherModel
        || why instanceof CardRefusal.NoSuchCapacity
        || why instanceof CardRefusal.NotLimited
        || why instanceof CardRefusal.NoMoreOfProfile);
  }

  private Optional<CardRefusal> refusal(Allocator allocator) {
    Books books = new Books();
    books.put("others", taken);
    FreeCards cards = new FreeCards(books);
    cards.refresh(Inventory.EMPTY.refreshed(List.of(node)));
    // So many that there are never enough: every card that cannot serve the request is named.
    DeviceRequest many = Requests.counted(request, new DeviceRequest.Count.Exactly(1_000));
    Explanation explanation = allocator.explain(List.of(Requests.claim("c", many)), host -> Optional.empty(), cards);
    NodeRefusal.CardsUnfit unfit = (NodeRefusal.CardsUnfit) explanation.nodes().getFirst();
    return unfit.refusals().values().stream().findFirst();
  }

  private RefusedCard satisfied(CardRefusal why) {
    Placement placement = request.placement();
    return switch (why) {
      case CardRefusal.MemoryTaken _,CardRefusal.CoresTaken _,CardRefusal.HasShares _,CardRefusal.SharesInTheWay _ ->
          without(its -> its.device().mode() == DeviceMode.SHARED);
      case CardRefusal.TakenInTurn _,CardRefusal.LimitedShares _,CardRefusal.SharedByMps _,CardRefusal.SharesNotByMps _ ->
          without(its -> its.device().mode() == DeviceMode.SHARED);
      case CardRefusal.InstanceHasShares _ -> without(its -> its.device().mode() == DeviceMode.MIG_SHARED);
      case CardRefusal.NoMoreTurns _ ->
          without(taken.stream().filter(Booking::isTurn).findFirst().orElseThrow()::equals);
      case CardRefusal.NotLimited(String capacity) when capacity.equals("cores") ->
          asking(Requests.amounting(request, request.memory(), OptionalLong.empty()));
      case CardRefusal.NotLimited _ ->
          asking(Requests.amounting(request, new MemoryRequest.Unsaid(), request.cores()));
      case CardRefusal.NoMoreByMps _ ->
          without(taken.stream().filter(Booking::mps).findFirst().orElseThrow()::equals);
      case CardRefusal.NotSharable _ -> asking(Requests.sharing(request, Sharing.LIMITS));
      case CardRefusal.TakenWhole _ -> without(its -> its.device().mode() == DeviceMode.WHOLE);
      case CardRefusal.CutIntoInstances _ -> without(its -> its.device().mode() == DeviceMode.MIG);
      case CardRefusal.PlacementsOverlap overlap ->
          without(its -> its.device() instanceof DeviceName.Mig mig && overlap.others().contains(mig.slot()));
      case CardRefusal.NoMoreOfProfile(String profile, int _) -> {
        Booking one = taken.stream()
            .filter(its -> its.device().toString().contains("-mig-" + profile.replaceAll("[.+]", "-") + "-"))
            .findFirst().orElseThrow();
        yield without(one::equals);
      }
      case CardRefusal.Tainted _ -> with(gpu -> gpu.withHealth(GpuHealth.HEALTHY), node.getSpec());
      case CardRefusal.OtherMode _ -> {
        GpuNodeSpec spec = node.getSpec();
        GpuNodeSpec all = new GpuNodeSpec(spec.allocator(), List.of(GpuNodeSpec.PublishedMode.values()),
            spec.reservedMemory(), spec.memoryPercent());
        yield with(gpu -> gpu.migProfiles().isEmpty() ? gpu.withMigProfiles(GpuNodes.h200Profiles()) : gpu, all);
      }
      case CardRefusal.CutByHand _ -> with(gpu -> gpu.withStaticMigInstances(List.of()), node.getSpec());
      case CardRefusal.OtherModel(String _, String asked) when request.selectors().stream().anyMatch(names(asked)) ->
          withoutSelector(names(asked));
      case CardRefusal.OtherModel _,CardRefusal.AvoidedModel _ ->
          asking(Requests.on(request, Choice.ANY, placement.uuids()));
      case CardRefusal.OtherCard _,CardRefusal.AvoidedCard _ ->
          asking(Requests.on(request, placement.models(), Choice.ANY));
      case CardRefusal.NotSelected(String _, String expression) ->
          withoutSelector(selector -> selector.expression().equals(expression));
      case CardRefusal.SelectorFailed failed -> throw new AssertionError(failed + " was not asked for");
      case CardRefusal.HeldOnNode _ -> throw new AssertionError(why + ": no node holds anything");
      case CardRefusal.NotOnOpaque _ -> throw new AssertionError(why + ": no card is opaque");
      case CardRefusal.NotOffered _ -> throw new AssertionError(why + ": no node withholds a card");
      case CardRefusal.TooSmall(long total, long _, String _) ->
          asking(Requests.amounting(request, new MemoryRequest.Bytes(total), request.cores()));
      case CardRefusal.TooManyCores _ ->
          asking(Requests.amounting(request, request.memory(), OptionalLong.of(Account.CORES)));
      case CardRefusal.NoSuchCapacity(DeviceMode _, String capacity) when capacity.equals("cores") ->
          asking(Requests.amounting(request, request.memory(), OptionalLong.empty()));
      case CardRefusal.NoSuchCapacity _ ->
          asking(Requests.amounting(request, new MemoryRequest.Unsaid(), request.cores()));
      case CardRefusal.NotOversubscribed _ ->
          asking(Requests.oversubscribed(request, GpuShareConfig.NOT_OVERSUBSCRIBED));
      case CardRefusal.NotExclusive _ ->
          asking(Requests.placed(request, new Placement(placement.nodes(), placement.gpus(), placement.numa(),
              placement.nvlink(), placement.models(), placement.uuids(), false)));
    };
  }

  private static Predicate<DeviceRequest.Selector> names(String value) {
    return selector -> selector.expression().contains("\"" + value + "\"");
  }

  private RefusedCard asking(DeviceRequest other) {
    return new RefusedCard(node, taken, other);
  }

  private RefusedCard withoutSelector(Predicate<DeviceRequest.Selector> gone) {
    return asking(Requests.selected(request, request.selectors().stream().filter(gone.negate()).toList()));
  }

  private RefusedCard without(Predicate<Booking> givenBack) {
    return new RefusedCard(node, taken.stream().filter(givenBack.negate()).toList(), request);
  }

  private RefusedCard with(UnaryOperator<Gpu> change, GpuNodeSpec spec) {
    List<Gpu> changed = Objects.requireNonNull(node.getStatus()).gpus().stream().map(change).toList();
    return new RefusedCard(GpuNodes.ready(node.getMetadata().getName(), spec, changed), taken, request);
  }
}
