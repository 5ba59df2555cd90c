package dev.partita.cdi.driver;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the kernel's part of the driver says of the device nodes by which MIG instances are opened: {@code
 * /proc/driver/nvidia-caps/mig-minors} has a line such as {@code gpu0/gi7/ci0/access 67} for each instance that there
 * could be, {@code
 * /proc/devices} their common major number.
 */
final class MigMinors {
  private static final String MINORS = "proc/driver/nvidia-caps/mig-minors";
  private static final Pattern LINE = Pattern.compile("(\\S+)\\s+([0-9]{1,7})");
  private static final Pattern MAJOR = Pattern.compile("\\s*([0-9]{1,7})\\s+nvidia-caps");

  private MigMinors() {}

  /**
   * The minor number behind a name.
   *
   * @param root below which /proc is looked for
   * @param name such as {@code gpu0/gi7/access}
   */
  static OptionalLong minor(Path root, String name) throws IOException {
    return find(root.resolve(MINORS), LINE, 2, line -> line.group(1).equals(name));
  }

  static OptionalLong major(Path root) throws IOException {
    return find(root.resolve("proc/devices"), MAJOR, 1, line -> true);
  }

  private static OptionalLong find(Path file, Pattern form, int group, java.util.function.Predicate<Matcher> wanted)
      throws IOException {
    if (!Files.isReadable(file)) {
      return OptionalLong.empty();
    }
    try (Stream<String> lines = Files.lines(file)) {
      return lines.map(form::matcher).filter(Matcher::matches).filter(wanted)
          .mapToLong(line -> Long.parseLong(line.group(group))).findFirst();
    }
  }
}
