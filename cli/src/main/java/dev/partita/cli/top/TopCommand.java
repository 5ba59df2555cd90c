package dev.partita.cli.top;

import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.connection.ClusterOptions;
import dev.partita.cli.connection.NamespacesOption;
import dev.partita.cli.fleet.FleetReader;
import dev.partita.cli.output.OutputFormat;
import dev.partita.cli.output.OutputOption;
import dev.partita.cli.output.Redraw;
import dev.partita.cli.output.Sheet;
import dev.partita.cli.output.Terminal;
import dev.partita.controller.fleet.ClaimDevice;
import dev.partita.controller.fleet.Fleet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code partita top}. */
@Command(
    name = "top",
    description = {
      "Shows what nodes, cards or claims have, and what is used of it; without a command, nodes.",
      "",
      "Everything is read from the API with your own rights: GpuNodes, and ResourceClaims of all namespaces (of one for 'top claims -n'). What "
          + "is used is what the nodes' plugins wrote into claims, at most some minutes ago; '-' where they said nothing.",
      "",
      "MEMORY is what can be allocated to shares, ALLOCATED what claims have of it, FREE what a new claim could get now, CORES what is guaranteed of the "
          + "cards' time."
    },
    mixinStandardHelpOptions = true,
    sortOptions = false,
    commandListHeading = "%nCommands:%n",
    footer = {
      "",
      "Examples:",
      "  partita top",
      "  partita top gpus --node gpu-node-7 --sort-by free",
      "  partita top claims -A --sort-by used --watch",
      "  partita top gpus -o json"
    })
public final class TopCommand implements Runnable {
  private static final int MOST_SECONDS = 3600;

  @Spec private CommandSpec spec;

  @Mixin private final Options options = new Options();

  /** What all of them have. */
  static final class Options {
    @Mixin private final ClusterOptions cluster = new ClusterOptions();
    @Mixin private final OutputOption output = new OutputOption();

    @Option(names = "--node", paramLabel = "NAME",
        description = "Only of this node; may be given several times.") private List<String> nodes = List.of();

    @Option(names = "--sort-by", paramLabel = "COLUMN",
        description = "Sorts by a column, by its name in -o json, such as free: numbers from the largest.") private Optional<String> sortBy =
            Optional.empty();

    @Option(names = {"-w", "--watch"},
        description = "Reads and shows it again and again, until it is interrupted.") private boolean watch;

    @Option(names = "--interval", paramLabel = "SECONDS", defaultValue = "5",
        description = "Seconds between two readings. Default: ${DEFAULT-VALUE}.") private int interval;

    private NodeFilter filter() {
      return new NodeFilter(new HashSet<>(nodes));
    }

    /**
     * Refuses what would be refused once the cluster has answered.
     *
     * @param empty what is to be shown, without rows
     */
    private void check(Sheet empty) {
      if (interval < 1 || interval > MOST_SECONDS) {
        throw CommandFailure.usage("--interval is 1 to " + MOST_SECONDS + " seconds, not " + interval);
      }
      sortBy.ifPresent(empty::sortBy);
    }
  }

  @Override
  public void run() {
    nodes(options);
  }

  @Command(name = "nodes", aliases = "node", description = "Shows one row for each node.",
      mixinStandardHelpOptions = true,
      sortOptions = false, footer = {"", "Example:", "  partita top nodes --sort-by free"})
  void nodes(@Mixin Options asked) {
    show(asked, fleet -> FleetSheets.nodes(fleet, asked.filter()));
  }

  @Command(name = "gpus", aliases = "gpu", description = "Shows one row for each card.",
      mixinStandardHelpOptions = true,
      sortOptions = false, footer = {"", "Example:", "  partita top gpus --node gpu-node-7 --sort-by free"})
  void gpus(@Mixin Options asked) {
    show(asked, fleet -> FleetSheets.gpus(fleet, asked.filter()));
  }

  @Command(name = "claims", aliases = "claim", description = "Shows one row for each device of a ResourceClaim.",
      mixinStandardHelpOptions = true, sortOptions = false,
      footer = {"", "Example:", "  partita top claims -A --sort-by used --watch"})
  void claims(@Mixin Options asked, @Mixin NamespacesOption namespaces) {
    asked.check(FleetSheets.claims(List.of(), asked.filter()));
    try (KubernetesClient client = asked.cluster.client()) {
      Optional<String> namespace = namespaces.of(client);
      show(asked, new FleetReader(client), reader -> FleetSheets.claims(
          reader.claims(namespace).stream().flatMap(claim -> ClaimDevice.of(claim).stream()).toList(),
          asked.filter()));
    }
  }

  private void show(Options asked, Function<Fleet, Sheet> sheet) {
    asked.check(sheet.apply(Fleet.of(List.of(), List.of())));
    try (KubernetesClient client = asked.cluster.client()) {
      show(asked, new FleetReader(client),
          reader -> sheet.apply(Fleet.of(reader.nodes(), reader.claims(Optional.empty()))));
    }
  }

  private void show(Options asked, FleetReader reader, Function<FleetReader, Sheet> look) {
    OutputFormat format = asked.output.format();
    Redraw redraw =
        new Redraw(spec.commandLine().getOut(), asked.watch && format.isTable() && Terminal.isCapable(),
            Terminal::height);
    redraw.show(text(asked, look.apply(reader)));
    while (asked.watch) {
      if (spec.commandLine().getOut().checkError()) {
        throw CommandFailure.failed("standard output cannot be written");
      }
      pause(Duration.ofSeconds(asked.interval));
      again(asked, reader, look, redraw);
    }
  }

  /** Whoever watches wants to go on when the API server is away for a while; whoever reads JSON reads nothing else. */
  private void again(Options asked, FleetReader reader, Function<FleetReader, Sheet> look, Redraw redraw) {
    try {
      redraw.show(text(asked, look.apply(reader)));
    } catch (KubernetesClientException e) {
      String away = "partita: " + asked.cluster.failure(e).getMessage();
      if (asked.output.format().isTable()) {
        redraw.show(away + "\n");
      } else {
        spec.commandLine().getErr().println(away);
        spec.commandLine().getErr().flush();
      }
    }
  }

  private static String text(Options asked, Sheet sheet) {
    asked.sortBy.ifPresent(sheet::sortBy);
    return asked.output.text(Map.of("items", sheet.items()),
        () -> sheet.isEmpty() ? "nothing to show\n" : sheet.table(asked.output.format() == OutputFormat.WIDE));
  }

  private static void pause(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted");
    }
  }
}
