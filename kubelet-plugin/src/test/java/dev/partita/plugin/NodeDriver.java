package dev.partita.plugin;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What a node's driver and its programs were told of cards: MIG instances, time slices and MPS daemons. */
record NodeDriver(TestNode node) {
  private static final Pattern INSTANCE = Pattern.compile("  GPU instance [0-9]+: (\\S+) at ([0-9]+):");

  /** MIG instances by the index of their card, as {@code 1g-18gb-2}; no card without any. */
  Map<Integer, TreeSet<String>> instances() throws IOException {
    Map<Integer, TreeSet<String>> found = new TreeMap<>();
    for (int card = 0; card < RandomLoad.CARDS; card++) {
      Matcher instance = INSTANCE.matcher(list(card));
      while (instance.find()) {
        found.computeIfAbsent(card, _ -> new TreeSet<>())
            .add(instance.group(1).replace('.', '-') + "-" + instance.group(2));
      }
    }
    return found;
  }

  private String list(int card) throws IOException {
    try {
      return node.simulator("mig", "--root", node.driverRoot().toString(), "--gpu", Integer.toString(card), "list");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the test is stopping");
    }
  }

  /** The number of the card's time slice; 0 is the driver's default. */
  int timeSlice(String card) throws IOException {
    Path file = node.driverRoot().resolve("run/partita-simulator/timeslice-" + card);
    return Files.exists(file) ? Integer.parseInt(Files.readString(file).strip()) : 0;
  }

  /** UUIDs of the cards that have a folder of an MPS daemon. */
  TreeSet<String> mpsFolders() throws IOException {
    TreeSet<String> cards = new TreeSet<>();
    Path folder = node.root.resolve("run/mps");
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        files.forEach(file -> cards.add(String.valueOf(file.getFileName())));
      }
    }
    return cards;
  }

  /** The card's MPS daemon. */
  Optional<ProcessHandle> mpsDaemon(String card) throws IOException {
    String number;
    try {
      number = Files.readString(pipe(card).resolve("nvidia-cuda-mps-control.pid")).strip();
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
    return number.isEmpty()
        ? Optional.empty()
        : ProcessHandle.of(Long.parseLong(number)).filter(daemon -> daemon.info().command().isPresent());
  }

  /** What the card's MPS daemon answers. */
  String tellMps(String card, String command) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(node.driverRoot().resolve("usr/bin/nvidia-cuda-mps-control").toString());
    builder.environment().put("CUDA_MPS_PIPE_DIRECTORY", pipe(card).toString());
    Process process = builder.start();
    try (var to = process.getOutputStream()) {
      to.write((command + "\n").getBytes(StandardCharsets.US_ASCII));
    }
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
  }

  /** All MPS daemons of the node that run. */
  List<ProcessHandle> mpsDaemons() {
    List<ProcessHandle> daemons = new ArrayList<>();
    String program = node.driverRoot().resolve("usr/bin/nvidia-cuda-mps-control").toString();
    ProcessHandle.allProcesses().filter(process -> process.info().command().filter(program::equals).isPresent())
        .forEach(daemons::add);
    return daemons;
  }

  private Path pipe(String card) {
    return node.root.resolve("run/mps/" + card + "/pipe");
  }
}
