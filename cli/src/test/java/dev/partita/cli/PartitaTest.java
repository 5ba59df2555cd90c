package dev.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.command.CommandRun;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class PartitaTest {
  @Test
  void aCommandIsReadWithoutTheOthers() {
    assertThat(Partita.commandLineFor("top", "gpus").getSubcommands()).containsOnlyKeys("top");
  }

  @Test
  void theVersionIsTheProjects() {
    String version = CommandRun.of("--version").out().strip().replaceFirst("partita ", "");
    assertThat(Path.of("../pom.xml")).content().contains("<version>" + version + "</version>");
  }

  /** The command behind them would not read them, and ask another cluster than the one that is named. */
  @ParameterizedTest
  @ValueSource(strings = {"top --context there gpus", "simulate --snapshot monday.json fits"})
  void optionsBeforeACommandThatDoesNotReadThemAreRefused(String line) {
    CommandRun run = CommandRun.of(line.split(" ", -1));
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err().lines()).singleElement().asString().startsWith("partita: ")
        .contains(line.split(" ", -1)[1] + " must stand behind '" + line.split(" ", -1)[3] + "'");
  }

  @Test
  void helpIsAlsoACommand() {
    assertThat(CommandRun.of("help").out()).isEqualTo(CommandRun.of("--help").out());
    CommandRun top = CommandRun.of("help", "top");
    assertThat(top.status()).isZero();
    assertThat(top.out()).isEqualTo(CommandRun.of("top", "--help").out());
    assertThat(Partita.commandLineFor("help", "top").getSubcommands()).containsKeys("top", "help");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "cluster up --provider foo | 'foo' is none of lab, k3s, current (partita",
    "convert -f x --to foo | 'foo' is none of partita, nvidia-dra (partita",
    "convert -f x --gpu-mem-unit TB | 'TB' is none of MiB, GiB (partita",
    "report --below abc | 'abc' is not a whole number (partita",
    "cluster up --set a | Value for option '--set' (PATH=VALUE)",
    "cluster up --timeout 0 | --timeout is 1 or more seconds",
    "convert -f /proc/none | there is no file /proc/none",
    "convert -f /dev/zero | /dev/zero has more than 64 MiB: convert it in parts",
    "convert -f /dev/null -o /none/x | /none/x cannot be written: there is no such file or folder",
    "convert -f /dev/null -o /proc | /proc cannot be written: Is a directory",
    "web --kubeconfig /none | there is no kubeconfig at /none",
    "simulate --generate pods=1,nodes=1 --out /none/x | to /none/x: there is no folder /none"})
  void whatCannotBeReadIsSaidInPlainWords(String line, String says) {
    CommandRun run = CommandRun.of(line.split(" ", -1));
    assertThat(run.status()).isBetween(1, 2);
    assertThat(run.err().lines()).singleElement().asString().startsWith("partita: ").contains(says);
  }

  /** An example that is wrapped cannot be copied. */
  @Test
  void noExampleIsWiderThanTheHelp() {
    List<String> examples = footers(Partita.commandLine()).filter(line -> line.startsWith("  ")).toList();
    assertThat(examples).hasSizeGreaterThan(50).filteredOn(line -> line.length() > 80).isEmpty();
  }

  /** The last line of the first page promises one. */
  @Test
  void everyCommandThatDoesSomethingHasAnExample() {
    assertThat(leaves(Partita.commandLine())).hasSizeGreaterThan(25)
        .filteredOn(leaf -> footers(new CommandLine(leaf)).noneMatch(line -> line.matches("Examples?:")))
        .extracting(leaf -> leaf.qualifiedName()).containsExactly("partita help");
  }

  private static Stream<CommandLine.Model.CommandSpec> leaves(CommandLine line) {
    return line.getSubcommands().isEmpty()
        ? Stream.of(line.getCommandSpec()).filter(leaf -> !leaf.usageMessage().hidden())
        : line.getSubcommands().values().stream().distinct().flatMap(PartitaTest::leaves);
  }

  @Test
  void everyCommandIsListedWithWhatItDoes() {
    assertThat(CommandRun.of("--help").out()).containsPattern("\n  help +Explains a command");
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
    "tpo | partita knows no 'tpo': did you mean top? (partita --help explains)",
    "rezise x | partita knows no 'rezise': did you mean resize? (partita",
    "nonsense | partita knows no 'nonsense' (partita --help explains)",
    "--vesrion | partita knows no '--vesrion': did you mean --version? (partita",
    "explain pods x | partita explain knows no 'pods': did you mean pod? (partita explain --help",
    "explain node x | partita explain knows no 'node' (partita explain --help explains)",
    "top -x | partita top knows no '-x' (partita top --help explains)",
    "top claims --namespac=team-a | partita top claims knows no '--namespac=team-a': did you mean --namespace? (partita",
    "top gpus --srot-by free | partita top gpus knows no '--srot-by': did you mean --sort-by? (partita top gpus",
    "help tpo | partita knows no 'tpo': did you mean top? (partita --help explains)"})
  void aWordThatIsNearIsProposed(String line, String says) {
    CommandRun run = CommandRun.of(line.split(" ", -1));
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err().lines()).singleElement().asString().startsWith("partita: " + says);
  }

  private static Stream<String> footers(CommandLine line) {
    return Stream.concat(Stream.of(line.getCommandSpec().usageMessage().footer()),
        line.getSubcommands().values().stream().flatMap(PartitaTest::footers));
  }

  @Test
  void helpIsGivenOfTheCommandThatIsAskedForIt() {
    assertThat(CommandRun.of("top", "--help", "gpus").status()).isZero();
    assertThat(CommandRun.of("top", "gpus", "--help").out()).contains("Shows one row for each card");
  }

  @ParameterizedTest
  @ValueSource(strings = {"completion", "man", "--help", "tpo", ""})
  void whatTellsAboutAllCommandsKnowsAll(String argument) {
    assertThat(Partita.commandLineFor(argument).getSubcommands())
        .containsOnlyKeys(Partita.commandLine().getSubcommands().keySet()).containsKeys("top", "web", "man");
    assertThat(Partita.commandLineFor().getSubcommands()).hasSizeGreaterThan(10);
  }
}
