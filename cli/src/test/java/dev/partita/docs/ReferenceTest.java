package dev.partita.docs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.device.CapacityName;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.node.GpuNode;
import dev.partita.cli.Partita;
import dev.partita.controller.events.AllocatedCondition;
import dev.partita.controller.events.ClaimEvent;
import dev.partita.controller.metrics.ClusterMetrics;
import dev.partita.plugin.claimstatus.DeviceCondition;
import dev.partita.plugin.claimstatus.EventReason;
import dev.partita.plugin.diagnosis.CardReason;
import dev.partita.plugin.inventory.NodeReason;
import dev.partita.plugin.metrics.NodeMetrics;
import dev.partita.serving.metrics.Family;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;
import picocli.CommandLine;

/**
 * The reference pages say what the code says. Some of them are made from it: after a change of a command or of a custom
 * resource write them again with
 * {@code mvn -pl cli -am test -Dctest.skip=true -Dtest=ReferenceTest -Dsurefire.failIfNoSpecifiedTests=false
 * -Dpartita.docs.write=true}.
 */
class ReferenceTest {
  private static final Pattern FIELD = Pattern.compile("`([^`]+)`");
  private static final Path PAGES = Document.ROOT.resolve("docs/reference");
  private static final Path CRDS = Document.ROOT.resolve("deploy/helm/partita/crds");

  /** How a page that is made ends, with what it is made from. */
  static final String MADE =
      """

          Made from %s; do not edit: [how](../../CONTRIBUTING.md#pages-that-are-made-from-the-code).
          """;

  private static final Pattern NAME = Pattern.compile("`([A-Za-z]+)`");

  @Test
  void commandLine() throws IOException {
    StringBuilder page = new StringBuilder("# Command line\n");
    page.append(
        """

            Exit codes of every command: 0, it is done; 1, it could not be done; 2, it was asked for in a way that cannot work, and
            one line on stderr says what to change. `partita convert` also has 3: all is written, but some objects stayed as they
            were.
            """);
    page.append("\n## partita\n");
    usages(Partita.commandLine(), "###", page);
    page.append("\n## dra-controller\n").append(usage(new CommandLine(new dev.partita.controller.Main())));
    page.append("\n## kubelet-plugin\n").append(usage(new CommandLine(new dev.partita.plugin.Main())));
    page.append(MADE.formatted("the programs' own help"));
    check("command-line.md", page.toString());
  }

  @Test
  void customResources() throws IOException {
    StringBuilder page = new StringBuilder("# Custom resources\n").append(
        """

            What you write into the specs of Partita's own objects, and what its programs write into their status.
            `kubectl explain gpunode.spec` prints the same. [Settings of one node](../operate/settings.md#settings-of-one-node) and
            [Set quotas](../how-to/set-quotas.md) have examples.
            """);
    for (String kind : List.of("GpuNode", "GpuQuota")) {
      Path crd = CRDS.resolve(kind.toLowerCase(Locale.ROOT) + "s.gpu.partita.dev.yaml");
      JsonNode tree = new ObjectMapper().valueToTree(new Yaml().<Object>load(Files.readString(crd)));
      JsonNode version = tree.at("/spec/versions/0");
      page.append("\n## ").append(kind).append('\n');
      page.append(
          "\n`apiVersion: gpu.partita.dev/%s`, `kind: %s`, cluster-scoped; short name `%s`.\n"
              .formatted(version.path("name").asText(), kind, tree.at("/spec/names/shortNames/0").asText()));
      for (String part : List.of("spec", "status")) {
        page.append("\n### ").append(kind).append(' ').append(part)
            .append("\n| field | type | means |\n| --- | --- | --- |\n");
        fields(version.at("/schema/openAPIV3Schema/properties/" + part), "", page);
      }
    }
    page.append(MADE.formatted("the CustomResourceDefinitions"));
    check("custom-resources.md", page.toString());
  }

