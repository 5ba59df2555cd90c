package dev.partita.controller.memory;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Prints what a controller takes of memory in clusters of several sizes. It starts the image's own runtime, jars and
 * options as a process, whose API server is a {@link GeneratedApiServer} in another one. Arguments: the image's folder
 * {@code usr/lib/partita}, and a part of the name of the only cluster to try.
 */
final class MemoryBench {
  private static final int NODES = 5_000;
  private static final int CARDS = 8;
  private static final int PODS = 20_000;

  /** The chart's default limit, from which the runtime reckons its heap. */
  private static final String LIMIT = "-XX:MaxRAM=" + System.getProperty("partita.limit", "512m");

  private static final Duration PATIENCE = Duration.ofMinutes(5);

  private MemoryBench() {}

  /** What one run took, in bytes; live is what is left of the heap after a full collection. */
  private record Taken(long live, long resident, long mostResident, Duration ready) {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path image = Path.of(arguments[0]).toAbsolutePath();
    String only = arguments.length > 1 ? arguments[1] : "";
    System.out.println("| cluster | ready after, s | live heap, MiB | resident, MiB | at most, MiB |");
    System.out.println("| --- | ---: | ---: | ---: | ---: |");
    Taken empty = row(only, image, "no nodes, no pods", 0, 0, 0, 0, 0);
    Taken nodes = row(only, image, "5,000 nodes of 8 cards", NODES, 0, 0, 0, 0);
    Taken pods = row(only, image, "the same, 20,000 pods", NODES, PODS, 0, 0, 0);
    Taken claims = row(only, image, "the same, 20,000 pods with a claim each", NODES, PODS, PODS, 0, 0);
    row(only, image, "the same, and 1,000 of them wait with more than a card has", NODES, PODS, PODS, 0, 1_000);
    row(only, image, "1,200 pods with 256 KiB of annotations each", 10, 1_200, 0, 256 << 10, 0);
    if (List.of(empty, nodes, pods, claims).stream().allMatch(taken -> taken.live > 0)) {
      System.out.printf(
          Locale.ROOT,
          "%nheap: %.1f KiB a node of 8 cards, %.1f KiB a pod, %.1f KiB a claim%n",
          (nodes.live - empty.live) / 1024.0 / NODES,
          (pods.live - nodes.live) / 1024.0 / PODS,
          (claims.live - pods.live) / 1024.0 / PODS);
    }
  }

  private static Taken row(
      String only,
      Path image,
      String what,
      int nodes,
      int pods,
      int claims,
      int annotations,
      int waiting) throws IOException, InterruptedException {
    if (!what.contains(only)) {
      return new Taken(0, 0, 0, Duration.ZERO);
    }
    try {
      Taken taken = run(image, nodes, pods, claims, annotations, waiting);
      System.out.printf(
          Locale.ROOT,
          "| %s | %.0f | %.0f | %.0f | %.0f |%n",
          what,
          taken.ready.toMillis() / 1000.0,
          mib(taken.live),
          mib(taken.resident),
          mib(taken.mostResident));
      return taken;
    } catch (IllegalStateException notReady) {
      System.out.printf(Locale.ROOT, "| %s | never: %s | | | |%n", what,
          notReady.getMessage().lines().findFirst().orElse(""));
      return new Taken(0, 0, 0, Duration.ZERO);
    }
  }

  private static double mib(long bytes) {
    return bytes / 1024.0 / 1024.0;
  }

