package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/**
 * The alert rules against the cases of {@code alert-cases.yaml}, by Prometheus' own promtool. That the cases tell is
 * tried, too: a rule that is changed a little has to fail one of them.
 */
class AlertRulesTest {
  private static final Path RULES = Document.ROOT.resolve("deploy/helm/partita/alerts.yaml");
  private static final Path CASES = Document.ROOT.resolve("cli/src/test/resources/alert-cases.yaml");

  /** The comparison at the end of every expression. */
  private static final Pattern THRESHOLD = Pattern.compile("(>|<|==) ([0-9.]+)$");

  /** How promtool begins what it says of a case that fails. */
  private static final Pattern FAILED = Pattern.compile("alertname: (\\w+), time:");

  @TempDir Path folder;

  /** Debian's package prometheus has the program; CI installs it. */
  @BeforeAll
  static void assumePromtool() {
    assumeTrue("1".equals(System.getenv("PARTITA_REQUIRE_OUTSIDE"))
        || Stream.of(System.getenv("PATH").split(":", -1)).anyMatch(at -> Files.isExecutable(Path.of(at, "promtool"))),
        "there is no promtool");
  }

  @Test
  void theyDoAsTheCasesSay() throws Exception {
    Outcome outcome = cases(_ -> {});
    assertThat(outcome.status()).as(outcome.text()).isZero();
  }

  @Test
  void aCaseSaysOfEachAlertWhenItFires() throws Exception {
    assertNoticed(rule -> rule.put("expr", "(" + rule.path("expr").asText() + ") and vector(1) == 0"), _ -> true);
  }

  @Test
  void aCaseSaysOfEachAlertThatItDoesNotFireAtItsThreshold() throws Exception {
    assertNoticed(rule -> {
      Matcher threshold = THRESHOLD.matcher(rule.path("expr").asText());
      assertThat(threshold.find()).as("a comparison ends " + rule.path("expr")).isTrue();
      rule.put("expr", threshold.replaceFirst(threshold.group(1).equals("<") ? "<= $2" : ">= $2"));
    }, _ -> true);
  }

  @Test
  void aCaseSaysOfEachAlertThatItWaits() throws Exception {
    assertNoticed(rule -> rule.remove("for"), rule -> rule.has("for"));
  }

  @Test
  void aCaseSaysOfEachAlertThatItWaitsNoLonger() throws Exception {
    assertNoticed(rule -> rule.put("for", "1h"), _ -> true);
  }

  /** Fails unless a case of each of these alerts does when all rules are changed so. */
  private void assertNoticed(Consumer<ObjectNode> change, Predicate<ObjectNode> which) throws Exception {
    Outcome outcome = cases(change);
    assertThat(outcome.status()).as(outcome.text()).isEqualTo(1);
    List<String> noticed =
        FAILED.matcher(outcome.text()).results().map(failed -> failed.group(1)).distinct().toList();
    assertThat(noticed).as("alerts of which a case in " + CASES + " notices it")
        .containsExactlyInAnyOrderElementsOf(
            rules(rules()).filter(which).map(rule -> rule.path("alert").asText()).toList());
  }

  private Outcome cases(Consumer<ObjectNode> change) throws IOException, InterruptedException {
    ObjectNode rules = rules();
    rules(rules).forEach(change);
    // JSON is YAML, too
    Path changed = Files.writeString(folder.resolve("alerts.yaml"), rules.toString());
    ObjectNode cases = yaml(CASES);
    cases.putArray("rule_files").add(changed.toString());
    Path file = Files.writeString(folder.resolve("cases.yaml"), cases.toString());
    Process process = new ProcessBuilder("promtool", "test", "rules", file.toString()).redirectErrorStream(true)
        .redirectOutput(folder.resolve("out").toFile()).start();
    try {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Outcome(process.exitValue(), Files.readString(folder.resolve("out"), StandardCharsets.UTF_8));
  }

  private record Outcome(int status, String text) {}

  private static ObjectNode rules() throws IOException {
    return yaml(RULES);
  }

  private static Stream<ObjectNode> rules(ObjectNode file) {
    return Stream.of((ArrayNode) file.at("/groups/0/rules")).flatMap(rules -> rules.valueStream())
        .map(ObjectNode.class::cast);
  }

  private static ObjectNode yaml(Path file) throws IOException {
    JsonNode read = new ObjectMapper().valueToTree(new Yaml().<Object>load(Files.readString(file)));
    return (ObjectNode) read;
  }
}
