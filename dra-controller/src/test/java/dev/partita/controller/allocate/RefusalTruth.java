package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.controller.match.CardRefusal;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.List;
import java.util.Objects;

/** Whether what is said against a card is so. */
final class RefusalTruth {
  private RefusalTruth() {}

  /**
   * @param devices all that the card is offered as
   * @param taken what others have of it
   * @param request what was refused
   */
  static void assertTrue(CardRefusal why, List<ReportedDevice> devices, TakenOfCard taken, DeviceRequest request) {
    ReportedDevice any = devices.getFirst();
    String model = any.gpu().model();
    List<ReportedDevice> selected = devices.stream().filter(device -> device.isSelectedBy(request)).toList();
    switch (why) {
      case CardRefusal.MemoryTaken(long free, long asked) -> {
        assertThat(free).isEqualTo(any.allocatable() - taken.memory());
        assertThat(asked).isEqualTo(any.bytes(request)).isGreaterThan(free);
      }
      case CardRefusal.CoresTaken(int free, int asked) -> {
        assertThat((long) free).isEqualTo(100 - taken.cores());
        assertThat((long) asked).isEqualTo(request.cores().orElseThrow()).isGreaterThan(free);
      }
      case CardRefusal.TakenWhole _ -> assertThat(taken.wholes()).isPositive();
      case CardRefusal.TakenInTurn(int turns) -> assertThat(taken.turns()).isEqualTo(turns).isPositive();
      case CardRefusal.NoMoreTurns(int turns) -> assertThat(taken.turns()).isEqualTo(turns).isEqualTo(8);
      case CardRefusal.LimitedShares(int shares) -> {
        assertThat(taken.shares()).isEqualTo(shares).isPositive();
        assertThat(Requests.isInTurn(request)).isTrue();
      }
      case CardRefusal.NotLimited(String capacity) ->
          assertThat(capacity.equals("cores") ? request.cores().isPresent() : request.memory().isSaid()).isTrue();
      case CardRefusal.SharedByMps(int shares) -> {
        assertThat(taken.mps()).isEqualTo(shares).isPositive();
        assertThat(Requests.isByMps(request)).isFalse();
      }
      case CardRefusal.SharesNotByMps(int shares) -> {
        assertThat(taken.shares()).isEqualTo(shares).isPositive();
        assertThat(Requests.isByMps(request)).isTrue();
      }
      case CardRefusal.NoMoreByMps(int shares) -> assertThat(taken.mps()).isEqualTo(shares).isEqualTo(48);
      case CardRefusal.NotSharable(DeviceMode mode, Sharing sharing) -> {
        assertThat(mode).isNotEqualTo(DeviceMode.SHARED);
        assertThat(sharing).isEqualTo(request.capacity().sharing()).isNotEqualTo(Sharing.LIMITS);
        assertThat(selected).extracting(ReportedDevice::mode).contains(mode);
      }
      case CardRefusal.NotOnOpaque _ -> throw new AssertionError(why + ": no card is opaque");
      case CardRefusal.HasShares(int shares) -> assertThat(taken.shares()).isEqualTo(shares).isPositive();
      case CardRefusal.SharesInTheWay(int shares) -> assertThat(taken.shares()).isEqualTo(shares).isPositive();
      case CardRefusal.CutIntoInstances(int instances) -> assertThat(taken.instances()).hasSize(instances).isNotEmpty();
      case CardRefusal.PlacementsOverlap overlap -> assertTrue(overlap, selected, taken);
      case CardRefusal.NoMoreOfProfile(String profile, int count) -> {
        assertThat(taken.sameAs(profile)).isEqualTo(count);
        assertThat(selected).filteredOn(device -> device.profileName().equals(profile)).isNotEmpty()
            .allSatisfy(device -> assertThat(device.profile().orElseThrow().count()).isEqualTo(count));
      }
      case CardRefusal.Tainted(var taint) -> {
        assertThat(taint.key()).isEqualTo("gpu.partita.dev/unhealthy");
        assertThat(any.gpu().health().reason()).isEqualTo(taint.value().replace('-', ' '));
        assertThat(any.isTolerated(request)).isFalse();
      }
      case CardRefusal.OtherMode(String asked) ->
          assertThat(devices).extracting(device -> device.mode().attributeValue()).doesNotContain(asked);
      case CardRefusal.InstanceHasShares _ -> throw new AssertionError(why + ": no card is cut by hand");
      case CardRefusal.CutByHand _ -> assertThat(any.gpu().isCutByHand()).isTrue();
      case CardRefusal.NotSelected(String origin, String expression) -> {
        assertThat(selected).isEmpty();
        assertThat(request.selectors()).contains(new DeviceRequest.Selector(origin, expression));
      }
      case CardRefusal.OtherModel(String its, String asked) ->
          assertThat(model).isEqualTo(its).isNotIn(List.of(asked.split(" or ")));
      case CardRefusal.AvoidedModel(String its) ->
          assertThat(model).isEqualTo(its).isIn(request.placement().models().avoid());
      case CardRefusal.OtherCard _ -> assertThat(any.gpu().uuid()).isNotIn(request.placement().uuids().choose());
      case CardRefusal.AvoidedCard _ -> assertThat(any.gpu().uuid()).isIn(request.placement().uuids().avoid());
      case CardRefusal.TooSmall(long total, long asked, String its) -> {
        assertThat(its).isEqualTo(model);
        assertThat(asked).isGreaterThan(total);
        assertThat(selected).extracting(ReportedDevice::memory).contains(total);
      }
      case CardRefusal.TooManyCores(long asked) ->
          assertThat(asked).isEqualTo(request.cores().orElseThrow()).isGreaterThan(100);
      case CardRefusal.NoSuchCapacity(DeviceMode mode, String capacity) -> {
        assertThat(mode).isNotEqualTo(DeviceMode.SHARED);
        assertThat(selected).extracting(ReportedDevice::mode).contains(mode);
        assertThat(
            capacity.equals("cores") ? request.cores().isPresent() : request.memory() instanceof MemoryRequest.Percent)
            .isTrue();
      }
      case CardRefusal.NotOversubscribed(DeviceMode mode) -> {
        assertThat(mode).isNotEqualTo(DeviceMode.SHARED);
        assertThat(request.oversubscribe()).isGreaterThan(100);
      }
      case CardRefusal.NotExclusive _ -> {
        assertThat(request.placement().exclusive()).isTrue();
        assertThat(selected).extracting(ReportedDevice::mode).contains(DeviceMode.MIG);
      }
      case CardRefusal.SelectorFailed failed -> throw new AssertionError(failed + " was not asked for");
      case CardRefusal.HeldOnNode _ -> throw new AssertionError(why + ": no node holds anything");
      case CardRefusal.NotOffered _ -> throw new AssertionError(why + ": no node withholds a card");
    }
  }

  /** All places of the profile are named, every one is in the way of something named, and what is named is there. */
  private static void assertTrue(
      CardRefusal.PlacementsOverlap overlap,
      List<ReportedDevice> selected,
      TakenOfCard taken) {
    List<ReportedDevice> places =
        selected.stream().filter(device -> device.profileName().equals(overlap.profile())).toList();
    List<ReportedDevice> others =
        overlap.others().stream()
            .map(slot -> taken.instances().stream().filter(its -> its.name().endsWith("-mig-" + slot)).findFirst()
                .orElse(null))
            .map(Objects::requireNonNull)
            .toList();
    assertThat(places).extracting(ReportedDevice::start).containsExactlyInAnyOrderElementsOf(overlap.starts());
    assertThat(places)
        .allSatisfy(place -> assertThat(others).anyMatch(other -> (other.slices() & place.slices()) != 0));
    assertThat(others).isNotEmpty()
        .allSatisfy(other -> assertThat(places).anyMatch(place -> (other.slices() & place.slices()) != 0));
  }
}
