package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the texts that the page on troubleshooting quotes against the programs that say them. */
class TroubleshootTest {
  private static final Document PAGE = Document.of("docs/operate/troubleshoot.md");

  /** What Partita itself says stands in columns with these heads. */
  private static final Set<String> SAID = Set.of("it says", "reason", "condition");

  private static final List<String> PROGRAMS =
      List.of("api", "admission", "cdi", "cli", "dra-controller", "kubelet-plugin", "serving");

  private static final Pattern CODE_SPAN = Pattern.compile("`([^`]+)`");
  private static final Pattern BETWEEN_LITERALS = Pattern.compile("\"\\s*\\+?\\s*\"");

  @Test
  void everyTextThatPartitaIsSaidToSayStandsInItsSources() throws IOException {
    String sources = sources();
    List<String> said = said();
    assertThat(said).hasSizeGreaterThan(100);
    assertThat(said.stream().filter(text -> !parts(text).stream().allMatch(sources::contains))).isEmpty();
  }

  /** The parts of a text that a program writes as they are: between them are names and figures. */
  private static List<String> parts(String text) {
    return Stream.of(text.split("…", -1)).map(String::strip).filter(part -> !part.isEmpty()).toList();
  }

  /** The code spans in columns of what Partita says. */
  private static List<String> said() {
    List<String> said = new ArrayList<>();
    List<String> heads = List.of();
    for (String line : PAGE.prose().values()) {
      if (!line.startsWith("|")) {
        heads = List.of();
        continue;
      }
      List<String> cells = Stream.of(line.substring(1).split("\\|")).map(String::strip).toList();
      if (heads.isEmpty()) {
        heads = cells;
        continue;
      }
      for (int i = 0; i < cells.size(); i++) {
        if (SAID.contains(heads.get(i))) {
          Matcher span = CODE_SPAN.matcher(cells.get(i));
          while (span.find()) {
            said.add(span.group(1));
          }
        }
      }
    }
    return said;
  }

  /** All that programs could say: their sources and the chart's objects, with literals joined and lines folded. */
  private static String sources() throws IOException {
    StringBuilder all = new StringBuilder();
    for (String program : PROGRAMS) {
      read(Document.ROOT.resolve(program).resolve("src/main"), ".java", all);
    }
    read(Document.ROOT.resolve("hook-lib/cdi-hook"), ".c", all);
    read(Document.ROOT.resolve("deploy/helm/partita/templates"), ".yaml", all);
    String joined = BETWEEN_LITERALS.matcher(all).replaceAll("");
    return joined.replaceAll("\\s+", " ").replace("\\\"", "\"");
  }

  private static void read(Path folder, String ending, StringBuilder into) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(ending)).sorted().toList()) {
        into.append(Files.readString(file)).append('\n');
      }
    }
  }
}