  @Test
  void metrics() throws IOException {
    StringBuilder page =
        new StringBuilder("# Metrics\n")
            .append(
                """

                    How to read them, and what to watch: [Monitor](../operate/monitor.md). Besides those listed below there are histograms:

                    - of the controller `partita_decision_seconds`, how long a decision about a pod took, by `outcome` (`allocated`,
                      `waits`, `refused`, `nothing`);
                    - of the controller `partita_admission_seconds`, how long an admission review took, by `review` (`mutate-pods`,
                      `validate`, `validate-allocations`, `validate-bindings`) and `outcome` (`allowed`, `changed`, `invalid`, `forbidden`,
                      `failed`), and beside it the counter `partita_admission_unreviewed_total` of requests that could not be
                      reviewed, by `status` (HTTP's: 400 malformed, 413 too large, 503 too much at once);
                    - of the plugin `partita_prepare_seconds` and `partita_unprepare_seconds`, how long kubelet waited for a claim, by
                      `outcome` (`ok`, `failed`);
                    - the JVM's own: `jvm_…`, `process_…`, `system_…`.

                    What only the controller that leads knows is told by that one alone: what would fit (`partita_largest_share_bytes`,
                    `partita_whole_cards_free`, `partita_free_bytes`, `partita_fragmentation_ratio`) and what waits to be done.

                    `pod` and `container` are empty where what is told is of several containers together, or of none.
                    """);
    Map<String, List<Family>> all = new LinkedHashMap<>();
    all.put("The controller's", ClusterMetrics.families());
    NodeMetrics.families().forEach((whose, families) -> all.put("The plugin's, in " + whose + "'s names", families));
    all.forEach((whose, families) -> {
      page.append("\n## ").append(whose).append("\n| name | kind | says | labels |\n| --- | --- | --- | --- |\n");
      families.forEach(family -> page.append("| `%s` | %s | %s | %s |\n".formatted(family.name(),
          family.kind().name().toLowerCase(Locale.ROOT), family.help(), String.join(", ", family.labels()))));
    });
    page.append(MADE.formatted("what both programs tell"));
    check("metrics.md", page.toString());
  }

  @Test
  void everyAttributeIsListed() throws IOException {
    String page = Files.readString(PAGES.resolve("devices.md"));
    Stream.of(DeviceAttribute.values()).forEach(name -> assertThat(page).contains("`" + name.key() + "`"));
    Stream.of(CapacityName.MEMORY, CapacityName.CORES, CapacityName.MULTIPROCESSORS)
        .forEach(name -> assertThat(page).contains("`" + name + "`"));
  }

  @Test
  void everyReasonOfTheControllerIsListed() throws IOException {
    String page = Files.readString(PAGES.resolve("events-and-conditions.md"));
    Stream<String> ofEvents = Stream.of(ClaimEvent.Reason.values()).map(Enum::name);
    Stream<String> ofPods = Stream
        .of(AllocatedCondition.waits(""), AllocatedCondition.refused(""), AllocatedCondition.done(""),
            AllocatedCondition.notOurs())
        .map(AllocatedCondition::reason);
    Stream<String> ofNodes = Stream.of(GpuNode.READY, GpuNode.SLOW_SCHEDULING);
    Stream.of(ofEvents, ofPods, ofNodes)
        .flatMap(reasons -> reasons)
        .forEach(reason -> assertThat(page).contains("`" + reason + "`"));
  }

  @Test
  void theReasonsOfThePluginThatAreListedAreThoseOfTheCode() throws IOException {
    String page = Files.readString(PAGES.resolve("events-and-conditions.md"));
    assertThat(reasons(page, "Events on claims", "plugin")).isEqualTo(names(EventReason.values()));
    assertThat(reasons(page, "Conditions of a claim's device", ""))
        .isEqualTo(names(DeviceCondition.values(), DeviceCondition.Reason.values()));
    assertThat(reasons(page, "Conditions of a GpuNode", ""))
        .containsAll(names(NodeReason.values())).contains(GpuNode.READY);
    assertThat(section(page, "Reasons of a card's health"))
        .contains(names(CardReason.values()).stream().map(name -> "`" + name + "`").toList());
  }

  private static Set<String> names(Enum<?>[]... values) {
    return Stream.of(values).flatMap(Stream::of).map(Enum::name).collect(Collectors.toCollection(TreeSet::new));
  }

