import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import k8s.io.kubelet.pkg.apis.dra.v1.DRAPluginGrpc.DRAPluginBlockingStub;

/**
 * Prints how long kubelet waits for prepared claims: one alone, a hundred of one pod by one call, and a hundred of as
 * many pods by a call each. The plugin's state is where {@code java.io.tmpdir} is. There are few rounds of a hundred:
 * ext4 gives no inode away again within minutes, and walks over all that were deleted since for each new file, which no
 * node has thousands of. The API server's work and kubelet's are on the same processors, but not in these figures'
 * processor time.
 */
final class PrepareTimes {
  private static final int WARM_UP = Integer.getInteger("warmup", 300);
  private static final int SINGLE = Integer.getInteger("single", 100);
  private static final int ROUNDS = Integer.getInteger("rounds", 5);
  private static final int AT_ONCE = 100;

  private final SimulatedNode node;
  private final PluginProcess process;
  private final DRAPluginBlockingStub kubelet;
  private int made;

  private PrepareTimes(SimulatedNode node, PluginProcess process, DRAPluginBlockingStub kubelet) {
    this.node = node;
    this.process = process;
    this.kubelet = kubelet;
  }

  static void measure(SimulatedNode node) throws Exception {
    PluginProcess process = node.ready();
    process.asKubelet(plugin -> new PrepareTimes(node, process, plugin).measure());
    process.stop();
  }

  private void measure() throws Exception {
    double one = measured("one claim", 1, 1, WARM_UP, SINGLE, claims -> PluginProcess.prepare(kubelet, claims));
    Path bare = Files.createDirectory(node.root.resolve("bare"));
    double[] fsyncs = new double[SINGLE];
    for (int i = 0; i < SINGLE; i++) {
      fsyncs[i] = milliseconds(() -> writeDurably(bare));
    }
    print("  its fsyncs alone (a file and its folder)", fsyncs);
    double oneCall =
        measured("100 claims of one pod, one call", AT_ONCE, AT_ONCE, 3, ROUNDS,
            claims -> PluginProcess.prepare(kubelet, claims));
    double calls =
        measured("100 claims of as many pods, a call each", AT_ONCE, 1, 3, ROUNDS, this::prepareAtOnce);
    System.out.printf("100 at once by one: %.1f in one call, %.1f in a call each%n", oneCall / one, calls / one);
  }

  private interface Preparing {
    void of(List<Integer> claims) throws Exception;
  }

  /** Prints the times of several rounds, and the processor time that a claim takes from prepared to released. */
  private double measured(String what, int count, int ofAPod, int warmUp, int rounds, Preparing preparing)
      throws Exception {
    node.api.haveClaimsOfAPod(ofAPod);
    double[] times = new double[rounds];
    long begin = 0;
    for (int round = -warmUp; round < rounds; round++) {
      if (round == 0) {
        begin = process.processorMillis();
      }
      made = (made / count + 1) * count; // a pod's claims begin at a multiple of their count
      List<Integer> claims = IntStream.range(made, made + count).boxed().toList();
      Set<Path> cgroups = claims.stream().map(node.api::podOf).map(pod -> node.cgroups().resolve("pod" + pod))
          .collect(Collectors.toSet());
      for (Path cgroup : cgroups) {
        Files.createDirectory(cgroup);
      }
      double took = milliseconds(() -> preparing.of(claims));
      if (round >= 0) {
        times[round] = took;
      }
      // what it does after its answer is not to disturb the next measurement
      PluginProcess.await("the claims' status", () -> node.api.hasBeenToldOf(claims));
      PluginProcess.release(kubelet, claims);
      for (Path cgroup : cgroups) {
        Files.delete(cgroup);
      }
    }
    double processor = (double) (process.processorMillis() - begin) / rounds / count;
    print(what, times);
    System.out.printf("  processor time of the plugin, a claim from prepared to released: %.2f ms%n", processor);
    return percentile(times, 50);
  }

  private void prepareAtOnce(List<Integer> claims) throws Exception {
    List<Future<?>> answers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      claims.forEach(claim -> answers.add(threads.submit(() -> PluginProcess.prepare(kubelet, List.of(claim)))));
    }
    for (Future<?> answer : answers) {
      answer.get();
    }
  }

  /** What a record costs at least: the file, its place in the folder, and both on the disk. */
  private static void writeDurably(Path folder) throws IOException {
    Path fresh = folder.resolve("fresh");
    Files.write(fresh, new byte[1_024]);
    sync(fresh, StandardOpenOption.WRITE);
    Files.move(fresh, folder.resolve("record"), StandardCopyOption.ATOMIC_MOVE);
    sync(folder, StandardOpenOption.READ);
  }

  private static void sync(Path file, StandardOpenOption how) throws IOException {
    try (FileChannel channel = FileChannel.open(file, how)) {
      channel.force(true);
    }
  }

  private interface Timed {
    void run() throws Exception;
  }

  private static double milliseconds(Timed work) throws Exception {
    long start = System.nanoTime();
    work.run();
    return (System.nanoTime() - start) / 1e6;
  }

  private static void print(String what, double[] milliseconds) {
    System.out.printf(
        "%-45s p50 %7.2f ms   p99 %7.2f ms   of %d%n", what, percentile(milliseconds, 50), percentile(milliseconds, 99),
        milliseconds.length);
  }

  private static double percentile(double[] values, int percent) {
    double[] sorted = java.util.Arrays.stream(values).sorted().toArray();
    return sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)];
  }
}
