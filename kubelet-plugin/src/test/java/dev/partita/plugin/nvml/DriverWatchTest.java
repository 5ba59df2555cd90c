package dev.partita.plugin.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DriverWatchTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final AtomicLong nanos = new AtomicLong();
  private final DriverWatch watch = new DriverWatch(nanos::get);

  @Test
  void aDriverKeepsWaitingWhileACallDoesNotComeBackAndForAWhileAfterIt() throws InterruptedException {
    Semaphore end = new Semaphore(0);
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    watch.around(library -> stuck(end)).open(Path.of("libnvidia-ml.so"));
                  } catch (NvmlException e) {
                    assertThat(e.code()).isEqualTo(NvmlException.TIMEOUT);
                  }
                });
    await().atMost(Duration.ofSeconds(20)).until(end::hasQueuedThreads);
    assertThat(watch.keepsWaiting(MINUTE)).isFalse();
    pass(Duration.ofSeconds(11));
    assertThat(watch.keepsWaiting(MINUTE)).isTrue();
    end.release();
    caller.join();
    assertThat(watch.keepsWaiting(MINUTE)).as("who waited for it has not had the time for a turn yet").isTrue();
    pass(MINUTE);
    assertThat(watch.keepsWaiting(MINUTE)).isFalse();
  }

  private static CardReader stuck(Semaphore end) throws NvmlException {
    end.acquireUninterruptibly();
    throw new NvmlException("nvmlInit_v2", NvmlException.TIMEOUT, "gave up");
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
