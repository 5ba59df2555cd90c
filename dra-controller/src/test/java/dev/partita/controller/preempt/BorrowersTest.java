package dev.partita.controller.preempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.ClusterWithoutServer;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.Victim;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which pods of a node may go together for one of priority 5, in the words of {@link ClusterWithoutServer}. */
class BorrowersTest {
  private final ClusterWithoutServer cluster = new ClusterWithoutServer();

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|',
      textBlock = """
          # what                                  | guaranteed and burst   | running                              | smallest first | largest first
          as many as borrow                       | default 70 70          | w 5 a/0 35, x 5 a/0 35, y 5 a/1 35   | w              | w
          each as long as those before leave some | default 100 40         | s 5 a/0 20, l 5 a/0 120              | s l            | l
          a whole card is larger than any share   | default 110 180        | s 5 a/0 110, l 5 a/1 whole           | s l            | l
          who is less important goes in any case  | default 140 0          | x 1 a/0 35, y 5 a/0 35               | x              | x
          and leaves less that is borrowed        | default 35 35          | x 1 a/0 35, y 5 a/0 35               | x              | x
          nobody of a namespace within its own    | default 35 35, b 70 0  | x 5 a/0 70, b/y 5 a/1 70             | x              | x
          """)
  void whoBorrowsMayGo(String what, String guarantees, String running, String smallestFirst, String largestFirst) {
    cluster.guarantees(guarantees);
    cluster.nodes("a:2");
    cluster.running(running);
    String before = cluster.taken();
    assertThat(names(borrowers().smallestFirst(onNode()))).isEqualTo(smallestFirst);
    assertThat(names(borrowers().largestFirst(onNode()))).isEqualTo(largestFirst);
    assertThat(cluster.taken()).as("nothing has changed").isEqualTo(before);
  }

  @Test
  void whatIsBeingGivenBackForOthersIsNotBorrowedAnyMore() {
    cluster.guarantees("default 70 70");
    cluster.nodes("a:2");
    cluster.running("w 5 a/0 35, x 5 a/0 35, y 5 a/1 35, z 5 a/1 35");
    assertThat(borrowers().smallestFirst(onNode())).hasSize(2);
    Pod other = cluster.waiting("b/other 5 35");
    cluster.state.nominate(
        new Nomination(new Nomination.Preemptor("b/other", "b", 5),
            new Nomination.Place("a", List.of(), PodRequests.of(other)), List.of(),
            new Nomination.Grounds.Guarantee("b"),
            new Nomination.Awaited(Set.of(), Set.of("claim of default/z"), cluster.clock.instant())));
    assertThat(names(borrowers().smallestFirst(onNode()))).isEqualTo("w");
  }

  private Borrowers borrowers() {
    return new Borrowers(cluster.state, 5);
  }

  private VictimsOnNode onNode() {
    return VictimsOnNode.of(cluster, "a", pod -> true);
  }

  private static String names(Set<Victim> victims) {
    return victims.stream().map(Victim::name).collect(Collectors.joining(" "));
  }
}
