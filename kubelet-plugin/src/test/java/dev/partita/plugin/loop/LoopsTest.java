package dev.partita.plugin.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LoopsTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final Duration ALLOWED = Duration.ofMinutes(1);
  private static final Duration NEVER = Duration.ofDays(1);

  private final AtomicLong nanos = new AtomicLong();
  private final AtomicBoolean driverKeepsWaiting = new AtomicBoolean();

  @Test
  void anErrorEndsNoLoopAndIsSeenAsLongAsNoTurnSucceeds() {
    AtomicInteger turns = new AtomicInteger();
    AtomicBoolean sound = new AtomicBoolean();
    try (Loops loops = loops()) {
      PeriodicLoop loop =
          loops
              .make(
                  "fragile",
                  ALLOWED,
                  () -> {
                    turns.incrementAndGet();
                    if (!sound.get()) {
                      throw new StackOverflowError();
                    }
                    return NEVER;
                  })
              .start();
      await().atMost(SOON).until(() -> turns.get() == 1);
      assertThat(loops.standstill()).isEmpty();
      pass(ALLOWED.plusSeconds(1));
      assertThat(loops.standstill()).hasValueSatisfying(words -> assertThat(words).contains("fragile", "61 s"));
      sound.set(true);
      loop.soon();
      await().atMost(SOON).until(() -> loops.standstill().isEmpty());
      assertThat(turns.get()).isGreaterThan(1);
    }
  }

  @Test
  void theLogHasTheExceptionThatATurnThrew() {
    Logger logger = (Logger) LoggerFactory.getLogger(PeriodicLoop.class);
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    logger.addAppender(log);
    try (Loops loops = loops()) {
      loops.make("fails-aloud", ALLOWED, () -> {
        throw new IllegalStateException("for the test");
      }).start();
      await().atMost(SOON).until(() -> List.copyOf(log.list).stream()
          .anyMatch(event -> event.getFormattedMessage().contains("fails-aloud") && event.getThrowableProxy() != null
              && "for the test".equals(event.getThrowableProxy().getMessage())));
    } finally {
      logger.detachAppender(log);
    }
  }

  @Test
  void aTurnThatDoesNotEndIsSeen() {
    Semaphore end = new Semaphore(0);
    try (Loops loops = loops()) {
      loops
          .make(
              "stuck",
              ALLOWED,
              () -> {
                end.acquire();
                return NEVER;
              })
          .start();
      await().atMost(SOON).until(end::hasQueuedThreads);
      pass(ALLOWED.plusSeconds(1));
      assertThat(loops.standstill()).isPresent();
      end.release();
      await().atMost(SOON).until(() -> loops.standstill().isEmpty());
    }
  }

  @Test
  void whoWaitsForTheDriverIsExcusedAndNobodyElse() {
    driverKeepsWaiting.set(true);
    Semaphore end = new Semaphore(0);
    PeriodicLoop.Turn stuck =
        () -> {
          end.acquire();
          return NEVER;
        };
    try (Loops loops = loops()) {
      loops.makeAskingDriver("asks", ALLOWED, stuck).start();
      pass(ALLOWED.plusSeconds(1));
      assertThat(loops.standstill()).isEmpty();
      PeriodicLoop other = loops.make("does not ask", ALLOWED, stuck).start();
      pass(ALLOWED.plusSeconds(1));
      assertThat(loops.standstill()).hasValueSatisfying(words -> assertThat(words).contains("does not ask"));
      other.close();
      driverKeepsWaiting.set(false);
      assertThat(loops.standstill()).hasValueSatisfying(words -> assertThat(words).contains("the loop asks"));
    }
  }

  /** The clock asks at the moment in which the loop is started and looks at the time. */
  @Test
  void aLoopThatWasMadeLongAgoDoesNotStandStillWhileItIsStarted() {
    AtomicLong now = new AtomicLong();
    AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
    LongSupplier clock = () -> {
      meanwhile.getAndSet(() -> {}).run();
      return now.get();
    };
    List<Optional<String>> said = new ArrayList<>();
    try (Loops loops = new Loops(clock, Loops.Excuse.NONE)) {
      PeriodicLoop loop = loops.make("made long ago", ALLOWED, () -> NEVER);
      now.addAndGet(ALLOWED.plusSeconds(1).toNanos());
      meanwhile.set(() -> said.add(loops.standstill()));
      loop.start();
    }
    assertThat(said).containsExactly(Optional.empty());
  }

  @Test
  void aLoopThatWasAskedForATurnDuringOneTakesAnother() {
    AtomicInteger turns = new AtomicInteger();
    Semaphore end = new Semaphore(0);
    try (Loops loops = loops()) {
      PeriodicLoop loop =
          loops
              .make(
                  "asked",
                  ALLOWED,
                  () -> {
                    turns.incrementAndGet();
                    end.acquire();
                    return NEVER;
                  })
              .start();
      await().atMost(SOON).until(end::hasQueuedThreads);
      loop.soon();
      end.release(2);
      await().atMost(SOON).until(() -> turns.get() == 2);
    }
  }

  @Test
  void allLoopsEndTogether() {
    PeriodicLoop loop;
    try (Loops loops = loops()) {
      loop = loops.make("ends", ALLOWED, () -> NEVER).start();
      loops.make("never started", ALLOWED, () -> NEVER);
    }
    assertThat(loop.hasEnded()).isTrue();
  }

  private Loops loops() {
    return new Loops(nanos::get, atMost -> driverKeepsWaiting.get());
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
