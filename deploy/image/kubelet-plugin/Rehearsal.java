import dev.partita.serving.log.ConsoleLog;
import dev.partita.serving.log.LogLevel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Runs the staged plugin as its image does, on simulated cards, and plays kubelet and the API server to it.
 *
 * <pre> java -cp 'PLUGIN/app/*' Rehearsal.java rehearse PLUGIN DIST # writes PLUGIN/plugin.aot, which later starts map
 * (JEP 514) java -cp 'PLUGIN/app/*' Rehearsal.java measure PLUGIN DIST # prints start, memory and processor time java
 * -cp 'PLUGIN/app/*' Rehearsal.java prepare PLUGIN DIST # prints how long kubelet waits for prepared claims </pre>
 *
 * PLUGIN is the folder that the image has as /usr/lib/partita, DIST what hook-lib builds.
 */
final class Rehearsal {
  private Rehearsal() {}

  public static void main(String[] args) throws Exception {
    ConsoleLog.use(LogLevel.WARN, 0); // else gRPC tells of every byte
    Path plugin = Path.of(args[1]).toAbsolutePath().normalize();
    try (SimulatedNode node = new SimulatedNode(plugin, Path.of(args[2]).toAbsolutePath().normalize())) {
      try {
        switch (args[0]) {
          case "rehearse" -> rehearse(node);
          case "measure" -> NodeCosts.measure(node);
          case "prepare" -> PrepareTimes.measure(node);
          default -> throw new IllegalArgumentException(args[0] + " is neither rehearse, measure nor prepare");
        }
      } catch (Exception e) {
        String said = Files.exists(node.log()) ? "; the plugin said:\n" + Files.readString(node.log()) : "";
        throw new IllegalStateException(e + said, e);
      }
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
    System.exit(0); // an HTTP server's threads are none of daemons
  }

  /** One life of a plugin, with what it does at every start and for every claim. */
  private static void rehearse(SimulatedNode node) throws Exception {
    Path cache = node.plugin.resolve("plugin.aot");
    Files.deleteIfExists(cache);
    List<Integer> claims = IntStream.range(0, SimulatedNode.CARDS).boxed().toList();
    PluginProcess process = node.start(Optional.of(cache));
    process.register();
    for (int claim : claims) {
      process.asKubelet(plugin -> PluginProcess.prepare(plugin, List.of(claim)));
    }
    process.awaitReady();
    process.scrape();
    process.asKubelet(plugin -> PluginProcess.release(plugin, claims));
    process.stop();
    if (!Files.exists(cache)) {
      throw new IllegalStateException("no cache was made");
    }
  }
}
