package dev.partita.controller.preempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.state.Victim;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class VictimChoiceTest {
  /** There is a place where victims of that many GiB, as their names say, are gone. */
  private static VictimChoice.Place needs(int gib) {
    return (node, gone) -> gone.stream().mapToInt(victim -> Integer.parseInt(victim.name())).sum() >= gib;
  }

  private static Victim victim(String uid, int gib, int priority, String started) {
    return new Victim(uid, "default", Integer.toString(gib), priority, started);
  }

  private static Optional<VictimChoice.Chosen> choose(Map<String, List<Victim>> nodes, int gib) {
    return VictimChoice.choose(new TreeMap<>(nodes), needs(gib));
  }

  @Test
  void nobodyIsEvictedWhereItWouldNotHelp() {
    assertThat(choose(Map.of("n", List.of(victim("a", 8, 0, "1"))), 9)).isEmpty();
    assertThat(choose(Map.of("n", List.of()), 0)).isEmpty();
  }

  @Test
  void onlyThoseGoWithoutWhomThereIsNoPlaceTheLeastImportantFirst() {
    Victim high = victim("high", 8, 5, "1");
    Victim old = victim("old", 8, 1, "1");
    Victim young = victim("young", 8, 1, "2");
    assertThat(choose(Map.of("n", List.of(old, young, high)), 8))
        .contains(new VictimChoice.Chosen("n", List.of(young)));
    assertThat(choose(Map.of("n", List.of(old, young, high)), 16))
        .contains(new VictimChoice.Chosen("n", List.of(old, young)));
    assertThat(choose(Map.of("n", List.of(old, young, high)), 17))
        .contains(new VictimChoice.Chosen("n", List.of(high, old, young)));
  }

  @Test
  void theNodeWithTheLeastImportantVictimsIsChosen() {
    assertThat(choose(
        Map.of("a", List.of(victim("1", 8, 5, "1")), "b", List.of(victim("2", 4, 1, "1"), victim("3", 4, 1, "1"))), 8))
        .hasValueSatisfying(chosen -> assertThat(chosen.node()).isEqualTo("b"));
    assertThat(choose(
        Map.of("a", List.of(victim("1", 4, 1, "1"), victim("2", 4, 1, "1")), "b", List.of(victim("3", 8, 1, "1"))), 8))
        .hasValueSatisfying(chosen -> assertThat(chosen.node()).as("fewer").isEqualTo("b"));
    assertThat(choose(Map.of("a", List.of(victim("1", 8, 1, "1")), "b", List.of(victim("2", 8, 1, "2"))), 8))
        .hasValueSatisfying(
            chosen -> assertThat(chosen.node()).as("the one that runs for a shorter time").isEqualTo("b"));
    assertThat(choose(Map.of("b", List.of(victim("1", 8, -7, "1")), "a", List.of(victim("2", 8, -7, "1"))), 8))
        .hasValueSatisfying(chosen -> assertThat(chosen.node()).isEqualTo("a"));
  }

  @Test
  void lessImportantVictimsAreFoundHoweverManyNodesHaveMoreImportantOnes() {
    Map<String, List<Victim>> nodes = new TreeMap<>();
    for (int i = 0; i < 3 * VictimChoice.MOST_COMPARED; i++) {
      nodes.put("a-%03d".formatted(i), List.of(victim("a" + i, 8, 5, "1")));
    }
    nodes.put("y", List.of(victim("y", 8, 4, "1")));
    nodes.put("z", List.of(victim("z1", 8, 5, "1"), victim("z2", 4, 1, "1"), victim("z3", 4, 1, "1")));
    assertThat(choose(nodes, 8).orElseThrow().node()).isEqualTo("z");
    assertThat(choose(nodes, 9)).as("with the help of others")
        .hasValueSatisfying(chosen -> assertThat(chosen.victims()).hasSize(2));
    assertThat(choose(nodes, 17)).isEmpty();
  }

  @Test
  void everyoneWhoGoesIsNeeded() {
    List<Victim> victims =
        List.of(victim("1", 2, 1, "1"), victim("2", 6, 2, "1"), victim("3", 3, 3, "1"), victim("4", 1, 4, "1"));
    for (int gib = 1; gib <= 12; gib++) {
      VictimChoice.Chosen chosen = choose(Map.of("n", victims), gib).orElseThrow();
      for (Victim victim : chosen.victims()) {
        Set<Victim> rest = new java.util.HashSet<>(chosen.victims());
        rest.remove(victim);
        assertThat(needs(gib).isOn("n", rest)).as(gib + " GiB without " + victim).isFalse();
      }
    }
  }
}
