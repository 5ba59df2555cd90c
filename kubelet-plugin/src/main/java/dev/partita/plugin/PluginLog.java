package dev.partita.plugin;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;

/**
 * Configures the log of the plugin's own process: one line for each event on stderr, with time, level, class and
 * message. It is Java code, since Logback's XML would bring 480 more classes into the process. A program that embeds
 * the plugin has a configuration of its own, so this one applies only if the system property {@link #PROPERTY} is set.
 * The environment variable PARTITA_LOG_LEVEL sets the level (INFO).
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_HIGH_PRIORITY)
public final class PluginLog extends ContextAwareBase implements Configurator {
  /** The system property that makes this the log's configuration, whatever its value. */
  public static final String PROPERTY = "partita.plugin.log";

  private static final String PATTERN =
      // one line, which no character of it moves, and no stack traces
      "%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z',UTC} %-5level %logger{0} "
          + "%replace(%replace(%msg){'\\R\\s*',' | '}){'[\\x00-\\x08\\x0e-\\x1f\\x7f-\\x9f\\p{Cf}]','?'}%n%nopex";

  @Override
  public ExecutionStatus configure(LoggerContext loggers) {
    if (System.getProperty(PROPERTY) == null) {
      return ExecutionStatus.INVOKE_NEXT_IF_ANY;
    }
    configure(loggers, Level.toLevel(System.getenv("PARTITA_LOG_LEVEL"), Level.INFO));
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  static void configure(LoggerContext loggers, Level level) {
    PatternLayoutEncoder lines = new PatternLayoutEncoder();
    lines.setContext(loggers);
    lines.setPattern(PATTERN);
    lines.start();
    ConsoleAppender<ILoggingEvent> stderr = new ConsoleAppender<>();
    stderr.setContext(loggers);
    stderr.setName("stderr");
    stderr.setTarget("System.err");
    stderr.setEncoder(lines);
    stderr.start();
    Logger root = loggers.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.WARN);
    root.addAppender(stderr);
    loggers.getLogger("dev.partita").setLevel(level);
    // They warn of what cannot be otherwise: our own API's version, and TCP's options on unix sockets.
    loggers.getLogger("io.fabric8.kubernetes.client.dsl.internal.VersionUsageUtils").setLevel(Level.ERROR);
    loggers.getLogger("io.grpc.netty.shaded.io.netty.bootstrap").setLevel(Level.ERROR);
  }
}
