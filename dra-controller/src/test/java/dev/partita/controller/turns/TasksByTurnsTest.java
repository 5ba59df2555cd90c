package dev.partita.controller.turns;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TasksByTurnsTest {
  private final TasksByTurns tasks = new TasksByTurns();
  private final List<String> done = new ArrayList<>();

  @Test
  void namespacesTakeTurnsAndTasksOfOneAreDoneInTheirOrder() {
    for (int i = 0; i < 3; i++) {
      add("busy", "busy-" + i);
    }
    add("neighbour", "neighbour-0");
    run(2);
    add("third", "third-0");
    run(3);
    assertThat(done).containsExactly("busy-0", "neighbour-0", "busy-1", "third-0", "busy-2");
    run(1);
    assertThat(done).as("nothing is left").hasSize(5);
  }

  private void add(String namespace, String task) {
    tasks.add(namespace, () -> done.add(task));
  }

  private void run(int times) {
    for (int i = 0; i < times; i++) {
      tasks.runNext();
    }
  }
}
