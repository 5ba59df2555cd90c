package dev.partita.plugin;

import dev.partita.plugin.kube.PluginClient;
import dev.partita.plugin.loop.Loops;
import dev.partita.serving.log.ConsoleLog;
import dev.partita.serving.log.LogLevel;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine;

/** The node plugin as a program. */
@Command(
    name = "partita-kubelet-plugin",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Reports this node's GPUs and prepares claims of gpu.partita.dev for kubelet.",
      "Every option can be given as an environment variable instead; an option on the command line wins.",
      ""
    },
    exitCodeListHeading = "%nExit status:%n",
    exitCodeList = {"0:ended by SIGTERM or SIGINT", "1:an error that is not the caller's",
      "2:wrong options, or a folder or port that cannot be used"})
public final class Main implements Callable<Integer> {
  @Mixin private final PluginSettings settings = new PluginSettings();

  @Option(names = "--log-level", paramLabel = "off|error|warn|info|debug",
      defaultValue = "${env:PARTITA_LOG_LEVEL:-info}",
      description = "How much the log tells. Default: ${DEFAULT-VALUE}" + PluginSettings.ENV
          + "PARTITA_LOG_LEVEL]") private LogLevel logLevel = LogLevel.INFO;

  /** Runs the plugin until SIGTERM or SIGINT. */
  public static void main(String[] args) {
    ConsoleLog.use(LogLevel.INFO, 10);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, e) -> logger().error("the thread {} has ended", thread.getName(), e));
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    CommandLine command = new CommandLine(new Main());
    command.setCaseInsensitiveEnumValuesAllowed(true);
    // For a handler of its own picocli drops the command's writer where somebody replaces System.err meanwhile.
    command.setExecutionStrategy(parsed -> new CommandLine.RunLast().execute(parsed));
    command.setParameterExceptionHandler(
        (e, arguments) -> {
          e.getCommandLine().getErr().println("partita-kubelet-plugin: " + e.getMessage() + " (see --help)");
          return CommandLine.ExitCode.USAGE;
        });
    command.setExecutionExceptionHandler(
        (e, executed, arguments) -> {
          if (!(e instanceof IllegalArgumentException || e instanceof PluginStartException)) {
            throw e;
          }
          executed.getErr().println("partita-kubelet-plugin: " + e.getMessage());
          return CommandLine.ExitCode.USAGE;
        });
    return command;
  }

  @Override
  @SuppressWarnings("try") // the plugin runs until it is closed, nothing is called on it
  public Integer call() {
    ConsoleLog.setLevel(logLevel);
    CountDownLatch ended = new CountDownLatch(1);
    CountDownLatch stop = new CountDownLatch(1);
    try (Loops own = new Loops();
        KubeletPlugin plugin = KubeletPlugin.start(settings.checked(), PluginClient::make)) {
      HeapTrim.start(own);
      Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> stopAndWait(stop, ended)));
      stop.await();
      logger().info("stopping");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      ended.countDown();
    }
    return CommandLine.ExitCode.OK;
  }

  private static void stopAndWait(CountDownLatch stop, CountDownLatch ended) {
    stop.countDown();
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Runtime.getRuntime().halt(CommandLine.ExitCode.OK); // else the status would be 143, which looks like a failure
  }

  private static Logger logger() {
    return LoggerFactory.getLogger(Main.class);
  }
}
