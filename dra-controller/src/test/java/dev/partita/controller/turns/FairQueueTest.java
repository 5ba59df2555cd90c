package dev.partita.controller.turns;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FairQueueTest {
  private long now;
  private final FairQueue<String> queue = new FairQueue<>(() -> now);

  @Test
  void asLongAsNobodyUsesMuchTimeTheOrderIsByPriorityThenAgeThenNameOfAllNamespaces() {
    add("b/young", 0, "2026-01-02T00:00:00Z");
    add("a/old", 0, "2026-01-01T00:00:00Z");
    add("b/urgent", 7, "2026-01-03T00:00:00Z");
    add("a/young", 0, "2026-01-02T00:00:00Z");
    assertThat(taken(4, Duration.ofMillis(10))).containsExactly("b/urgent", "a/old", "a/young", "b/young");
  }

  @Test
  void whoeverComesWhileAnotherNamespaceHasUsedMuchTimeIsNext() {
    for (int i = 0; i < 1_000; i++) {
      add("busy/" + i, 1_000, "2020-01-01T00:00:00Z");
    }
    taken(100, Duration.ofMillis(5));
    add("neighbour/new", 0, "2026-01-01T00:00:00Z");
    assertThat(queue.next()).contains("neighbour/new");
  }

  @Test
  void namespacesThatBothWaitShareTheTimeWhateverTheirPriorities() {
    for (int i = 0; i < 1_000; i++) {
      add("urgent/" + i, 1_000, "2020-01-01T00:00:00Z");
      add("plain/" + i, 0, "2026-01-01T00:00:00Z");
    }
    List<String> taken = taken(500, Duration.ofMillis(10));
    assertThat(taken.stream().filter(what -> what.startsWith("plain/")).count()).isBetween(240L, 260L);
  }

  @Test
  void whoeverWaitedForNothingHasSavedNothing() {
    add("idle/first", 0, "2026-01-01T00:00:00Z");
    for (int i = 0; i < 1_000; i++) {
      add("busy/" + i, 0, "2026-01-02T00:00:00Z");
    }
    taken(500, Duration.ofMillis(10)); // nearly five seconds, in which one namespace had nothing to decide
    for (int i = 0; i < 100; i++) {
      add("idle/" + i, 0, "2026-01-01T00:00:00Z");
    }
    List<String> taken = taken(60, Duration.ofMillis(10));
    assertThat(taken.stream().filter(what -> what.startsWith("busy/")).count()).isGreaterThan(15);
  }

  @Test
  void whatIsWokenAgainAndAgainHasNobodyWaitForEver() {
    for (int i = 0; i < 100; i++) {
      add("a/" + i, i == 99 ? 0 : 10, "2026-01-01T00:00:00Z");
    }
    boolean last = false;
    int decisions = 0;
    while (!last) {
      String what = queue.next().orElseThrow();
      last = what.equals("a/99");
      decisions++;
      now += Duration.ofMillis(50).toNanos();
      add(what, what.equals("a/99") ? 0 : 10, "2026-01-01T00:00:00Z");
      assertThat(decisions).as("the pass' first second, and what was not decided in it").isLessThanOrEqualTo(125);
    }
  }

  @Test
  void inAShortPassWhatIsWokenAgainComesByItsPriority() {
    add("a/first", 10, "2026-01-01T00:00:00Z");
    add("a/second", 5, "2026-01-01T00:00:00Z");
    add("a/third", 0, "2026-01-01T00:00:00Z");
    assertThat(queue.next()).contains("a/first");
    add("a/first", 10, "2026-01-01T00:00:00Z");
    assertThat(taken(3, Duration.ofMillis(1))).containsExactly("a/first", "a/second", "a/third");
    assertThat(queue.next()).isEmpty();
  }

  @Test
  void whatIsAddedTwiceIsDecidedOnceByItsBetterRank() {
    add("a/x", 0, "2026-01-01T00:00:00Z");
    add("a/y", 1, "2026-01-01T00:00:00Z");
    add("a/x", 2, "2026-01-01T00:00:00Z");
    assertThat(taken(2, Duration.ZERO)).containsExactly("a/x", "a/y");
    assertThat(queue.next()).isEqualTo(Optional.empty());
  }

  private void add(String what, int priority, String created) {
    queue.add(what, what.substring(0, what.indexOf('/')), new Rank(priority, created, what));
  }

  /** Each takes so long. */
  private List<String> taken(int count, Duration each) {
    List<String> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String what = queue.next().orElseThrow();
      taken.add(what);
      now += each.toNanos();
      queue.used(what.substring(0, what.indexOf('/')), each);
    }
    return taken;
  }
}
