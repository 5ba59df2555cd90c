package dev.partita.plugin;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Starts and ends a node's plugins: one in this process, and for a while the one of a rolling update beside it. */
final class PlayedPlugins implements AutoCloseable {
  private static final String HERE = "here";
  private static final List<String> OPTIONS = List.of("--leftover-grace=0.3", "--sweep-period=0.2",
      "--usage-period=0.3", "--inventory-period=0.2", "--mig=true");

  private final TestNode node;
  private final KubernetesClient client;
  private final Random chance; // of the socket that is asked, by any thread
  private final List<Integer> leftOpen = new ArrayList<>(); // descriptors, after the end of each plugin
  private volatile @Nullable KubeletPlugin here;
  private volatile @Nullable PluginProcess beside;
  private int number; // of the last process

  PlayedPlugins(TestNode node, KubernetesClient client, Random chance) {
    this.node = node;
    this.client = client;
    this.chance = chance;
  }

  /** Starts the one in this process, unless it runs. */
  void start() {
    if (here == null) {
      try {
        List<String> options = new ArrayList<>(OPTIONS);
        options.add("--pod-uid=" + HERE);
        here = TestNode.start(node.settings(options.toArray(String[]::new)), client);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Ends the one in this process. */
  void end() {
    KubeletPlugin plugin = here;
    if (plugin != null) {
      plugin.close();
      here = null;
      leftOpen.add(NodeTraces.openFiles(node).size());
    }
  }

  boolean isOneBeside() {
    return beside != null;
  }

  /** Starts another one beside it. */
  void startBeside() throws IOException {
    PluginProcess process = new PluginProcess(node, client, "beside" + ++number, OPTIONS);
    process.start();
    beside = process;
  }

  /** Ends that one, if there is one. */
  void endBeside(boolean byKill) throws InterruptedException {
    PluginProcess process = beside;
    if (process != null) {
      if (!byKill) {
        process.end();
      }
      process.close();
      beside = null;
    }
  }

  /** Where a plugin is asked. */
  Path socket() {
    PluginProcess process = beside;
    return process != null && chance.nextBoolean()
        ? process.socket()
        : node.root.resolve("plugins/gpu.partita.dev/dra-" + HERE + ".sock");
  }

  /** Files of the node that were open after the end of each plugin in this process. */
  List<Integer> leftOpen() {
    return leftOpen;
  }

  @Override
  public void close() {
    try {
      end();
    } finally {
      PluginProcess process = beside;
      if (process != null) {
        process.close();
      }
    }
  }
}
