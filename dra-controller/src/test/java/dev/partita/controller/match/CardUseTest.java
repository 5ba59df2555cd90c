package dev.partita.controller.match;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.api.node.GpuNodeSpec.PublishedMode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Account;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.MatchResult.Match;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.DeviceRequest.Access;
import dev.partita.controller.request.DeviceRequest.Modes;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The answers of every strategy in the controller, in one table. */
class CardUseTest {
  private static final long GIB = GpuNodes.GIB;
  private static final MemoryRequest EIGHT = new MemoryRequest.Bytes(8 * GIB);
  private static final CapacityRequest TURN =
      new CapacityRequest(new MemoryRequest.Unsaid(), OptionalLong.empty(), 100,
          new Sharing.TimeSlicing(TimeSlice.LONG));
  private static final GpuNodeSpec EVERY_MODE =
      new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(PublishedMode.values()), null);
  private static final GpuHost HOST =
      Objects.requireNonNull(
          Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", EVERY_MODE, Stream.concat(
              GpuNodes.migCards("node-0", 1).stream(), Stream.of(GpuNodes.opaqueCard("node-0", 140 * GIB))).toList())))
              .host("node-0"));

  /** The same node after somebody has cut its card. */
  private static final GpuHost CUT_BY_HAND =
      Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", EVERY_MODE, List.of(
          GpuNodes.cutShareably(GpuNodes.migCards("node-0", 1).getFirst(), "1g.18gb:3"))))).host("node-0"));

  /**
   * What a strategy says of an H200.
   *
   * @param device which device of it is had, by a request for 8 GiB where it is shared, and 25 % cores where there are
   *        any
   * @param booked device, bytes and percent
   * @param least GiB that a quota counts of a request for 8 GiB, where the smallest device has 16
   */
  private record Answers(
      Class<? extends SharingStrategy> strategy,
      String device,
      Taking takes,
      Optional<String> booked,
      long least,
      String words) {}

  private static Stream<Answers> table() {
    return Stream.of(
        new Answers(SharingStrategy.HookedShare.class, "gpu-0-shared", Taking.SHARE,
            Optional.of("gpu-0-shared 8589934592 25"), 8, "8 GiB of it, 25 % cores"),
        new Answers(SharingStrategy.ExclusiveShare.class, "gpu-0-shared", Taking.CARD, Optional.of("gpu-0 0 0"), 16,
            "8 GiB of it, 25 % cores, nobody else on the card"),
        new Answers(SharingStrategy.TimeSlicing.class, "gpu-0-shared", Taking.TURNS, Optional.of("gpu-0-shared 0 0"),
            16,
            "all of it by time-slicing with other claims, neither memory nor cores limited"),
        new Answers(SharingStrategy.Mps.class, "gpu-0-shared", Taking.MPS,
            Optional.of("gpu-0-shared 8589934592 25 mps"), 8,
            "8 GiB of it by MPS beside other claims, 25 % of its multiprocessors at most"),
        new Answers(SharingStrategy.BookedShare.class, "gpu-100-opaque", Taking.SHARE,
            Optional.of("gpu-100-opaque 8589934592 25"), 8,
            "8 GiB and 25 % cores of it, which is only counted: nothing enforces it"),
        new Answers(SharingStrategy.WholeCard.class, "gpu-0", Taking.CARD, Optional.of("gpu-0 0 0"), 16, "all of it"),
        new Answers(SharingStrategy.MigInstance.class, "gpu-0-mig-1g-18gb-3", Taking.INSTANCE,
            Optional.of("gpu-0-mig-1g-18gb-3 0 0"), 16, "MIG instance 1g.18gb of it"),
        new Answers(SharingStrategy.InstanceShare.class, "gpu-0-mig-1g-18gb-3-shared", Taking.INSTANCE_SHARE,
            Optional.of("gpu-0-mig-1g-18gb-3-shared 8589934592 0"), 8, "8 GiB of MIG instance 1g.18gb of it"),
        new Answers(SharingStrategy.AdminAccess.class, "gpu-0-shared", Taking.NOTHING, Optional.empty(), 0,
            "admin access to it"));
  }

  @ParameterizedTest
  @MethodSource("table")
  void everyStrategyAnswersInTheController(Answers expected) {
    DeviceRequest request = request(expected);
    Match match = match(expected);
    assertThat(
        new Answers(request.strategy(match.device().name()).getClass(), match.device().name().toString(), match.takes(),
            match.booking().map(booking -> booking.device() + " " + booking.memory() + " " + booking.cores()
                + (booking.mps() ? " mps" : "")),
            match.use().leastMemory(EIGHT, 16 * GIB) / GIB, match.use().words("it", match, request.oversubscribe())))
        .isEqualTo(expected);
  }

  @Test
  void theTableHasEveryStrategy() {
    assertThat(table().map(Answers::strategy)).containsExactlyInAnyOrderElementsOf(
        Arrays.stream(SharingStrategy.class.getPermittedSubclasses()).<Class<? extends SharingStrategy>>map(
            strategy -> strategy.asSubclass(SharingStrategy.class)).toList());
    assertThat(table().map(row -> match(row).use().getClass().getName()))
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(CardUse.class.getPermittedSubclasses()).map(Class::getName).toList());
  }

  /** The strategies that can meet on one card. */
  private static List<Answers> ofOneCard() {
    return table().filter(row -> row.strategy() != SharingStrategy.BookedShare.class).toList();
  }

  @Test
  void aShareOfAnOpaqueCardIsBesideOthersAsFarAsTheBooksHaveThem() {
    Match share = match(table().filter(row -> row.strategy() == SharingStrategy.BookedShare.class).findFirst()
        .orElseThrow());
    Account there = new Match(share.device(), 133 * GIB, 0, share.use()).after(Account.EMPTY);
    assertThat(share.use().clash(share, there)).contains(new CardRefusal.MemoryTaken(7 * GIB, 8 * GIB));
    assertThat(share.use().clash(share, Account.EMPTY)).isEmpty();
    Device opaque = device("gpu-100-opaque");
    assertThat(HOST.devices()).filteredOn(device -> device.card().gpu().isOpaque()).as("in one way only")
        .containsExactly(opaque);
    DeviceRequest alone = new DeviceRequest("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
        CapacityRequest.of(OptionalLong.empty(), OptionalLong.empty()), List.of(), Placement.DEFAULT.alone(),
        Access.OWN, Modes.INFERRED);
    assertThat(CardUse.of(alone.strategy(opaque.name())).match(opaque, alone)).asString()
        .contains("placement.exclusive", "nothing does on an opaque card");
  }

  @Test
  void everyStrategySaysWhatOfOthersIsInItsWay() {
    List<String> said = new ArrayList<>();
    for (Answers present : ofOneCard()) {
      for (Answers wanted : ofOneCard()) {
        Account there = match(present).after(Account.EMPTY);
        Match match = match(wanted);
        match.use().clash(match, there).ifPresent(
            why -> said.add(wanted.strategy().getSimpleName() + " beside " + present.strategy().getSimpleName() + ": "
                + why));
      }
    }
    assertThat(said).containsExactly(
        "ExclusiveShare beside HookedShare: the whole card is asked for, but it has 1 share",
        "TimeSlicing beside HookedShare: time-slicing is asked for, which limits nobody, but the card has 1 share with limits",
        "Mps beside HookedShare: MPS is asked for, but the card has 1 share that is not by MPS",
        "WholeCard beside HookedShare: the whole card is asked for, but it has 1 share",
        "MigInstance beside HookedShare: a MIG instance is asked for, but the card has 1 share",
        "InstanceShare beside HookedShare: a MIG instance is asked for, but the card has 1 share",
        "HookedShare beside ExclusiveShare: taken as a whole",
        "ExclusiveShare beside ExclusiveShare: taken as a whole",
        "TimeSlicing beside ExclusiveShare: taken as a whole",
        "Mps beside ExclusiveShare: taken as a whole",
        "WholeCard beside ExclusiveShare: taken as a whole",
        "MigInstance beside ExclusiveShare: taken as a whole",
        "InstanceShare beside ExclusiveShare: taken as a whole",
        "HookedShare beside TimeSlicing: shared by time-slicing among 1 device of claims, whose memory and cores nothing limits",
        "ExclusiveShare beside TimeSlicing: shared by time-slicing among 1 device of claims, whose memory and cores nothing limits",
        "Mps beside TimeSlicing: shared by time-slicing among 1 device of claims, whose memory and cores nothing limits",
        "WholeCard beside TimeSlicing: shared by time-slicing among 1 device of claims, whose memory and cores nothing limits",
        "MigInstance beside TimeSlicing: shared by time-slicing among 1 device of claims, whose memory and cores nothing limits",
        "InstanceShare beside TimeSlicing: shared by time-slicing among 1 device of claims, whose memory and cores nothing limits",
        "HookedShare beside Mps: shared by MPS among 1 device of claims",
        "ExclusiveShare beside Mps: shared by MPS among 1 device of claims",
        "TimeSlicing beside Mps: shared by MPS among 1 device of claims",
        "WholeCard beside Mps: shared by MPS among 1 device of claims",
        "MigInstance beside Mps: shared by MPS among 1 device of claims",
        "InstanceShare beside Mps: shared by MPS among 1 device of claims",
        "HookedShare beside WholeCard: taken as a whole",
        "ExclusiveShare beside WholeCard: taken as a whole",
        "TimeSlicing beside WholeCard: taken as a whole",
        "Mps beside WholeCard: taken as a whole",
        "WholeCard beside WholeCard: taken as a whole",
        "MigInstance beside WholeCard: taken as a whole",
        "InstanceShare beside WholeCard: taken as a whole",
        "HookedShare beside MigInstance: has 1 MIG instance",
        "ExclusiveShare beside MigInstance: has 1 MIG instance",
        "TimeSlicing beside MigInstance: has 1 MIG instance",
        "Mps beside MigInstance: has 1 MIG instance",
        "WholeCard beside MigInstance: has 1 MIG instance",
        "MigInstance beside MigInstance: placement 3 of 1g.18gb overlaps gpu-0-mig-1g-18gb-3",
        "InstanceShare beside MigInstance: placement 3 of 1g.18gb overlaps gpu-0-mig-1g-18gb-3",
        "HookedShare beside InstanceShare: has 1 MIG instance",
        "ExclusiveShare beside InstanceShare: has 1 MIG instance",
        "TimeSlicing beside InstanceShare: has 1 MIG instance",
        "Mps beside InstanceShare: has 1 MIG instance",
        "WholeCard beside InstanceShare: has 1 MIG instance",
        "MigInstance beside InstanceShare: the whole MIG instance is asked for, but it has 1 share");
  }

  @Test
  void whatClashesIsTooMuchForTheCardAndNothingElseIs() {
    for (Answers present : ofOneCard()) {
      for (Answers wanted : ofOneCard()) {
        Account there = match(present).after(Account.EMPTY);
        Match match = match(wanted);
        Account after = match.after(there);
        assertThat(after.exceeds(HOST.cards().getFirst())).as("%s, %s", present, wanted)
            .isEqualTo(match.use().clash(match, there).isPresent());
        assertThat(match.booking().map(after::minus).orElse(after)).as("%s, %s", present, wanted).isEqualTo(there);
      }
    }
  }

  @Test
  void aShareThatIsOversubscribedSaysSo() {
    Match match = match(table().iterator().next());
    assertThat(match.use().words("it", match, 150))
        .isEqualTo("8 GiB of it, 25 % cores, oversubscribed to 150 % with host memory");
    assertThat(match.use().words("it", new Match(match.device(), GIB, 0, match.use()), 100))
        .isEqualTo("1 GiB of it, no core limit");
  }

  @Test
  void eightCanHaveACardInTurnAndNobodyAnAmountOfIt() {
    Device shared = device("gpu-0-shared");
    Match turn = match(table().filter(row -> row.strategy() == SharingStrategy.TimeSlicing.class).findFirst()
        .orElseThrow());
    Account there = Account.EMPTY;
    for (int i = 0; i < 8; i++) {
      assertThat(turn.use().clash(turn, there)).as("%s there", i).isEmpty();
      there = turn.after(there);
    }
    assertThat(turn.use().clash(turn, there)).contains(new CardRefusal.NoMoreTurns(8));
    assertThat(turn.after(there).exceeds(HOST.cards().getFirst())).isTrue();
    assertThat(inTurn(shared, EIGHT, OptionalLong.empty())).hasToString(
        "Refused[why=time-slicing limits no memory: nobody can be promised an amount]");
    assertThat(inTurn(shared, new MemoryRequest.Unsaid(), OptionalLong.of(25))).hasToString(
        "Refused[why=time-slicing limits no cores: nobody can be promised an amount]");
    assertThat(inTurn(device("gpu-0"), new MemoryRequest.Unsaid(), OptionalLong.empty())).hasToString(
        "Refused[why=a whole card cannot be shared by time-slicing: only a share of a card can]");
  }

  @Test
  void sharesOfAnInstanceAreAsManyAsItsMemoryIsForAndKeepTheWholeInstanceAndNoOtherFromClaims() {
    Match eight = match(table().filter(row -> row.strategy() == SharingStrategy.InstanceShare.class).findFirst()
        .orElseThrow());
    Account there = eight.after(Account.EMPTY);
    assertThat(eight.use().clash(eight, there)).isEmpty();
    Account full = eight.after(there);
    assertThat(eight.use().clash(eight, full)).contains(new CardRefusal.MemoryTaken(0, 8 * GIB));
    assertThat(eight.after(full).exceeds(HOST.cards().getFirst())).isTrue();
    Match whole = (Match) CardUse.of(new SharingStrategy.MigInstance(new MigSlot("1g-18gb", 3)))
        .match(device("gpu-0-mig-1g-18gb-3"), request(OptionalLong.empty(), Sharing.LIMITS, Placement.DEFAULT));
    assertThat(whole.use().clash(whole, full)).contains(new CardRefusal.InstanceHasShares(2));
    Match elsewhere = whole.on(device("gpu-0-mig-1g-18gb-4"));
    assertThat(elsewhere.use().clash(elsewhere, full)).isEmpty();
    assertThat(eight.use().clash(eight, whole.after(Account.EMPTY))).hasValueSatisfying(
        why -> assertThat(why).hasToString("placement 3 of 1g.18gb overlaps gpu-0-mig-1g-18gb-3"));
    assertThat(eight.use().clash(eight, elsewhere.after(there))).isEmpty();
  }

  @Test
  void aShareOfAnInstanceHasMemoryAloneAndSaysWhatToDo() {
    Device shared = device("gpu-0-mig-1g-18gb-3-shared");
    assertThat(List.of(
        request(OptionalLong.of(25), Sharing.LIMITS, Placement.DEFAULT),
        request(OptionalLong.empty(), Sharing.MPS, Placement.DEFAULT),
        request(OptionalLong.empty(), Sharing.LIMITS, Placement.DEFAULT.alone())))
        .extracting(request -> CardUse.of(request.strategy(shared.name())).match(shared, request).toString())
        .containsExactly(
            "Refused[why=a share of a MIG instance has no capacity cores: only its memory is divided; leave cores out,"
                + " or take the whole instance (class mig.gpu.partita.dev)]",
            "Refused[why=a share of a MIG instance cannot be shared by MPS: only a share of a card can]",
            "Refused[why=a share of a MIG instance does not keep others off its card: only a share of a card or a whole"
                + " card can be exclusive]");
  }

  private static DeviceRequest request(OptionalLong cores, Sharing sharing, Placement placement) {
    return new DeviceRequest("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
        new CapacityRequest(new MemoryRequest.Unsaid(), cores, 100, sharing), List.of(), placement, Access.OWN,
        Modes.INFERRED);
  }

  @Test
  void asManyClaimsAreOnACardByMpsAsItServesAndNoMoreThanItsMemoryIsFor() {
    Match share = match(table().filter(row -> row.strategy() == SharingStrategy.Mps.class).findFirst().orElseThrow());
    Match small = new Match(share.device(), GIB, 0, share.use());
    Account there = Account.EMPTY;
    for (int i = 0; i < 48; i++) {
      assertThat(small.use().clash(small, there)).as("%s there", i).isEmpty();
      there = small.after(there);
    }
    assertThat(small.use().clash(small, there)).contains(new CardRefusal.NoMoreByMps(48));
    assertThat(small.after(there).exceeds(HOST.cards().getFirst())).isTrue();
    Match large = new Match(share.device(), 139 * GIB, 90, share.use());
    assertThat(share.use().clash(share, large.after(Account.EMPTY)))
        .contains(new CardRefusal.MemoryTaken(GIB, 8 * GIB));
    assertThat(small.use().clash(new Match(share.device(), GIB, 25, share.use()), large.after(Account.EMPTY)))
        .contains(new CardRefusal.CoresTaken(10, 25));
  }

  private static MatchResult inTurn(Device device, MemoryRequest memory, OptionalLong cores) {
    DeviceRequest request = new DeviceRequest("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
        new CapacityRequest(memory, cores, 100, new Sharing.TimeSlicing(TimeSlice.DEFAULT)), List.of(),
        Placement.DEFAULT, Access.OWN, Modes.INFERRED);
    return CardUse.of(request.strategy(device.name())).match(device, request);
  }

  @Test
  void whoOnlyLooksSeesNoMoreThanWhatCouldBeHad() {
    Device shared = device("gpu-0-shared");
    DeviceRequest request =
        new DeviceRequest("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
            new CapacityRequest(new MemoryRequest.Bytes(200 * GIB), OptionalLong.empty()), List.of(), Placement.DEFAULT,
            Access.MONITOR, Modes.INFERRED);
    assertThat(CardUse.of(request.strategy(shared.name())).match(shared, request))
        .isEqualTo(new MatchResult.Refused(new CardRefusal.TooSmall(140 * GIB, 200 * GIB, "h200")));
  }

  private static Match match(Answers row) {
    Device device = device(row.device());
    DeviceRequest request = request(row);
    MatchResult match = CardUse.of(request.strategy(device.name())).match(device, request);
    assertThat(match).isInstanceOf(Match.class);
    return (Match) match;
  }

  private static DeviceRequest request(Answers row) {
    boolean shared = device(row.device()).allowsMultipleAllocations();
    Placement placement = row.strategy() == SharingStrategy.ExclusiveShare.class
        ? Placement.DEFAULT.alone()
        : Placement.DEFAULT;
    boolean turn = row.strategy() == SharingStrategy.TimeSlicing.class;
    Sharing sharing = row.strategy() == SharingStrategy.Mps.class ? Sharing.MPS : Sharing.LIMITS;
    return new DeviceRequest("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
        turn
            ? TURN
            : shared
                ? new CapacityRequest(EIGHT, row.strategy() == SharingStrategy.InstanceShare.class
                    ? OptionalLong.empty()
                    : OptionalLong.of(25), 100, sharing)
                : CapacityRequest.of(OptionalLong.empty(), OptionalLong.empty()),
        List.of(), placement, row.strategy() == SharingStrategy.AdminAccess.class ? Access.MONITOR : Access.OWN,
        Modes.INFERRED);
  }

  private static Device device(String name) {
    return Stream.concat(HOST.devices().stream(), CUT_BY_HAND.devices().stream())
        .filter(device -> device.name().toString().equals(name)).findFirst().orElseThrow();
  }
}