  /** The names in the first three columns of a section's table, in the rows that have a cell of that text. */
  private static Set<String> reasons(String page, String section, String cell) {
    return section(page, section).lines()
        .filter(line -> line.startsWith("| ") && line.contains("| " + cell))
        .flatMap(line -> NAME.matcher(line.substring(0, line.lastIndexOf(" | "))).results())
        .map(name -> name.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String section(String page, String title) {
    String rest = page.substring(page.indexOf("\n## " + title + "\n") + 1);
    int end = rest.indexOf("\n## ");
    return end < 0 ? rest : rest.substring(0, end);
  }

  @Test
  void everyFieldOfADevicesStatusIsListed() throws IOException {
    String page = section(Files.readString(PAGES.resolve("events-and-conditions.md")), "Data of a claim's device");
    Set<String> listed =
        page.lines().filter(line -> line.startsWith("| `")).map(line -> line.substring(0, line.indexOf(" |", 1)))
            .flatMap(cell -> FIELD.matcher(cell).results()).map(field -> field.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(listed).isEqualTo(
        Stream.of(DeviceStatusData.values()).map(DeviceStatusData::key).collect(Collectors.toCollection(TreeSet::new)));
  }

  @Test
  void everyValueOfTheConfigIsListed() throws IOException {
    String page = Files.readString(PAGES.resolve("share-config.md"));
    Stream.of(GpuShareConfig.CoreLimit.values(), GpuShareConfig.Packing.values(), GpuShareConfig.Affinity.values())
        .flatMap(Stream::of)
        .map(value -> value.name().charAt(0) + value.name().substring(1).toLowerCase(Locale.ROOT))
        .forEach(value -> assertThat(page).contains("`" + value + "`"));
    Stream.of(GpuShareConfig.class, GpuShareConfig.Placement.class)
        .flatMap(type -> Stream.of(type.getRecordComponents()))
        .forEach(component -> assertThat(page).contains(component.getName()));
  }

  @Test
  void everyValueOfTheChartIsListed() throws IOException {
    String page = Files.readString(Document.ROOT.resolve("docs/operate/settings.md"));
    JsonNode values =
        new ObjectMapper().valueToTree(new Yaml().<Object>load(Files.readString(CRDS.resolve("../values.yaml"))));
    for (String path : paths(values, "")) {
      boolean named = page.contains("`" + path + "`") || page.contains("`" + path.replaceAll("\\.[^.]*$", "") + "`");
      assertThat(named).as("settings.md names the value %s, or what it is in", path).isTrue();
    }
  }

  private static List<String> paths(JsonNode node, String path) {
    if (!node.isObject() || node.isEmpty() || path.endsWith("resources")) {
      return List.of(path);
    }
    List<String> paths = new ArrayList<>();
    node.properties().forEach(
        entry -> paths.addAll(paths(entry.getValue(), path.isEmpty() ? entry.getKey() : path + "." + entry.getKey())));
    return paths;
  }

  private static void usages(CommandLine command, String heading, StringBuilder page) {
    for (CommandLine each : new LinkedHashSet<>(command.getSubcommands().values())) {
      if (each.getCommandSpec().usageMessage().hidden()) {
        continue;
      }
      page.append('\n').append(heading).append(' ').append(each.getCommandSpec().qualifiedName()).append('\n');
      page.append(usage(each));
      usages(each, heading, page);
    }
  }

  private static String usage(CommandLine command) {
    String text = command.setUsageHelpWidth(100).getUsageMessage(CommandLine.Help.Ansi.OFF);
    return "```text\n" + String.join("\n", text.lines().map(String::stripTrailing).toList()).strip() + "\n```\n";
  }

  private static void fields(JsonNode schema, String path, StringBuilder page) {
    for (String name : new TreeSet<>(schema.path("properties").propertyStream().map(Map.Entry::getKey).toList())) {
      JsonNode field = schema.path("properties").path(name);
      boolean list = field.path("type").asText().equals("array");
      JsonNode value = list ? field.path("items") : field;
      String at = path + name + (list ? "[]" : "");
      page.append("| `%s` | %s | %s |\n".formatted(at, type(value), words(field)));
      fields(value, at + ".", page);
    }
  }

  private static String type(JsonNode value) {
    if (value.path("x-kubernetes-int-or-string").asBoolean()) {
      return "amount";
    }
    List<String> choices = new ArrayList<>();
    value.path("enum").forEach(choice -> choices.add("`" + choice.asText() + "`"));
    return choices.isEmpty() ? value.path("type").asText() : String.join(", ", choices);
  }

  private static String words(JsonNode field) {
    StringBuilder words = new StringBuilder(field.path("description").asText());
    if (field.has("minimum") || field.has("maximum")) {
      words.append(words.isEmpty() ? "" : " ").append("From ").append(field.path("minimum").asInt());
      boolean bounded = field.has("maximum") && field.path("maximum").asInt() != Integer.MAX_VALUE;
      words.append(bounded ? " to " + field.path("maximum").asInt() + "." : ".");
    }
    if (field.has("default")) {
      words.append(words.isEmpty() ? "" : " ").append("Default: `").append(field.path("default").asText()).append("`.");
    }
    return words.toString().replace("|", "\\|");
  }

  private static void check(String name, String made) throws IOException {
    Path page = PAGES.resolve(name);
    if (Boolean.getBoolean("partita.docs.write")) {
      Files.writeString(page, made);
    }
    assertThat(page).content().isEqualTo(made);
  }
}
