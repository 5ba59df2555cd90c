package dev.partita.cli;

import dev.partita.cli.cluster.ClusterCommand;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.EnvironmentProxies;
import dev.partita.cli.connection.ClusterAnswers;
import dev.partita.cli.connection.ClusterOptions;
import dev.partita.cli.convert.ConvertCommand;
import dev.partita.cli.cordon.CordonCommand;
import dev.partita.cli.cordon.UncordonCommand;
import dev.partita.cli.demo.DemoCommand;
import dev.partita.cli.doctor.DoctorCommand;
import dev.partita.cli.explain.ExplainCommand;
import dev.partita.cli.images.ImagesCommand;
import dev.partita.cli.output.Printable;
import dev.partita.cli.placement.BenchCommand;
import dev.partita.cli.placement.SimulateCommand;
import dev.partita.cli.release.ReleaseCommand;
import dev.partita.cli.resize.ResizeCommand;
import dev.partita.cli.rightsizing.ReportCommand;
import dev.partita.cli.shell.CompleteCommand;
import dev.partita.cli.shell.CompletionCommand;
import dev.partita.cli.shell.ManCommand;
import dev.partita.cli.top.TopCommand;
import dev.partita.cli.trail.LogsCommand;
import dev.partita.cli.web.WebCommand;
import dev.partita.serving.log.ConsoleLog;
import dev.partita.serving.log.LogLevel;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/**
 * The top command. Exit status 0: done; 1: it could not be done; 2: it was asked for in a way that cannot work, with
 * one line on stderr that says what to change.
 */
@Command(
    name = "partita",
    description = "Cuts GPUs into enforced shares: a Kubernetes DRA driver, and the tools around it.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND",
    commandListHeading = "%nCommands:%n",
    footer = {"", "'partita COMMAND --help' explains a command, with examples."})
public final class Partita implements Runnable {
  private static final List<Class<?>> COMMANDS =
      List.of(DemoCommand.class, ClusterCommand.class, ConvertCommand.class, ExplainCommand.class, TopCommand.class,
          WebCommand.class, ReportCommand.class, ResizeCommand.class, CordonCommand.class, UncordonCommand.class,
          DoctorCommand.class, LogsCommand.class, CompletionCommand.class, CompleteCommand.class, ManCommand.class,
          SimulateCommand.class,
          BenchCommand.class, ImagesCommand.class, ReleaseCommand.class);

  /** Those that tell about all commands. */
  private static final Set<Class<?>> OF_ALL = Set.of(CompletionCommand.class, CompleteCommand.class, ManCommand.class);

  @Spec private CommandSpec spec;

  public static void main(String[] arguments) {
    ConsoleLog.use(LogLevel.OFF, 0); // a command says itself what goes wrong
    EnvironmentProxies.use(System.getenv());
    StandardOutput out = StandardOutput.install();
    int status = run(arguments);
    System.out.flush();
    Optional<String> problem = out.problem();
    problem.ifPresent(why -> System.err.println("partita: standard output cannot be written: " + why));
    System.exit(problem.isPresent() ? withoutOutput(status) : status);
  }

  /** The exit status of a command whose output is cut off: what it would say of the output is not true then. */
  static int withoutOutput(int status) {
    return status == CommandLine.ExitCode.USAGE ? status : CommandLine.ExitCode.SOFTWARE;
  }

