package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.partita.api.Driver;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.GpuShareConfigDecoder;
import dev.partita.api.node.GpuNodeRules;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.quota.GpuQuotaRules;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.cli.Partita;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Holds what the pages say against the tree: links, commands, objects. What the API server thinks of the objects is for
 * DocumentsIT.
 */
class DocumentsTest {
  private static final ObjectMapper STRICT =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private static final Set<String> SHELL = Set.of("bash", "sh", "console");
  private static final Set<String> OTHERS = Set.of("yaml", "text", "mermaid", "json", "promql");
  private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)");
  private static final Pattern COMMENT = Pattern.compile("(^|\\s)#.*");
  private static final Pattern BETWEEN_COMMANDS = Pattern.compile("\\|\\||&&|[|;]|\\$\\(|\\)");
  private static final Pattern PARTITA = Pattern.compile("^(?:kubectl |kubectl-|\\./)?partita (?=[a-z-])");
  private static final int MOST_COLUMNS = 120;
  private static final int MOST_WORDS_OF_README = 900;

  /** The longest stretch of prose that a reader is asked to get through without a heading. */
  private static final int MOST_WORDS_OF_SECTION = 900;

  @Test
  void everyLinkLeadsSomewhere() throws IOException {
    List<String> dead = new ArrayList<>();
    for (Document document : Document.all()) {
      for (Document.Link link : document.links()) {
        why(document, link.target())
            .ifPresent(why -> dead.add(document.path() + ":" + link.line() + ": " + link.target() + ": " + why));
      }
    }
    assertThat(dead).isEmpty();
  }

  @Test
  void everyCommandParses() throws IOException, InterruptedException {
    List<String> wrong = new ArrayList<>();
    for (Document document : Document.all()) {
      for (Document.Block block : document.blocks()) {
        if (SHELL.contains(block.language())) {
          bash(commands(block)).ifPresent(why -> wrong.add(document.path() + ":" + block.line() + ": " + why));
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void partitaKnowsEveryOptionThatIsWritten() throws IOException {
    for (Document document : Document.all()) {
      for (Document.Block block : document.blocks()) {
        if (SHELL.contains(block.language())) {
          for (String line : commands(block).replace("\\\n", " ").lines().toList()) {
            for (String[] arguments : callsOfPartita(line)) {
              assertThatCode(() -> Partita.commandLine().parseArgs(arguments))
                  .as("%s:%d: %s", document.path(), block.line(), line)
                  .doesNotThrowAnyException();
            }
          }
        }
      }
    }
  }

  /** A span may leave out what a call needs. */
  @Test
  void partitaKnowsEveryCommandAndOptionThatRunningTextNames() throws IOException {
    List<String> wrong = new ArrayList<>();
    int seen = 0;
    for (Document document : Document.all()) {
      for (Document.Span span : document.spans()) {
        Matcher partita = PARTITA.matcher(span.text());
        if (partita.find()) {
          seen++;
          CommandLine commandLine = Partita.commandLine();
          collectErrors(commandLine);
          String[] arguments =
              callsOfPartita("./partita " + span.text().substring(partita.end())).getFirst();
          for (ParseResult it = commandLine.parseArgs(arguments); it != null; it = it.subcommand()) {
            it.errors().stream().filter(error -> !(error instanceof MissingParameterException))
                .forEach(error -> wrong.add(document.path() + ":" + span.line() + ": " + error.getMessage()));
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(seen).isGreaterThan(50);
  }

  private static void collectErrors(CommandLine commandLine) {
    commandLine.getCommandSpec().parser().collectErrors(true);
    commandLine.getSubcommands().values().forEach(DocumentsTest::collectErrors);
  }

  @Test
  void everyBlockSaysItsLanguage() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Document document : Document.all()) {
      if (!document.path().endsWith("INTERCEPTED.md")) {
        for (Document.Block block : document.blocks()) {
          if (!SHELL.contains(block.language()) && !OTHERS.contains(block.language())) {
            wrong.add(document.path() + ":" + block.line() + ": \"" + block.language() + "\"");
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void everyObjectOfOursDecodesStrictly() throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Document document : Document.all()) {
      for (Document.Block block : document.blocks()) {
        if (block.language().equals("yaml")) {
          String where = document.path() + ":" + block.line();
          try {
            for (Object object : new Yaml().loadAll(block.text())) {
              JsonNode tree = STRICT.valueToTree(object);
              errors(tree).forEach(error -> wrong.add(where + ": " + error));
            }
          } catch (RuntimeException e) {
            wrong.add(where + ": " + e.getMessage());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void readmeIsShort() throws IOException {
    assertThat(words(Files.readString(Document.ROOT.resolve("README.md")))).isLessThan(MOST_WORDS_OF_README);
  }

  @Test
  void linesAreNoLongerThanAPersonReads() throws IOException {
    List<String> wide = new ArrayList<>();
    for (Document document : Document.all()) {
      if (!document.path().endsWith("INTERCEPTED.md")) {
        document.prose().forEach(
            (line, text) -> {
              boolean breakable =
                  text.strip().indexOf(' ') >= 0 && !text.strip().startsWith("|") && !text.contains("](");
              if (breakable && text.codePointCount(0, text.length()) > MOST_COLUMNS) {
                wide.add(document.path() + ":" + line);
              }
            });
      }
    }
    assertThat(wide).isEmpty();
  }

  @Test
  void noSectionIsLongerThanAPersonReads() throws IOException {
    List<String> longOnes = new ArrayList<>();
    for (Document document : Document.all()) {
      if (!document.path().endsWith("INTERCEPTED.md")) {
        int words = 0;
        String heading = "";
        for (String text : document.prose().values()) {
          if (text.startsWith("#")) {
            heading = text;
            words = 0;
          } else if (!text.strip().startsWith("|")) {
            words += words(text);
            if (words > MOST_WORDS_OF_SECTION) {
              longOnes.add(document.path() + ": " + heading);
              words = Integer.MIN_VALUE / 2;
            }
          }
        }
      }
    }
    assertThat(longOnes).isEmpty();
  }

  /** Why a link leads nowhere; empty if it leads somewhere. */
  private static Optional<String> why(Document from, String link) {
    int hash = link.indexOf('#');
    String file = hash < 0 ? link : link.substring(0, hash);
    Path here = Document.ROOT.resolve(from.path());
    Path target = file.isEmpty() ? here : here.resolveSibling(file).normalize();
    if (!target.startsWith(Document.ROOT)) {
      return Optional.of("leaves the project");
    }
    if (!Files.exists(target)) {
      return Optional.of("is not there");
    }
    if (hash < 0) {
      return Optional.empty();
    }
    Set<String> anchors = Document.of(Document.ROOT.relativize(target).toString()).anchors();
    return anchors.contains(link.substring(hash + 1))
        ? Optional.empty()
        : Optional.of("has no such heading, but " + anchors);
  }

  /** The lines that a shell reads: in a console those behind the prompt, with their continuations. */
  private static String commands(Document.Block block) {
    if (!block.language().equals("console")) {
      return block.text();
    }
    StringBuilder commands = new StringBuilder();
    boolean continued = false;
    for (String line : block.text().lines().toList()) {
      if (continued || line.startsWith("$ ")) {
        String command = line.startsWith("$ ") || line.startsWith("> ") ? line.substring(2) : line;
        commands.append(command).append('\n');
        continued = command.endsWith("\\");
      }
    }
    return commands.toString();
  }

  private static Optional<String> bash(String script) throws IOException, InterruptedException {
    Process bash = new ProcessBuilder("bash", "-n").redirectErrorStream(true).start();
    try (var stdin = bash.getOutputStream()) {
      stdin.write(script.getBytes(StandardCharsets.UTF_8));
    }
    String said = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return bash.waitFor() == 0 ? Optional.empty() : Optional.of(said);
  }

  /** The arguments of each {@code ./partita} or {@code partita} that a line calls. */
  private static List<String[]> callsOfPartita(String line) {
    List<String[]> calls = new ArrayList<>();
    for (String part : BETWEEN_COMMANDS.splitAsStream(COMMENT.matcher(line).replaceAll("")).toList()) {
      List<String> words = new ArrayList<>();
      Matcher matcher = WORD.matcher(part.strip());
      while (matcher.find()) {
        String word = matcher.group().replaceAll("^[\"']|[\"']$", "");
        if (word.startsWith(">") || word.startsWith("2>")) {
          break;
        }
        words.add(word);
      }
      if (!words.isEmpty() && words.getFirst().equals("./partita")) {
        calls.add(words.subList(1, words.size()).toArray(String[]::new));
      }
    }
    return calls;
  }

  /** What is wrong with an object of ours, and with every config of ours in a claim, a template or a class. */
  private static List<String> errors(JsonNode object) {
    List<String> errors = new ArrayList<>();
    if (Driver.GROUP_VERSION.equals(object.path("apiVersion").asText())) {
      errors.addAll(errorsOfOurs(object));
    }
    for (JsonNode opaque : object.findValues("opaque")) {
      if (opaque.path("driver").asText().equals(Driver.NAME)) {
        errors.addAll(errorsOfConfig(opaque.path("parameters")));
      }
    }
    return errors;
  }

  private static List<String> errorsOfOurs(JsonNode object) {
    String kind = object.path("kind").asText();
    JsonNode spec = object.path("spec").isMissingNode() ? STRICT.createObjectNode() : object.path("spec");
    try {
      return switch (kind) {
        case GpuShareConfig.KIND -> errorsOfConfig(object);
        case "GpuQuota" -> texts(GpuQuotaRules.errors(STRICT.treeToValue(spec, GpuQuotaSpec.class)));
        case "GpuNode" -> texts(GpuNodeRules.errors(STRICT.treeToValue(spec, GpuNodeSpec.class)));
        default -> List.of("there is no kind " + kind);
      };
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      return List.of(e.getMessage());
    }
  }

  private static List<String> errorsOfConfig(JsonNode parameters) {
    return switch (GpuShareConfigDecoder.decode(parameters)) {
      case Decoded.Valid<GpuShareConfig> ignored -> List.of();
      case Decoded.Invalid<GpuShareConfig> invalid -> texts(invalid.errors());
    };
  }

  private static List<String> texts(List<?> errors) {
    return errors.stream().map(Object::toString).toList();
  }

  private static int words(String text) {
    return (int) Pattern.compile("\\S+").matcher(text).results().count();
  }
}
