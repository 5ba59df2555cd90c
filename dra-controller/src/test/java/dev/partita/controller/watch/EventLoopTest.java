package dev.partita.controller.watch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class EventLoopTest {
  private static final Duration LONG = Duration.ofSeconds(60);
  private final List<Set<String>> handled = new CopyOnWriteArrayList<>();

  @Test
  void whatArrivesTogetherIsHandledTogetherAndEqualEventsOnce() {
    try (EventLoop<String> loop = loop(LONG, handled::add)) {
      List.of("a", "b", "a").forEach(loop::post);
      loop.start();
      loop.finish(LONG); // ends the gathering as well
    }
    assertThat(handled).containsExactly(Set.of("a", "b"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void anEventThatCannotBeHandledIsLostAndNoOtherOfItsBatch(Throwable failure) {
    List<String> seen = new CopyOnWriteArrayList<>();
    try (EventLoop<String> loop = loop(LONG, batch -> {
      if (batch.contains("bad")) {
        throwAsIs(failure);
      }
      seen.addAll(batch);
    })) {
      List.of("before", "bad", "after").forEach(loop::post);
      loop.start();
      loop.finish(LONG);
    }
    assertThat(seen).containsExactly("before", "after");
  }

  static List<Throwable> failures() {
    return List.of(
        new IllegalStateException("as it should in this test"),
        new AssertionError("as it should in this test"),
        new StackOverflowError("as it should in this test"));
  }

  @Test
  void aLoopGoesOnAfterAFailure() {
    try (EventLoop<String> loop = loop(Duration.ZERO, batch -> {
      if (batch.contains("bad")) {
        throw new StackOverflowError("as it should in this test");
      }
      handled.add(batch);
    })) {
      loop.start();
      loop.post("bad");
      loop.post("good");
      Awaitility.await().until(() -> handled.equals(List.of(Set.of("good"))));
    }
  }

  @Test
  void whatIsPostedAfterAPauseComesNoSooner() {
    Duration pause = Duration.ofMillis(2).minusNanos(1);
    List<Long> took = new CopyOnWriteArrayList<>();
    try (EventLoop<String> loop = loop(Duration.ZERO,
        batch -> batch.forEach(begun -> took.add(System.nanoTime() - Long.parseLong(begun))))) {
      loop.start();
      for (int i = 0; i < 50; i++) {
        int before = i;
        loop.postAfter(pause, Long.toString(System.nanoTime()));
        Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1))
            .until(() -> took.size() > before);
      }
    }
    assertThat(took).allSatisfy(nanos -> assertThat(nanos).isGreaterThanOrEqualTo(pause.toNanos()));
  }

  @Test
  void whatWaitsBehindASlowHandlerIsNoMoreThanThereAreDifferentEvents() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Semaphore go = new Semaphore(0);
    EventLoop<String> loop = loop(Duration.ZERO, batch -> {
      begun.countDown();
      go.acquireUninterruptibly();
      handled.add(batch);
    });
    loop.start();
    loop.post("in hand");
    begun.await();
    for (int i = 0; i < 100_000; i++) {
      loop.post("claim-" + i % 3);
    }
    go.release(2);
    loop.finish(LONG);
    assertThat(handled).containsExactly(Set.of("in hand"), Set.of("claim-0", "claim-1", "claim-2"));
  }

  @Test
  void aFailureOfTheProcessIsNoneOfAnEvent() {
    assertThat(List.of(new OutOfMemoryError(), new NoClassDefFoundError(), new InternalError()))
        .noneMatch(Faults::isOfTheItem);
    assertThat(failures()).allMatch(Faults::isOfTheItem);
  }

  private static void throwAsIs(Throwable failure) {
    switch (failure) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new IllegalArgumentException(failure);
    }
  }

  @Test
  void whatWaitsWhenItFinishesIsHandledAndWhatComesLaterIsNot() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Semaphore go = new Semaphore(0);
    EventLoop<String> loop = loop(Duration.ZERO, batch -> {
      begun.countDown();
      go.acquireUninterruptibly();
      handled.add(batch);
    });
    loop.start();
    loop.post("in hand");
    begun.await();
    loop.post("waits");
    Thread finishing = Thread.ofVirtual().start(() -> loop.finish(LONG));
    Awaitility.await().until(() -> finishing.getState() == Thread.State.TIMED_WAITING);
    loop.post("later");
    go.release(3);
    finishing.join();
    assertThat(handled).containsExactly(Set.of("in hand"), Set.of("waits"));
  }

  @Test
  void itFinishesInTimeThoughTheHandlerWaits() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    EventLoop<String> loop = holding(begun);
    loop.start();
    loop.post("in hand");
    begun.await();
    loop.finish(Duration.ofMillis(1));
    assertThat(handled).containsExactly(Set.of("in hand"));
  }

  @Test
  void whatWaitsWhenItIsClosedIsDropped() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    EventLoop<String> loop = holding(begun);
    loop.start();
    loop.post("in hand");
    begun.await();
    loop.post("waits");
    loop.close();
    assertThat(handled).containsExactly(Set.of("in hand"));
  }

  /** Not each of the many rounds comes upon the moment in which the loop is closed. */
  @Test
  void whatIsToBePostedLaterWhileItIsClosedIsDropped() throws Exception {
    for (int round = 0; round < 500; round++) {
      EventLoop<String> loop = loop(Duration.ZERO, handled::add);
      loop.start();
      CountDownLatch begun = new CountDownLatch(1);
      AtomicBoolean closed = new AtomicBoolean();
      FutureTask<Boolean> posting = new FutureTask<>(() -> {
        while (!closed.get()) {
          loop.postAfter(LONG, "later");
          begun.countDown();
        }
        return true;
      });
      Thread.ofPlatform().start(posting);
      begun.await();
      loop.close();
      closed.set(true);
      assertThat(posting.get()).as("round %d", round).isTrue();
    }
  }

  /** One whose handler, having begun, waits until it is interrupted. */
  private EventLoop<String> holding(CountDownLatch begun) {
    return loop(Duration.ZERO, batch -> {
      begun.countDown();
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        handled.add(batch);
      }
    });
  }

  private static EventLoop<String> loop(Duration gather, Consumer<Set<String>> handler) {
    return new EventLoop<>("test", gather, handler);
  }
}
