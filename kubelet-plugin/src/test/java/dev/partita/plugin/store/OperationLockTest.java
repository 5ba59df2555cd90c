package dev.partita.plugin.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OperationLockTest {
  private static final Duration SOON = Duration.ofMinutes(1);

  @TempDir Path root;

  @Test
  void operationsOnOtherClaimsAndCardsRunAtTheSameTime() throws Exception {
    CyclicBarrier together = new CyclicBarrier(2);
    try (OperationLock lock = open();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> both = new ArrayList<>();
      for (String name : List.of("a", "b")) {
        both.add(threads
            .submit(() -> lock.onClaim(name, () -> onCards(lock, List.of("GPU-" + name), () -> meet(together)))));
      }
      for (Future<Integer> one : both) {
        assertThat(one.get(1, TimeUnit.MINUTES)).isNotNegative();
      }
    }
  }

  @Test
  void operationsThatHaveACardOrAClaimInCommonRunOneAfterTheOtherInWhateverOrderTheyNameThem() throws Exception {
    AtomicInteger onCard = new AtomicInteger();
    AtomicInteger onClaim = new AtomicInteger();
    try (OperationLock lock = open();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        List<String> cards = i % 2 == 0 ? List.of("GPU-a", "GPU-b", "GPU-" + i) : List.of("GPU-" + i, "GPU-b", "GPU-a");
        String claim = "claim-" + i % 3;
        all.add(threads.submit(() -> lock.onClaim(claim, () -> onCards(lock, cards, () -> aloneIn(onCard)))));
        all.add(threads.submit(() -> lock.onClaim("same", () -> aloneIn(onClaim))));
      }
      for (Future<Integer> one : all) {
        assertThat(one.get(1, TimeUnit.MINUTES)).isOne();
      }
    }
  }

  @Test
  void anOperationOnTheNodeRunsAlone() throws Exception {
    AtomicInteger running = new AtomicInteger();
    try (OperationLock lock = open();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        all.add(threads.submit(() -> lock.run(() -> aloneIn(running))));
        String claim = "claim-" + i;
        all.add(threads.submit(() -> lock.onClaim(claim, () -> running.get() + 1)));
      }
      for (Future<Integer> one : all) {
        assertThat(one.get(1, TimeUnit.MINUTES)).isOne();
      }
    }
  }

  @Test
  void anotherPluginsCardIsWaitedForAndOthersAreNot() throws Exception {
    try (OperationLock lock = open();
        Other other = new Other(root, "hold");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      assertThat(other.line()).isEqualTo("held");
      CountDownLatch entered = new CountDownLatch(1);
      Future<Boolean> same =
          threads.submit(
              () -> lock.onClaim(
                  "mine",
                  () -> {
                    entered.countDown();
                    return onCards(lock, List.of("GPU-a"), () -> true);
                  }));
      Future<Boolean> node = threads.submit(() -> lock.onClaim("theirs", () -> true));
      assertThat(entered.await(1, TimeUnit.MINUTES)).isTrue();
      assertThat(lock.onClaim("another", () -> onCards(lock, List.of("GPU-b"), () -> true))).isTrue();
      assertThat(same).isNotDone();
      assertThat(node).isNotDone();
      other.kill();
      await().atMost(SOON).until(() -> same.isDone() && node.isDone());
      assertThat(lock.run(() -> true)).isTrue();
    }
  }

  @Test
  void twoPluginsWhoseThreadsHoldAndWaitCrosswiseAreNotTakenForADeadlock() throws Exception {
    try (OperationLock lock = open();
        Other other = new Other(root, "work")) {
      assertThat(other.line()).isEqualTo("working");
      work(lock);
      assertThat(other.line()).isEqualTo("done");
    }
  }

  private OperationLock open() throws IOException {
    return new OperationLock(root.resolve("lock"));
  }

  private static <T> T onCards(OperationLock lock, List<String> cards, OperationLock.Operation<T> operation)
      throws IOException {
    return lock.onCards(cards, operation);
  }

  private static int meet(CyclicBarrier together) {
    try {
      return together.await(1, TimeUnit.MINUTES);
    } catch (Exception e) {
      throw new IllegalStateException("the other one was kept out", e);
    }
  }

  private static int aloneIn(AtomicInteger running) {
    int now = running.incrementAndGet();
    long end = System.nanoTime() + 100_000;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    running.decrementAndGet();
    return now;
  }

  /** Threads that take two of three cards each, again and again. */
  private static void work(OperationLock lock) throws Exception {
    List<Future<Integer>> all = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(6)) {
      for (int i = 0; i < 6; i++) {
        List<String> cards = List.of("GPU-" + i % 3, "GPU-" + (i + 1) % 3);
        String claim = "claim-" + i + "-" + ProcessHandle.current().pid();
        all.add(
            threads.submit(
                () -> {
                  for (int round = 0; round < 100; round++) {
                    assertThat(lock.onClaim(claim, () -> onCards(lock, cards, () -> true))).isTrue();
                  }
                  return 100;
                }));
      }
    }
    for (Future<Integer> one : all) {
      assertThat(one.get()).isEqualTo(100);
    }
  }

  /** What another plugin does; the locks are a process'. */
  static final class Child {
    private Child() {}

    public static void main(String[] arguments) throws Exception {
      try (OperationLock lock = new OperationLock(Path.of(arguments[0]))) {
        if (arguments[1].equals("work")) {
          System.out.println("working");
          work(lock);
          System.out.println("done");
          return;
        }
        lock.onClaim(
            "theirs",
            () -> onCards(
                lock,
                List.of("GPU-a"),
                () -> {
                  System.out.println("held");
                  return System.in.read(); // until it is killed
                }));
      }
    }
  }

  private static final class Other implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    Other(Path root, String what) throws IOException {
      process =
          new ProcessBuilder(
              ProcessHandle.current().info().command().orElseThrow(),
              "-cp",
              System.getProperty("java.class.path"),
              Child.class.getName(),
              root.resolve("lock").toString(),
              what)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    String line() {
      try {
        return String.valueOf(output.readLine());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void kill() {
      process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
      kill();
    }
  }
}