  /** Runs one command line in this process; gives the exit status. */
  public static int run(String... arguments) {
    CommandLine line = commandLineFor(arguments);
    try {
      return line.execute(arguments);
    } catch (OutOfMemoryError tooMuch) {
      line.getErr().println("partita: this takes more memory than the " + (Runtime.getRuntime().maxMemory() >> 20)
          + " MiB that there are: give it less at once");
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  /**
   * Knows the command that is named, and all of them where none is or the command tells about all: to read the options
   * of the others takes half of the time of a short command.
   */
  static CommandLine commandLineFor(String... arguments) {
    List<Class<?>> named =
        COMMANDS.stream().filter(command -> arguments.length > 0 && isNamed(command, arguments[0]))
            .filter(command -> !OF_ALL.contains(command)).toList();
    return commandLine(named.isEmpty() ? COMMANDS : named);
  }

  private static boolean isNamed(Class<?> command, String argument) {
    return command.getAnnotation(Command.class).name().equals(argument);
  }

  /** The whole command line, as {@link #run} has it. */
  public static CommandLine commandLine() {
    return commandLine(COMMANDS);
  }

  private static CommandLine commandLine(List<Class<?>> commands) {
    CommandLine line = new CommandLine(new Partita());
    commands.forEach(line::addSubcommand);
    if (commands.size() > 1) {
      CommandLine help = new CommandLine(new CommandLine.HelpCommand());
      help.getCommandSpec().usageMessage().header(new String[0]).description("Explains a command, as --help does.");
      line.addSubcommand(help);
    }
    return line
        // For a handler of its own picocli drops the command's writer where somebody replaces System.err meanwhile.
        .setExecutionStrategy(Partita::execute)
        .setParameterExceptionHandler(Partita::oneLine)
        .setExecutionExceptionHandler(Partita::report);
  }

  private static int execute(CommandLine.ParseResult parsed) {
    Integer helped = CommandLine.executeHelpRequest(parsed);
    if (helped != null) {
      return helped;
    }
    refuseUnread(parsed);
    return new CommandLine.RunLast().execute(parsed);
  }

  /**
   * Only the last command runs, and reads options that stand behind it. One before it, such as {@code --context}, would
   * be left out without a word.
   */
  private static void refuseUnread(CommandLine.ParseResult parsed) {
    for (CommandLine.ParseResult at = parsed; at.hasSubcommand(); at = at.subcommand()) {
      if (!at.matchedOptions().isEmpty()) {
        throw new ParameterException(at.commandSpec().commandLine(), "%s must stand behind '%s'"
            .formatted(at.matchedOptions().getFirst().longestName(), at.subcommand().commandSpec().name()));
      }
    }
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }

  private static int oneLine(ParameterException wrong, String[] arguments) {
    String path = wrong.getCommandLine().getCommandSpec().qualifiedName();
    String message = ParserMessage.plain(String.valueOf(wrong.getMessage()));
    if (wrong instanceof CommandLine.UnmatchedArgumentException unknown) {
      message = unknown(wrong.getCommandLine().getCommandSpec(), unknown.getUnmatched().getFirst());
    } else if (message.startsWith("Unknown subcommand ")) { // of the command 'help'
      message = unknown(wrong.getCommandLine().getCommandSpec(), wrong.getValue());
    }
    wrong.getCommandLine().getErr().println("partita: " + message + " (" + path + " --help explains)");
    return CommandLine.ExitCode.USAGE;
  }

  private static String unknown(CommandSpec command, String typed) {
    List<String> known =
        typed.startsWith("-")
            ? command.options().stream().filter(option -> !option.hidden()).flatMap(option -> Stream.of(option.names()))
                .toList()
            : command.subcommands().entrySet().stream()
                .filter(each -> !each.getValue().getCommandSpec().usageMessage().hidden()).map(Map.Entry::getKey)
                .toList();
    return "%s knows no '%s'%s".formatted(command.qualifiedName(), typed,
        NearWord.of(typed.split("=", 2)[0], known).map(near -> ": did you mean " + near + "?").orElse(""));
  }

  private static int report(Exception failure, CommandLine command, CommandLine.ParseResult parsed) throws Exception {
    CommandFailure known =
        switch (failure) {
          case CommandFailure told -> told;
          case KubernetesClientException refused -> ClusterOptions.of(command.getCommandSpec())
              .map(cluster -> cluster.failure(refused)).orElseGet(() -> ClusterAnswers.failure(refused));
          default -> throw failure;
        };
    command.getErr().println("partita: " + Printable.lines(String.valueOf(known.getMessage())));
    return known.exitStatus();
  }
}
