package dev.partita.controller.place;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CombinationsTest {
  @Test
  void withoutRequestsOrAlternativesThereIsOne() {
    assertThat(best()).containsExactly(List.of());
    assertThat(best(claim(request("a", 1, 1), request("b", 1, 1)))).containsExactly(List.of(0, 0));
  }

  @Test
  void ofRequestsThatDifferAllCombinationsAreThereTheBestFirst() {
    assertThat(best(claim(request("a", 3, 1), request("b", 1, 2)), claim(request("a", 2, 3))))
        .containsExactly(List.of(0, 0, 0), List.of(0, 0, 1), List.of(1, 0, 0), List.of(1, 0, 1), List.of(2, 0, 0),
            List.of(2, 0, 1));
  }

  @Test
  void ofRequestsThatAreAlikeNoneHasALaterAlternativeThanTheNextOne() {
    List<List<Integer>> three = List.of(List.of(0, 0, 0), List.of(0, 0, 1), List.of(0, 1, 1), List.of(1, 1, 1));
    assertThat(best(claim(request("a", 2, 1), request("b", 2, 1), request("c", 2, 1)))).isEqualTo(three);
    assertThat(best(claim(request("a", 2, 1)), claim(request("a", 2, 1)), claim(request("a", 2, 1))))
        .isEqualTo(three);
    assertThat(best(claim(request("a", 3, 1), request("other", 2, 2), request("b", 3, 1)))).hasSize(6 * 2)
        .allMatch(combination -> combination.getFirst() <= combination.getLast()).doesNotHaveDuplicates();
  }

  @Test
  void whatAConstraintCoversOrAnotherRequestOfTheClaimTellsThemApart() {
    assertThat(best(claim(List.of("a"), request("a", 2, 1), request("b", 2, 1)))).hasSize(4);
    assertThat(best(claim(List.of("a", "b"), request("a", 2, 1), request("b", 2, 1)))).hasSize(3);
    assertThat(best(claim(List.of("a/1"), request("a", 2, 1), request("b", 2, 1)))).hasSize(4);
    assertThat(best(claim(request("a", 2, 1), request("x", 1, 1)), claim(request("a", 2, 1), request("x", 1, 1))))
        .hasSize(4);
    assertThat(best(claim(List.of("a"), request("a", 2, 1)), claim(request("a", 2, 1)))).hasSize(4);
  }

  @Test
  void ofTooManyTheBestAreThereAndThoseInWhichAllAreAsFarDown() {
    NamedRequest[] many = IntStream.range(0, 20).mapToObj(i -> request("r" + i, 4, i + 1)).toArray(NamedRequest[]::new);
    List<List<Integer>> best = best(claim(many));
    assertThat(best).hasSizeLessThanOrEqualTo(2 * Alternatives.MOST).doesNotHaveDuplicates().contains(
        IntStream.range(0, 20).mapToObj(_ -> 1).toList(), IntStream.range(0, 20).mapToObj(_ -> 2).toList(),
        IntStream.range(0, 20).mapToObj(_ -> 3).toList());
    assertThat(best).as("a few have the alternative before").contains(
        IntStream.range(0, 20).mapToObj(i -> i < 3 ? 0 : 1).toList(),
        IntStream.range(0, 20).mapToObj(i -> i < 17 ? 2 : 3).toList());
    assertThat(best.subList(0, 21)).as("one request beyond its first alternative")
        .allMatch(combination -> combination.stream().mapToInt(Integer::intValue).sum() <= 1);
  }

  @Test
  void ofVeryManyRequestsNotMoreAreTried() {
    NamedRequest[] many = IntStream.range(0, 32).mapToObj(i -> request("r" + i, 8, i + 1)).toArray(NamedRequest[]::new);
    ClaimRequest[] claims = IntStream.range(0, 10).mapToObj(_ -> claim(many)).toArray(ClaimRequest[]::new);
    assertThat(best(claims)).hasSizeLessThanOrEqualTo(2 * Alternatives.MOST)
        .contains(IntStream.range(0, 320).mapToObj(_ -> 7).toList());
  }

  private static List<List<Integer>> best(ClaimRequest... claims) {
    return Combinations.of(List.of(claims)).best(Alternatives.MOST).stream()
        .map(ranks -> IntStream.of(ranks).boxed().toList()).toList();
  }

  /** A request with so many alternatives, the first of them for so many devices. */
  private static NamedRequest request(String name, int alternatives, int devices) {
    return new NamedRequest(name, IntStream.range(0, alternatives).mapToObj(i -> DeviceRequest.of(name + "/" + i,
        List.of(new DeviceRequest.Selector("request " + name, "true")), new Count.Exactly(devices + 100 * i),
        CapacityRequest.of(OptionalLong.empty(), OptionalLong.empty()))).toList());
  }

  private static ClaimRequest claim(NamedRequest... requests) {
    return new ClaimRequest(new ClaimRef("default", "c", "uid"), List.of(requests), List.of());
  }

  /** With a constraint that covers these. */
  private static ClaimRequest claim(List<String> covered, NamedRequest... requests) {
    return new ClaimRequest(new ClaimRef("default", "c", "uid"), List.of(requests),
        List.of(new Constraint.Equal("gpu.partita.dev/model", covered)));
  }
}
