package dev.partita.controller.loop;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.Cluster;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.explain.Answer;
import dev.partita.controller.explain.Question;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QuestionsTest {
  private final Cluster cluster = Cluster.empty();
  private final ClusterView view = new ClusterView(cluster.client);
  private final AllocationLoop loop =
      new AllocationLoop(cluster.client, new ApiEdge(() -> true), view, Clock.systemUTC(), "test", false,
          decider -> new WatchedDecider(decider, this::hold));
  private final AtomicInteger decisions = new AtomicInteger(); // begun
  private final CountDownLatch first = new CountDownLatch(1); // holds all until it is open

  private void hold(Pod pod) {
    decisions.incrementAndGet();
    try {
      first.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @AfterEach
  void close() {
    cluster.awaitQuiet();
    loop.close();
    view.close();
    cluster.close();
  }

  @Test
  void nobodyDecidesForWhoDoesNotWaitForTheAnswerAnyMore() {
    cluster.pod("p", "missing");
    view.start();
    eventually().until(() -> view.pod(new ObjectKey("default", "p")) != null);
    loop.start();
    eventually().until(() -> decisions.get() == 1);
    for (int i = 0; i < 3; i++) {
      assertThat(ask().cancel(true)).isTrue();
    }
    CompletableFuture<Answer> wanted = ask();
    first.countDown();
    assertThat(wanted.join()).isInstanceOf(Answer.Explained.class);
    assertThat(decisions).as("of the pod's turn and of the question that somebody waits for").hasValue(2);
  }

  private CompletableFuture<Answer> ask() {
    return loop.explain(new Question(Question.Kind.POD, "default", "p")).toCompletableFuture();
  }
}
