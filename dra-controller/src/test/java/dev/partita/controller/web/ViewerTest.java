package dev.partita.controller.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.HeldClock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How often a viewer's rights are asked about, and how long an answer holds. */
class ViewerTest {
  private static final List<String> NAMESPACES = IntStream.range(0, 600).mapToObj(i -> "team-" + i).toList();
  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(2);

  private final HeldClock clock = new HeldClock(Instant.parse("2026-01-01T00:00:00Z"));
  private final Set<String> allowed = new HashSet<>(NAMESPACES.subList(300, 600)); // those that are asked about last
  private final Map<String, Instant> asked = new HashMap<>();
  private int reviews;
  private final Viewer viewer = new Viewer("user", (_, _, namespace) -> {
    reviews++;
    asked.put(namespace, clock.instant());
    return allowed.contains(namespace);
  }, clock);

  private Set<String> seen(Viewer.Look look) {
    reviews = 0;
    Set<String> seen = new HashSet<>();
    NAMESPACES.stream().filter(look::claimsOf).forEach(seen::add);
    assertThat(reviews).isLessThanOrEqualTo(Viewer.MOST_REVIEWS);
    return seen;
  }

  private void lookUntilComplete() {
    Viewer.Look look;
    do {
      look = viewer.look();
      seen(look);
      clock.advance(BETWEEN_LOOKS);
    } while (!look.isComplete());
  }

  @Test
  void allOfHundredsOfNamespacesStayShownAndAreAskedAboutInTurn() {
    lookUntilComplete();
    assertThat(seen(viewer.look())).isEqualTo(allowed);
    Instant end = clock.instant().plus(Duration.ofMinutes(10));
    while (clock.instant().isBefore(end)) {
      clock.advance(BETWEEN_LOOKS);
      Viewer.Look look = viewer.look();
      assertThat(seen(look)).as("at %s", clock.instant()).isEqualTo(allowed);
      assertThat(look.isComplete()).isTrue();
      assertThat(asked.values()).allMatch(at -> at.isAfter(clock.instant().minus(Duration.ofMinutes(2))));
    }
  }

  @Test
  void aRightThatIsTakenAwayHoldsForAMinuteWhereFewAreAskedAbout() {
    assertThat(viewer.look().claimsOf("team-500")).isTrue();
    allowed.clear();
    clock.advance(Viewer.HOLDS.minusSeconds(1));
    assertThat(viewer.look().claimsOf("team-500")).isTrue();
    clock.advance(Duration.ofSeconds(1));
    assertThat(viewer.look().claimsOf("team-500")).isFalse();
  }

  @Test
  void whatWasAnsweredIsNotBelievedForWhoHasLookedAway() {
    lookUntilComplete();
    allowed.clear();
    clock.advance(Viewer.HOLDS);
    assertThat(seen(viewer.look())).isEmpty();
  }

  @Test
  void noAnswerIsBelievedForMoreThanFiveMinutes() {
    Viewer.Look first = viewer.look();
    assertThat(first.claimsOf("team-500")).isTrue();
    allowed.clear();
    Instant end = clock.instant().plus(Viewer.LASTS);
    while (clock.instant().isBefore(end)) {
      clock.advance(BETWEEN_LOOKS);
      seen(viewer.look());
    }
    assertThat(viewer.look().claimsOf("team-500")).isFalse();
  }
}
