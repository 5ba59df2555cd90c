package dev.partita.controller.turns;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TasksByTurnsTest {
  private static final Duration NEVER = Duration.ofHours(1);

  private final List<String> done = new CopyOnWriteArrayList<>();
  private final CountDownLatch go = new CountDownLatch(1);

  @Test
  void namespacesTakeTurnsAndTasksOfOneAreDoneInTheirOrder() {
    try (TasksByTurns tasks = new TasksByTurns("test", () -> 1, NEVER)) {
      tasks.add("first", () -> awaited(go));
      for (int i = 0; i < 3; i++) {
        String name = "busy-" + i;
        tasks.add("busy", () -> done.add(name));
      }
      tasks.add("neighbour", () -> {
        done.add("neighbour-0");
        tasks.add("third", () -> done.add("third-0"));
      });
      assertThat(tasks.waiting()).isEqualTo(4);
      go.countDown();
      eventually().until(() -> done.size() == 5);
      assertThat(done).containsExactly("busy-0", "neighbour-0", "busy-1", "third-0", "busy-2");
      eventually().until(() -> tasks.waiting() == 0);
    }
  }

  @Test
  void noMoreAreDoneAtOnceThanMayBe() {
    AtomicInteger atOnce = new AtomicInteger(2);
    AtomicInteger begun = new AtomicInteger();
    try (TasksByTurns tasks = new TasksByTurns("test", atOnce::get, NEVER)) {
      for (int i = 0; i < 6; i++) {
        tasks.add("n-" + i, () -> {
          begun.incrementAndGet();
          awaited(go);
        });
      }
      eventually().until(() -> begun.get() == 2);
      assertThat(tasks.waiting()).isEqualTo(4);
      atOnce.set(3);
      tasks.add("another", () -> done.add("another"));
      eventually().until(() -> begun.get() == 3);
      assertThat(tasks.waiting()).isEqualTo(4);
      assertThat(done).isEmpty();
      go.countDown();
      eventually().until(() -> begun.get() == 6 && done.size() == 1);
    } finally {
      go.countDown();
    }
  }

  /** As where a webhook for a namespace does not answer, and each write there waits for 30 s. */
  @Test
  void namespacesWhoseTasksHangKeepNoOtherNamespacesFromBeingDone() {
    AtomicInteger hanging = new AtomicInteger();
    List<String> namespaces = IntStream.range(0, 10).mapToObj(i -> "hangs-" + i).toList();
    try (TasksByTurns tasks = new TasksByTurns("test", () -> 2, Duration.ofMillis(20))) {
      for (int i = 0; i < TasksByTurns.MOST_OF_ONE; i++) {
        for (String namespace : namespaces) {
          tasks.add(namespace, () -> {
            hanging.incrementAndGet();
            awaited(go);
          });
        }
      }
      eventually().until(() -> hanging.get() >= 40);
      for (int i = 0; i < 100; i++) {
        tasks.add("neighbour", () -> done.add("done"));
      }
      eventually().until(() -> done.size() == 100);
      assertThat(hanging).as("each leaves as many to the others").hasValueLessThan(48);
      go.countDown();
      eventually().until(() -> hanging.get() == namespaces.size() * TasksByTurns.MOST_OF_ONE);
    } finally {
      go.countDown();
    }
  }

  @Test
  void noMoreOfOneNamespaceAreUnderWayThanMayBe() {
    AtomicInteger hanging = new AtomicInteger();
    try (TasksByTurns tasks = new TasksByTurns("test", () -> 2, Duration.ofMillis(20))) {
      for (int i = 0; i <= TasksByTurns.MOST_OF_ONE; i++) {
        tasks.add("a", () -> {
          hanging.incrementAndGet();
          awaited(go);
        });
      }
      eventually().until(() -> hanging.get() == TasksByTurns.MOST_OF_ONE);
      tasks.add("b", () -> done.add("done"));
      eventually().until(() -> done.size() == 1);
      assertThat(hanging).hasValue(TasksByTurns.MOST_OF_ONE);
      go.countDown();
    } finally {
      go.countDown();
    }
  }

  @Test
  void aTaskThatFailsLeavesItsPlace() {
    try (TasksByTurns tasks = new TasksByTurns("test", () -> 1, NEVER)) {
      for (int i = 0; i < 2 * TasksByTurns.MOST_OF_ONE; i++) {
        tasks.add("a", () -> {
          throw new IllegalStateException("as a test wants it");
        });
      }
      tasks.add("a", () -> done.add("last"));
      eventually().until(() -> done.size() == 1);
    }
  }

  @Test
  void whatWaitsAtTheEndIsDoneAndNothingIsTakenAfterwards() {
    TasksByTurns tasks = new TasksByTurns("test", () -> 1, NEVER);
    for (int i = 0; i < 50; i++) {
      tasks.add("a", () -> done.add("done"));
    }
    tasks.close();
    assertThat(done).hasSize(50);
    assertThatThrownBy(() -> tasks.add("a", () -> done.add("late"))).isInstanceOf(IllegalStateException.class);
  }

  private static void awaited(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
