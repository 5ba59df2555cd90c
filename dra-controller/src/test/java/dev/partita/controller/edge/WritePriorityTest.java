package dev.partita.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WritePriorityTest {
  private final WritePriority way = new WritePriority(Duration.ofHours(1));
  private final Thread second = Thread.ofPlatform().daemon().unstarted(way.second()::begin);

  @AfterEach
  void end() {
    second.interrupt();
  }

  @Test
  void whatIsAsideGoesAtOnceWhenNothingElseIsUnderWay() throws InterruptedException {
    way.first().begin();
    way.first().end();
    second.start();
    second.join();
  }

  @Test
  void whatIsAsideWaitsForTheLastOfTheOthersToEnd() throws InterruptedException {
    way.first().begin();
    way.first().begin();
    second.start();
    awaitWaiting();
    way.first().end();
    assertThat(second.isAlive()).isTrue();
    way.first().end();
    second.join();
  }

  @Test
  void whatIsAsideGoesAfterItsPatienceThoughOthersGoOn() throws InterruptedException {
    WritePriority impatient = new WritePriority(Duration.ofMillis(20));
    impatient.first().begin();
    Thread waiting = Thread.ofPlatform().daemon().start(impatient.second()::begin);
    waiting.join();
    impatient.second().begin(); // and so do those that come later, until there is a pause
  }

  @Test
  void theOthersNeverWait() throws InterruptedException {
    way.second().begin();
    Thread first = Thread.ofPlatform().daemon().start(way.first()::begin);
    first.join();
  }

  @Test
  void anInterruptEndsTheWaitAndIsKept() throws InterruptedException {
    way.first().begin();
    boolean[] kept = new boolean[1];
    Thread waiting =
        Thread.ofPlatform().daemon().start(() -> {
          way.second().begin();
          kept[0] = Thread.currentThread().isInterrupted();
        });
    waiting.interrupt();
    waiting.join();
    assertThat(kept[0]).isTrue();
  }

  private void awaitWaiting() {
    await().until(() -> second.getState() == Thread.State.TIMED_WAITING);
  }
}
