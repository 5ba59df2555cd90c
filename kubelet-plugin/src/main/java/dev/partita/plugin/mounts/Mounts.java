package dev.partita.plugin.mounts;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
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

/** What is mounted where, by proc_pid_mountinfo(5). Names are bytes there, and characters of ISO 8859-1 here. */
public record Mounts(List<Mount> all) {
  private static final int ID = 0;
  private static final int PARENT = 1;
  private static final int DEVICE = 2;
  private static final int ROOT = 3;
  private static final int POINT = 4;
  private static final int OPTIONS = 5;

  private static final String DELETED = "//deleted";

  /** A space, a tab, a newline and a backslash stand in a path by their octal number. */
  private static final Pattern ESCAPED = Pattern.compile("\\\\([0-3][0-7]{2})");

  public Mounts {
    all = List.copyOf(all);
  }

  /**
   * A mount: one line of the list.
   *
   * @param parent the mount that it is mounted on
   * @param device st_dev of what is in its file system
   * @param root what of its file system is mounted: a path within that, which ends with {@code //deleted} where it has
   *        been removed since
   * @param point where it is mounted
   * @param options those of this mount, which are not those of its file system
   */
  public record Mount(int id, int parent, long device, String root, Path point, Set<String> options) {
    public Mount {
      options = Set.copyOf(options);
    }

    /** Whether no program can be started from it. */
    public boolean isNoexec() {
      return options.contains("noexec");
    }
  }

  /** Reads a mountinfo; a line that has not its form counts as missing. */
  public static Mounts read(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.ISO_8859_1)) {
      return parse(lines);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  static Mounts parse(Stream<String> lines) {
    return new Mounts(lines.map(Mounts::mount).flatMap(Optional::stream).toList());
  }

  private static Optional<Mount> mount(String line) {
    String[] fields = line.split(" ", -1);
    try {
      return fields.length > OPTIONS && fields[POINT].startsWith("/")
          ? Optional.of(
              new Mount(Integer.parseInt(fields[ID]), Integer.parseInt(fields[PARENT]), deviceOf(fields[DEVICE]),
                  unescape(fields[ROOT]), Path.of(unescape(fields[POINT])),
                  Set.copyOf(List.of(fields[OPTIONS].split(",", -1)))))
          : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** A path or a part of one, as it is without the octal numbers. */
  public static String unescape(String text) {
    return ESCAPED.matcher(text)
        .replaceAll(escaped -> Matcher.quoteReplacement("" + (char) Integer.parseInt(escaped.group(1), 8)));
  }

  /**
   * st_dev as glibc puts it together (gnu_dev_makedev).
   *
   * @param numbers major and minor, with a colon between them
   */
  public static long deviceOf(String numbers) {
    int colon = numbers.indexOf(':');
    long major = Long.parseLong(numbers, 0, Math.max(colon, 0), 10);
    long minor = Long.parseLong(numbers, colon + 1, numbers.length(), 10);
    return (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xffL) << 12 | (major & ~0xfffL) << 32;
  }

  /**
   * The mount that a path without symbolic links lies on: where a walk from the root ends that changes to what is
   * mounted at each folder that it comes by. So a mount that another one hides does not count. Empty if the list has no
   * root.
   */
  public Optional<Mount> at(Path path) {
    Path bytes = Path.of(bytesOf(path));
    List<Mount> left = new ArrayList<>(all.stream().filter(mount -> bytes.startsWith(mount.point())).toList());
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

  /**
   * Where a folder lies within its file system, which is the same wherever it is mounted. Empty if the list does not
   * tell: that has no mount for it, or one of another file system, or one of a folder that was removed.
   *
   * @param folder a path without symbolic links
   * @param device its st_dev
   */
  public Optional<String> pathWithin(Path folder, long device) {
    return at(folder).filter(mount -> mount.device() == device && !mount.root().endsWith(DELETED)).map(mount -> {
      String below = mount.point().relativize(Path.of(bytesOf(folder))).toString();
      return (mount.root() + "/" + below).replaceAll("/+", "/").replaceFirst("/$", "");
    });
  }

  /** A path as it stands in a mountinfo, but for the octal numbers. */
  private static String bytesOf(Path path) {
    return new String(path.toString().getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }
}
