package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the page of the release build of the hook library against what its test leaves out under the emulator. */
class EmulatedTestsTest {
  private static final Pattern LEFT_OUT = Pattern.compile("(?m)^EMULATED='([^']+)'$");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\| .+ \\|$");
  private static final Path HOOK_LIBRARY = Document.ROOT.resolve("hook-lib");

  private static List<String> leftOut() throws IOException {
    Matcher regex = LEFT_OUT.matcher(Files.readString(HOOK_LIBRARY.resolve("release/test.sh")));
    assertThat(regex.find()).isTrue();
    return List.of(regex.group(1).split("\\|", -1));
  }

  @Test
  void thePageSaysOfEachWhyItIsLeftOut() throws IOException {
    String page = Files.readString(HOOK_LIBRARY.resolve("release/README.md"));
    String section = page.substring(page.indexOf("\n## Left out on aarch64\n"));
    assertThat(ROW.matcher(section).results().map(row -> row.group(1))).containsExactlyElementsOf(leftOut());
  }

  @Test
  void eachIsAmongTheTests() throws IOException {
    StringBuilder tests = new StringBuilder();
    try (Stream<Path> files = Files.list(HOOK_LIBRARY.resolve("shadow/tests"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        tests.append(Files.readString(file, StandardCharsets.UTF_8));
      }
    }
    assertThat(leftOut()).allMatch(pattern -> tests.indexOf(pattern) >= 0);
  }
}
