package dev.partita.plugin.setup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What is mounted where, by proc_pid_mountinfo(5). */
record Mounts(List<Mount> all) {
  private static final int ID = 0;
  private static final int PARENT = 1;
  private static final int POINT = 4;
  private static final int OPTIONS = 5;

  /** A space, a tab, a newline and a backslash stand in a path by their octal number. */
  private static final Pattern ESCAPED = Pattern.compile("\\\\([0-3][0-7]{2})");

  Mounts {
    all = List.copyOf(all);
  }

  /**
   * A mount: one line of the list.
   *
   * @param parent the mount that it is mounted on
   * @param point where it is mounted
   * @param options those of this mount, which are not those of its file system
   */
  record Mount(int id, int parent, Path point, Set<String> options) {
    Mount {
      options = Set.copyOf(options);
    }

    /** Whether no program can be started from it. */
    boolean isNoexec() {
      return options.contains("noexec");
    }
  }

  /** Reads the lines of a mountinfo; one that has not its form counts as missing. */
  static Mounts parse(Stream<String> lines) {
    return new Mounts(lines.map(Mounts::mount).flatMap(Optional::stream).toList());
  }

  private static Optional<Mount> mount(String line) {
    String[] fields = line.split(" ", -1);
    try {
      return fields.length > OPTIONS && fields[POINT].startsWith("/")
          ? Optional.of(
              new Mount(Integer.parseInt(fields[ID]), Integer.parseInt(fields[PARENT]),
                  Path.of(unescape(fields[POINT])),
                  Set.copyOf(List.of(fields[OPTIONS].split(",", -1)))))
          : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static String unescape(String text) {
    return ESCAPED.matcher(text)
        .replaceAll(escaped -> Matcher.quoteReplacement("" + (char) Integer.parseInt(escaped.group(1), 8)));
  }

  /**
   * The mount that a path without symbolic links lies on: where a walk from the root ends that changes to what is
   * mounted at each folder that it comes by. So a mount that another one hides does not count. Empty if the list has no
   * root.
   */
  Optional<Mount> at(Path path) {
    List<Mount> left = new ArrayList<>(all.stream().filter(mount -> path.startsWith(mount.point())).toList());
    Set<Integer> ids = left.stream().map(Mount::id).collect(Collectors.toSet());
    Optional<Mount> next = left.stream().filter(mount -> !ids.contains(mount.parent())).findFirst();
    Optional<Mount> here = Optional.empty();
    while (next.isPresent()) {
      Mount reached = next.get();
      left.remove(reached);
      here = next;
      next = left.stream().filter(mount -> mount.parent() == reached.id())
          .min(Comparator.comparingInt(mount -> mount.point().getNameCount()));
    }
    return here;
  }
}
