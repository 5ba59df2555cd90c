package dev.partita.plugin.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class LoopNamesTest {
  private static final Pattern MADE = Pattern.compile("\\.make(AskingDriver)?\\(\\s*\"([a-z-]+)\",");
  private static final Pattern ROW = Pattern.compile("\\n\\| `([a-z-]+)` \\|[^|]*\\|[^|]*\\| (yes|no) \\|");

  @Test
  void theReadmeNamesEveryLoopAndWhetherTheDriverExcusesIt() throws IOException {
    Set<String> made = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("src", "main", "java"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        Matcher loop = MADE.matcher(Files.readString(file));
        while (loop.find()) {
          made.add(loop.group(2) + (loop.group(1) == null ? " no" : " yes"));
        }
      }
    }
    Set<String> told = new TreeSet<>();
    String page = Files.readString(Path.of("README.md"));
    Matcher row = ROW.matcher(page.substring(page.indexOf("\n## Loops\n"), page.indexOf("\n## Health\n")));
    while (row.find()) {
      told.add(row.group(1) + " " + row.group(2));
    }
    assertThat(made).hasSizeGreaterThan(10);
    assertThat(told).isEqualTo(made);
  }
}
