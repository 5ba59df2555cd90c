package dev.partita.controller.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ChangesTest {
  private static final ObjectKey POD = new ObjectKey("ns", "pod");

  private final Changes changes = new Changes();

  @Test
  void whatHoldsAlreadyIsNotWaitedFor() throws InterruptedException {
    assertThat(changes.await(POD, () -> true, Duration.ZERO)).isTrue();
  }

  @Test
  void whatNeverHoldsIsGivenUpAfterTheTime() throws InterruptedException {
    assertThat(changes.await(POD, () -> false, Duration.ofMillis(10))).isFalse();
  }

  @Test
  void aChangeOfTheObjectIsLookedAt() throws Exception {
    AtomicBoolean shown = new AtomicBoolean();
    AtomicInteger asked = new AtomicInteger();
    CompletableFuture<Boolean> seen = waiting(shown, asked);
    await().until(() -> asked.get() == 1);
    shown.set(true);
    changes.tell(new ObjectKey("ns", "pod"));
    assertThat(seen.get()).isTrue();
  }

  @Test
  void changesOfMostOtherObjectsWakeNobody() throws Exception {
    AtomicBoolean shown = new AtomicBoolean();
    AtomicInteger asked = new AtomicInteger();
    CompletableFuture<Boolean> seen = waiting(shown, asked);
    await().until(() -> asked.get() == 1);
    IntStream.range(0, 1000).forEach(i -> changes.tell(new ObjectKey("ns", "other-" + i)));
    shown.set(true);
    changes.tell(POD);
    assertThat(seen.get()).isTrue();
    assertThat(asked.get()).isLessThan(200);
  }

  private CompletableFuture<Boolean> waiting(AtomicBoolean shown, AtomicInteger asked) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return changes.await(
                POD,
                () -> {
                  asked.incrementAndGet();
                  return shown.get();
                },
                Duration.ofSeconds(20));
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }
}
