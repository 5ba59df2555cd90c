package dev.partita.controller.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.watch.ObjectKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ChangedClaimsTest {
  private static final ObjectKey CLAIM = new ObjectKey("default", "claim");

  private final ChangedClaims changed = new ChangedClaims();

  @Test
  void whatIsNotedAfterAllWereCountedIsTakenOnce() {
    changed.note(CLAIM);
    assertThat(changed.takeAll()).isTrue();
    assertThat(changed.take()).as("it was counted with all").isEmpty();
    changed.note(CLAIM);
    assertThat(changed.takeAll()).isFalse();
    assertThat(changed.take()).containsExactly(CLAIM);
    assertThat(changed.take()).isEmpty();
  }

  @Test
  void moreThanAreNotedHaveAllCounted() {
    assertThat(changed.takeAll()).isTrue();
    note(ChangedClaims.MOST_NOTED);
    assertThat(changed.takeAll()).isFalse();
    note(ChangedClaims.MOST_NOTED + 1);
    assertThat(changed.takeAll()).isTrue();
    assertThat(changed.take()).isEmpty();
  }

  @Test
  void whatIsNotedIsNotLostWhereOthersSayAtThatMomentThatAllHaveChanged() throws Exception {
    assertThat(changed.takeAll()).isTrue();
    note(ChangedClaims.MOST_NOTED);
    int others = 8;
    CyclicBarrier start = new CyclicBarrier(others + 1);
    try (ExecutorService threads = Executors.newFixedThreadPool(others)) {
      for (int round = 0; round < 200; round++) {
        List<Future<?>> noting = new ArrayList<>();
        for (int i = 0; i < others; i++) {
          noting.add(threads.submit(() -> {
            start.await();
            changed.noteAll();
            return null;
          }));
        }
        start.await();
        boolean again = false;
        while (!again || noting.stream().anyMatch(each -> !each.isDone())) {
          if (changed.takeAll()) { // counts, and then a claim changes
            again = true;
            changed.note(CLAIM);
          }
        }
        for (Future<?> each : noting) {
          each.get();
        }
        assertThat(changed.takeAll() || changed.take().contains(CLAIM)).as("round " + round).isTrue();
      }
    }
  }

  private void note(int claims) {
    IntStream.range(0, claims).mapToObj(i -> new ObjectKey("default", "c" + i)).forEach(changed::note);
  }
}
