package dev.partita.cli.demo;

import dev.partita.cli.demo.cluster.BoundPod;
import dev.partita.cli.demo.cluster.DemoCluster;
import dev.partita.cli.demo.cluster.Distribution;
import dev.partita.cli.demo.cluster.Opened;
import dev.partita.cli.demo.screen.Observations;
import dev.partita.cli.demo.screen.Screen;
import dev.partita.cli.demo.screen.StoryEnds;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The story from beginning to end. */
final class Demo implements AutoCloseable {
  /** Two large cards and two middling ones, so that the fourth claim meets both full and small cards. */
  private static final Map<String, String> NODES = new TreeMap<>(Map.of("node-a", "h200x1,a100x1", "node-b", "l40sx2"));

  private static final Logger LOG = LoggerFactory.getLogger(Demo.class);

  private final Screen screen;
  private final Observations observations;
  private final Path folder;
  private final Distribution distribution;
  private final Isolation.Choice containers;
  private final Opened opened = new Opened();

  /**
   * @param folder where the nodes' folders are made
   */
  Demo(Screen screen, Path folder, Distribution distribution, Isolation.Choice containers) {
    this.screen = screen;
    this.observations = new Observations(screen);
    this.folder = folder;
    this.distribution = distribution;
    this.containers = containers;
  }

  Observations observations() {
    return observations;
  }

  /** Tells it as far as it goes. */
  void tell() {
    try {
      screen
          .title("Partita cuts GPUs into enforced shares. Here is one claim's way after the other, on simulated GPUs.");
      chapters();
    } catch (StoryEnds e) {
      screen.say("The rest of the story stands on this.");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception | LinkageError e) {
      LOG.error("the demo ends early", e);
      screen.check(false, "The demo had to end here: " + e);
    }
  }

  private void chapters() throws Exception {
    screen.chapter("Two nodes with GPUs come up");
    screen.say(
        "Each node runs Partita's plugin; where the NVIDIA driver's libraries would be, there are simulated ones.");
    screen.say(containers.remark());
    DemoCluster cluster = startCluster();
    Stage stage = new Stage(cluster, screen, observations);
    new NodesComeUp(stage).tell();

    ClaimsAreAllocated claims = new ClaimsAreAllocated(stage);
    List<BoundPod> pods = claims.allocate();
    Pod latecomer = claims.refuse();

    ContainersRun programs = opened.add(new ContainersRun(stage, pods));
    programs.prepareAndStart();
    programs.look();
    new EverythingIsGivenBack(stage, pods).tell(programs, latecomer);
  }

  private DemoCluster startCluster() throws Exception {
    DemoCluster cluster = opened.add(new DemoCluster());
    cluster.start(distribution.definitions());
    for (Map.Entry<String, String> node : NODES.entrySet()) {
      cluster.addNode(node.getKey(), node.getValue(), folder.resolve(node.getKey()), distribution,
          containers.runtime());
    }
    screen.say("API server (in this process): " + cluster.url());
    return cluster;
  }

  /** Ends whatever runs. */
  @Override
  public void close() {
    opened.close();
  }
}
