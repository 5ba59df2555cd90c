package dev.partita.plugin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What lies on a node for claims, by their UID: in which folders.
 *
 * @param folders by UID
 */
record NodeTraces(Map<String, TreeSet<String>> folders) {
  /** A claim's share has all of them. */
  static final List<String> OF_SHARE =
      List.of("cdi", "run/metadata", "run/shares", "state/claims", "state/shares");
  /** A card as a whole has all of them. */
  static final List<String> OF_CARD = List.of("cdi", "run/metadata", "state/claims");

  private static final Pattern UID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
  private static final Pattern QUOTA = Pattern.compile("\ngpu (\\S+)\nmemory ([0-9]+)\n");

  static NodeTraces of(TestNode node) {
    Map<String, TreeSet<String>> found = new TreeMap<>();
    for (String folder : OF_SHARE) {
      for (Path file : list(node.root.resolve(folder))) {
        Matcher uid = UID.matcher(file.getFileName().toString());
        if (uid.find() && !file.toString().contains(".unreadable-")) {
          found.computeIfAbsent(uid.group(), u -> new TreeSet<>()).add(folder);
        }
      }
    }
    return new NodeTraces(found);
  }

  /** UIDs of the claims of which it is noted what the driver was told for them. */
  static TreeSet<String> noted(TestNode node) {
    return names(node.root.resolve("state/driver-notes"));
  }

  /** UIDs of the claims of which it is remembered whose pods have them. */
  static TreeSet<String> pods(TestNode node) {
    return names(node.root.resolve("run/pods"));
  }

  private static TreeSet<String> names(Path folder) {
    return list(folder).stream().map(file -> file.getFileName().toString())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Bytes that the quota files of claims with a record promise together, by card. */
  static Map<String, Long> promised(TestNode node) {
    Map<String, Long> cards = new TreeMap<>();
    for (Path claim : list(node.root.resolve("state/shares"))) {
      if (Files.exists(node.root.resolve("state/claims/" + claim.getFileName() + ".claim"))) {
        for (Path share : list(claim)) {
          Matcher quota = QUOTA.matcher(read(share.resolve("quota")));
          if (quota.find()) {
            cards.merge(quota.group(1), Long.parseLong(quota.group(2)), Long::sum);
          }
        }
      }
    }
    return cards;
  }

  /** Bytes that a share's quota promises. */
  static long memory(String quota) {
    Matcher its = QUOTA.matcher(quota);
    return its.find() ? Long.parseLong(its.group(2)) : 0;
  }

  /** What this process has open of the node, but for what the simulated driver does. */
  static List<Path> openFiles(TestNode node) {
    return list(Path.of("/proc/self/fd")).stream().flatMap(link -> target(link).stream())
        .filter(file -> file.startsWith(node.root) && !file.startsWith(node.driverRoot())).toList();
  }

  private static Optional<Path> target(Path link) {
    try {
      return Optional.of(Files.readSymbolicLink(link));
    } catch (IOException e) { // closed meanwhile
      return Optional.empty();
    }
  }

  private static List<Path> list(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    } catch (IOException | UncheckedIOException e) { // it is going
      return List.of();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