  private static Taken run(Path image, int nodes, int pods, int claims, int annotations, int waiting)
      throws IOException, InterruptedException {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Process api =
        new ProcessBuilder(
            java.toString(), "-Xmx1g", "-cp", System.getProperty("java.class.path"), GeneratedApiServer.class.getName(),
            "" + nodes, "" + CARDS, "" + pods, "" + claims, "" + annotations, "" + waiting)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    Path folder = Files.createTempDirectory("partita-memory");
    try (BufferedReader out = api.inputReader(UTF_8)) {
      String port = out.readLine();
      Files.writeString(
          folder.resolve("config"),
          "{\"apiVersion\":\"v1\",\"kind\":\"Config\",\"current-context\":\"c\",\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"http://127.0.0.1:%s\"}}],\"users\":[{\"name\":\"c\",\"user\":{}}],\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"c\",\"user\":\"c\"}}]}"
              .formatted(port));
      Files.writeString(folder.resolve("java.args"),
          Files.readString(image.resolve("java.args")).replace("/usr/lib/partita", image.toString()));
      int health = freePort();
      ProcessBuilder start =
          new ProcessBuilder(image.resolve("runtime/bin/java").toString(), LIMIT, "@" + folder.resolve("java.args"));
      start.environment().putAll(
          Map.of(
              "KUBECONFIG", folder.resolve("config").toString(), "PARTITA_LEADER_ELECT", "false", "PARTITA_HEALTH_PORT",
              "" + health, "PARTITA_EXPLAIN_PORT", "0",
              "PARTITA_IDENTITY", "bench"));
      Path log = folder.resolve("log");
      Process controller = start.redirectErrorStream(true).redirectOutput(log.toFile()).start();
      try {
        return measure(controller, health, log);
      } finally {
        controller.destroyForcibly().waitFor();
      }
    } finally {
      api.destroyForcibly().waitFor();
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static Taken measure(Process controller, int health, Path log) throws IOException, InterruptedException {
    long begin = System.nanoTime();
    HttpClient client = HttpClient.newHttpClient();
    HttpRequest ready = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + health + "/readyz"))
        .timeout(Duration.ofSeconds(20)).build();
    while (!isReady(client, ready)) {
      if (!controller.isAlive() || System.nanoTime() - begin > PATIENCE.toNanos()) {
        throw new IllegalStateException((controller.isAlive() ? "not ready" : "it ended with " + controller.exitValue())
            + ":\n" + Files.readString(log));
      }
      Thread.sleep(200);
    }
    Duration taken = Duration.ofNanos(System.nanoTime() - begin);
    awaitIdle(controller.pid());
    List<Long> resident = List.of(memory(controller.pid(), "VmRSS"), memory(controller.pid(), "VmHWM"));
    return new Taken(live(controller.pid()), resident.get(0), resident.get(1), taken);
  }

  /** Until it takes less than a tenth of a processor: what there was to decide is decided. */
  private static void awaitIdle(long pid) throws IOException, InterruptedException {
    for (int quiet = 0; quiet < 3;) {
      long before = ticks(pid);
      Thread.sleep(2000);
      quiet = ticks(pid) - before < 20 ? quiet + 1 : 0;
    }
  }

  private static long ticks(long pid) throws IOException {
    String[] fields = Files.readString(Path.of("/proc", "" + pid, "stat")).replaceFirst(".*\\) ", "").split(" ", -1);
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }

  private static boolean isReady(HttpClient client, HttpRequest ready) throws InterruptedException {
    try {
      return client.send(ready, HttpResponse.BodyHandlers.ofString()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private static long memory(long pid, String field) throws IOException {
    Matcher value =
        Pattern.compile(field + ":\\s+(\\d+) kB").matcher(Files.readString(Path.of("/proc", "" + pid, "status")));
    if (!value.find()) {
      throw new IOException("no " + field);
    }
    return Long.parseLong(value.group(1)) << 10;
  }

  private static long live(long pid) throws IOException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    Process histogram =
        new ProcessBuilder(jcmd.toString(), "" + pid, "GC.class_histogram").redirectErrorStream(true).start();
    List<String> lines = new ArrayList<>();
    try (BufferedReader out = histogram.inputReader(UTF_8)) {
      out.lines().forEach(lines::add);
    }
    String histogramFile = System.getProperty("partita.histogram", "");
    if (!histogramFile.isEmpty()) {
      Files.write(Path.of(histogramFile), lines);
    }
    String total = lines.stream().filter(line -> line.startsWith("Total")).findFirst()
        .orElseThrow(() -> new IllegalStateException(String.join("\n", lines)));
    return Long.parseLong(total.strip().split("\\s+", -1)[2]);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
