package dev.partita.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FailureLogTest {
  private final AtomicLong now = new AtomicLong();
  private final List<String> logged = new ArrayList<>();
  private final FailureLog log = new FailureLog(now::get, failure -> logged.add(failure.getMessage()));

  @Test
  void theSameFailureIsLoggedOnceAMinuteWhateverItSays() {
    for (int i = 0; i < 100; i++) {
      log.failed(one("first " + i));
    }
    assertThat(logged).containsExactly("first 0");
    now.addAndGet(FailureLog.BETWEEN.toNanos());
    log.failed(one("second"));
    log.failed(one("third"));
    assertThat(logged).containsExactly("first 0", "second");
  }

  @Test
  void anotherFailureIsLoggedAtOnce() {
    log.failed(one("one"));
    log.failed(new IllegalStateException("of another place"));
    log.failed(new StackOverflowError("of another kind"));
    log.failed(new Untraced("without a place"));
    log.failed(new Untraced("without a place, again"));
    assertThat(logged).containsExactly("one", "of another place", "of another kind", "without a place");
  }

  private static RuntimeException one(String message) {
    return new IllegalStateException(message);
  }

  /** As the JVM throws those that it has thrown often. */
  private static final class Untraced extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Untraced(String message) {
      super(message, null, false, false);
    }
  }
}
