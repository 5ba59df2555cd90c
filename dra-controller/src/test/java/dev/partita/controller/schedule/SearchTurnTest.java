package dev.partita.controller.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.Cluster;
import dev.partita.controller.ClusterWithoutServer;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.commit.Evictor;
import dev.partita.controller.commit.WriteListener;
import dev.partita.controller.decide.Decision;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.preempt.PreemptionSearch;
import dev.partita.controller.watch.EventLoop;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pods that wait for their turn to have pods searched that may be evicted. */
class SearchTurnTest {
  private static final ApiEdge EDGE = new ApiEdge(() -> true);

  private final Cluster server = Cluster.empty();
  private final ClusterWithoutServer cluster = new ClusterWithoutServer();
  private final EventLoop<WorkItem> loop = new EventLoop<>("test", Duration.ZERO, items -> {});
  private final WriteListener nobody = (WriteListener) Proxy
      .newProxyInstance(getClass().getClassLoader(), new Class<?>[]{WriteListener.class}, (_, _, _) -> null);
  private final Evictor evictor =
      new Evictor(server.client, EDGE, new PodEvents(server.client, EDGE, cluster.clock, "test"), nobody,
          cluster.state::standing);
  private final Preemption preemption =
      new Preemption(cluster, cluster.clock, cluster.state,
          new PreemptionSearch(cluster, cluster.state, cluster.decisions, cluster.priorities, cluster.clock,
              cluster.clock),
          evictor,
          new Retries(loop), DecisionBudget.endless());

  @BeforeEach
  void start() {
    loop.start();
    cluster.nodes("a:1");
    cluster.running("x 1 a/0 140");
  }

  @AfterEach
  void close() {
    evictor.close();
    loop.close();
    server.close();
  }

  @Test
  void isOverWhenNobodyMayBeEvictedAnyMore() {
    Pod pod = waitingForItsTurn("p 10 600");
    cluster.priorities.remove("default/x");
    makeRoom(pod);
    assertThat(preemption.mayMakeRoom(pod)).as("autoscalers are to see it").isFalse();
  }

  @Test
  void isOneForAllOfAGang() {
    Pod first = waitingForItsTurn("p 10 600");
    Pod other = cluster.waiting("q 10 600");
    cluster.clock.advance(Duration.ofHours(1));
    assertThat(preemption.makeRoom(List.of(other, first))).isEmpty();
    assertThat(preemption.mayMakeRoom(first)).as("it was searched for the gang").isFalse();
  }

  @Test
  void comesSoonAndFindsTheSameVictimWhereItCouldNotBeAskedWhetherThatMayBeEvicted() {
    Pod pod = cluster.waiting("p 10 60");
    String uid = pod.getMetadata().getUid();
    assertThat(search(pod)).isPresent();
    preemption.notSent(ObjectKey.of(pod), uid, "default/x");
    assertThat(cluster.state.nominated(uid)).as("nothing is kept meanwhile").isEmpty();
    cluster.clock.advance(Duration.ofSeconds(25));
    assertThat(search(pod)).isPresent();
    preemption.refused(ObjectKey.of(pod), uid, "default/x");
    cluster.clock.advance(Duration.ofSeconds(25));
    assertThat(search(pod)).as("it may not be evicted").isEmpty();
  }

  private Optional<String> search(Pod pod) {
    return preemption.makeRoom(pod, (Decision.Wait) cluster.decisions.of(pod));
  }

  /** The clock stands: what is searched after two others has to wait. */
  private Pod waitingForItsTurn(String words) {
    makeRoom(cluster.waiting("first 10 600"));
    makeRoom(cluster.waiting("second 10 600"));
    Pod pod = cluster.waiting(words);
    makeRoom(pod);
    assertThat(preemption.mayMakeRoom(pod)).isTrue();
    return pod;
  }

  private void makeRoom(Pod pod) {
    assertThat(search(pod)).isEmpty();
  }
}
