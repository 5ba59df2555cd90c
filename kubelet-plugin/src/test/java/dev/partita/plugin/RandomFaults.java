package dev.partita.plugin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/** What breaks on a node by chance: files, cards and the driver. */
final class RandomFaults {
  /** A card that breaks so often counts as unhealthy for minutes afterwards. */
  private static final int OFTEN = 3;

  private final TestNode node;
  private final Random random;
  private final BiConsumer<String, Object> did;
  private final Map<Integer, Integer> broken = new HashMap<>(); // how often each card was

  RandomFaults(TestNode node, Random random, BiConsumer<String, Object> did) {
    this.node = node;
    this.random = random;
    this.did = did;
  }

  /** As a full disk leaves it. */
  void truncateRecord(LoadedClaim one) {
    did.accept("truncate record", one);
    Path record = node.record(one.claim);
    try {
      byte[] bytes = Files.readAllBytes(record);
      Files.write(record, Arrays.copyOf(bytes, random.nextInt(bytes.length)));
      one.damaged = true;
    } catch (NoSuchFileException e) { // it was not made anew yet
      one.damaged = true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The plugin makes it anew by itself. */
  void wipe() throws IOException {
    String folder = List.of("run/metadata", "run/shares", "cdi").get(random.nextInt(3));
    did.accept("wipe", folder);
    if (!Files.isDirectory(node.root.resolve(folder))) {
      return;
    }
    try (Stream<Path> files = Files.walk(node.root.resolve(folder))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (UncheckedIOException e) { // some of it went meanwhile
      did.accept("wipe in part", folder);
    }
  }

  void breakOrHeal() throws IOException, InterruptedException {
    int card = random.nextInt(RandomLoad.CARDS);
    boolean breaks = random.nextBoolean();
    did.accept(breaks ? "break" : "heal", card);
    broken.merge(card, breaks ? 1 : 0, Integer::sum);
    simulator(breaks ? "break" : "heal", "--gpu", Integer.toString(card));
  }

  boolean wasOftenBroken(int card) {
    return broken.getOrDefault(card, 0) >= OFTEN;
  }

  /** As whoever looks for memory on the node does. */
  void killAnMpsDaemon() {
    List<ProcessHandle> daemons = new NodeDriver(node).mpsDaemons();
    if (!daemons.isEmpty()) {
      ProcessHandle daemon = daemons.get(random.nextInt(daemons.size()));
      did.accept("kill MPS daemon", daemon.pid());
      daemon.destroyForcibly();
    }
  }

  void slowDriver() throws IOException, InterruptedException {
    int micros = random.nextInt(2_000_000);
    did.accept("slow driver", micros);
    simulator("fault", "--function", "nvmlDeviceGetCount_v2", "--delay-us", Integer.toString(micros));
  }

  /** As an upgrade of the driver begins, and as it ends. */
  void driverGoesOrComes() throws IOException {
    boolean isThere = Files.exists(node.driverRoot().resolve("usr"));
    did.accept(isThere ? "driver goes" : "driver comes", "");
    Files.move(node.driverRoot().resolve(isThere ? "usr" : "usr.gone"),
        node.driverRoot().resolve(isThere ? "usr.gone" : "usr"));
  }

  /** All cards and the driver are well again. */
  void mend() throws IOException, InterruptedException {
    if (Files.exists(node.driverRoot().resolve("usr.gone"))) {
      driverGoesOrComes();
    }
    simulator("fault", "--clear");
    for (int card = 0; card < RandomLoad.CARDS; card++) {
      simulator("heal", "--gpu", Integer.toString(card));
    }
  }

  private void simulator(String what, String... more) throws IOException, InterruptedException {
    node.simulator(Stream.concat(Stream.of(what, "--root", node.driverRoot().toString()), List.of(more).stream())
        .toArray(String[]::new));
  }
}
