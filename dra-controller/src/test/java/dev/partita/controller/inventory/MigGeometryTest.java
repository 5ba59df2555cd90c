package dev.partita.controller.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.MigSlot;
import dev.partita.api.gpu.MigProfile;
import dev.partita.controller.GpuNodes;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class MigGeometryTest {
  private static final MigGeometry H200 = MigGeometry.of(GpuNodes.h200Profiles());

  @Test
  void instancesExcludeEachOtherByMemorySlicesAndByHowManyThereMayBe() {
    assertThat(H200.holds(List.of(slot("3g-71gb", 0), slot("3g-71gb", 4)))).isTrue();
    assertThat(H200.holds(List.of(slot("4g-71gb", 0), slot("1g-18gb", 4), slot("1g-35gb", 6)))).isTrue();
    assertThat(H200.holds(List.of(slot("3g-71gb", 0), slot("1g-18gb", 3)))).isFalse();
    assertThat(H200.holds(List.of(slot("7g-141gb", 0), slot("1g-18gb", 6)))).isFalse();
    assertThat(H200.holds(List.of(slot("1g-18gb-me", 0), slot("1g-18gb-me", 1)))).isFalse();
    assertThat(H200.holds(List.of(slot("1g-18gb-me", 0), slot("1g-18gb", 1)))).isTrue();
  }

  @Test
  void anInstanceThatTheCardDoesNotKnowTakesAllOfIt() {
    assertThat(H200.holds(List.of(slot("1g-10gb", 0), slot("1g-18gb", 6)))).isFalse();
    assertThat(H200.holds(List.of(slot("1g-18gb", 7)))).isTrue();
    assertThat(H200.room(List.of(slot("1g-18gb", 7)))).isZero();
  }

  @Test
  void theSmallestProfileIsBestOffAtTheEndWhereTheDriverPutsItToo() {
    MigGeometry.Kind smallest = H200.kinds().getFirst();
    assertThat(smallest.profile().name()).startsWith("1g.18gb");
    MigSlot best =
        smallest.placements().stream()
            .map(placement -> slot("1g-18gb", placement.start()))
            .max(Comparator.comparingInt(slot -> H200.room(List.of(slot))))
            .orElseThrow();
    assertThat(best.start()).isEqualTo(6);
    assertThat(H200.room(List.of(slot("3g-71gb", 4)))).isGreaterThan(H200.room(List.of(slot("3g-71gb", 0))));
  }

  @Test
  void whatIsLimitedIsWhatTheDriverHasFewerOfThanPlaces() {
    assertThat(H200.kinds().stream().filter(MigGeometry.Kind::isLimited).map(MigGeometry.Kind::label))
        .containsExactly("1g-18gb-me");
    assertThat(H200.kinds()).allSatisfy(kind -> assertThat(H200.percent(kind)).isBetween(14, 100));
  }

  @Test
  void asManyInstancesAreToBeHadAsFindPlacesBesideEachOther() {
    List<MigSlot> every = H200.kinds().stream()
        .flatMap(kind -> kind.placements().stream().map(place -> slot(kind.label(), place.start()))).toList();
    List<MigSlot> ofMedia = every.stream().filter(slot -> slot.profile().equals("1g-18gb-me")).toList();
    assertThat(H200.atOnce(every, List.of(), 32)).isEqualTo(7);
    assertThat(H200.atOnce(every, List.of(), 3)).isEqualTo(3);
    assertThat(H200.atOnce(every, List.of(slot("3g-71gb", 0)), 32)).isEqualTo(3);
    assertThat(ofMedia).hasSize(7);
    assertThat(H200.atOnce(ofMedia, List.of(), 32)).isEqualTo(1);
    assertThat(H200.atOnce(List.of(slot("7g-141gb", 0), slot("3g-71gb", 4), slot("3g-71gb", 0)), List.of(), 32))
        .isEqualTo(2);
  }

  @Test
  void whatNoDeviceCanBeMadeOfIsLeftOut() {
    var place = List.of(new MigProfile.Placement(0, 1));
    assertThat(
        MigGeometry.of(
            List.of(
                new MigProfile("1g.5gb", 5, 14, 1, 7, List.of()),
                new MigProfile("1g.5gb", 5, 14, 1, 7, List.of(new MigProfile.Placement(31, 4))),
                new MigProfile("???", 5, 14, 1, 7, place),
                new MigProfile("1g.5gb", 0, 14, 1, 7, place),
                new MigProfile("1g.5gb", 5, 14, 1, 0, place))))
        .isEqualTo(MigGeometry.NONE);
    assertThat(MigGeometry
        .of(List.of(new MigProfile("1g.5gb", 5, 14, 1, 7, place), new MigProfile("1g+5gb", 5, 14, 1, 7, place)))
        .kinds())
        .as("two profiles of one name")
        .hasSize(1);
  }

  private static MigSlot slot(String profile, int start) {
    return new MigSlot(profile, start);
  }
}
