import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Prints what a node pays for its plugin: how soon it has started, its memory and its processor time. */
final class NodeCosts {
  private static final int CARDS = SimulatedNode.CARDS;
  private static final int SHARES = 200;
  private static final int STARTS = Integer.getInteger("starts", 7);
  private static final int FIRST_SECONDS = 5;
  private static final int SCRAPES = 20;
  private static final Duration IDLE = Duration.ofSeconds(Integer.getInteger("idle", 60));
  private static final int SETTLED_SECONDS = 10;

  private NodeCosts() {}

  static void measure(SimulatedNode node) throws Exception {
    printStarts(node);
    List<Integer> claims = IntStream.range(0, SHARES).boxed().toList();
    PluginProcess process = node.ready();
    process.asKubelet(plugin -> claims.forEach(claim -> PluginProcess.prepare(plugin, List.of(claim))));
    System.out.printf("memory, %d cards, %d shares just prepared: %s%n", CARDS, SHARES, process.memory());
    TimeUnit.SECONDS.sleep(SETTLED_SECONDS);
    printIdle(process, SHARES + " shares");
    printScrapes(process);
    process.asKubelet(plugin -> PluginProcess.release(plugin, claims));
    TimeUnit.SECONDS.sleep(SETTLED_SECONDS);
    printIdle(process, "no share");
    process.stop();
  }

  private static void printStarts(SimulatedNode node) throws Exception {
    List<Long> bare = new ArrayList<>();
    List<Long> registered = new ArrayList<>();
    List<Long> processor = new ArrayList<>();
    for (int i = 0; i < STARTS; i++) {
      long begin = System.nanoTime();
      node.runBareJvm();
      bare.add((System.nanoTime() - begin) / 1_000_000);
      PluginProcess process = node.start(Optional.empty());
      registered.add(process.register());
      process.awaitReady();
      TimeUnit.SECONDS.sleep(FIRST_SECONDS);
      processor.add(process.processorMillis());
      process.stop();
    }
    System.out.printf(
        "start to registered with kubelet: %d ms (median of %d: %s); a bare JVM: %d ms (%s); ratio %.1f%n",
        median(registered), STARTS, registered, median(bare), bare, (double) median(registered) / median(bare));
    System.out.printf(
        "processor time from the start until %d s after the node's report: %d ms (median of %d: %s)%n",
        FIRST_SECONDS, median(processor), STARTS, processor);
  }

  private static void printScrapes(PluginProcess process) throws Exception {
    long before = process.processorMillis();
    List<PluginProcess.Scrape> scrapes = new ArrayList<>();
    for (int i = 0; i < SCRAPES; i++) {
      TimeUnit.MILLISECONDS.sleep(1_200); // within a second the text is not made anew
      scrapes.add(process.scrape());
    }
    scrapes.sort(Comparator.comparingDouble(PluginProcess.Scrape::milliseconds));
    System.out.printf(
        "a scrape, %d cards, %d shares: median %.1f ms, longest %.1f ms, %d samples, %.1f ms of processor time; then %s%n",
        CARDS, SHARES, scrapes.get(SCRAPES / 2).milliseconds(), scrapes.getLast().milliseconds(),
        scrapes.getLast().samples(), (double) (process.processorMillis() - before) / SCRAPES, process.memory());
  }

  private static void printIdle(PluginProcess process, String with) throws Exception {
    long before = process.processorMillis();
    long inSimulator = process.simulatorMillis();
    TimeUnit.NANOSECONDS.sleep(IDLE.toNanos());
    long used = process.processorMillis() - before;
    long ofSimulator = process.simulatorMillis() - inSimulator;
    System.out.printf("memory, %d cards, %s: %s%n", CARDS, with, process.memory());
    System.out.printf(
        "processor time, %s, %d s: %.2f %% of a core, and %.2f %% in the simulator's wait for events%n",
        with, IDLE.toSeconds(), (used - ofSimulator) / 10.0 / IDLE.toSeconds(), ofSimulator / 10.0 / IDLE.toSeconds());
  }

  private static long median(List<Long> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
