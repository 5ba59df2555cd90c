package dev.partita.serving.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Writes a program's log to stderr, a line an event, such as {@code 2026-01-01T10:20:30.456Z WARN  UsageWatch: the card
 * GPU-0 is gone}. It is Java code since Logback's XML would bring 480 more classes into the process, and the JDK's
 * module java.xml with them. A program asks for it ({@link #use}) before it makes its first logger. In a process that
 * does not ask, such as a test, the log is what its own configuration says.
 */
@ConfiguratorRank(ConfiguratorRank.CUSTOM_HIGH_PRIORITY)
public final class ConsoleLog extends ContextAwareBase implements Configurator {
  /**
   * One line with all of an event, which no character of what a tenant wrote moves, in an exception's message neither.
   * Blanks at its end are looked for once a run of blanks, not from each of them.
   */
  private static String line(String exception) {
    return "%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z',UTC} %-5level %logger{0}: "
        + "%replace(%replace(%replace(%msg%n" + exception + "){'(?<!\\s)\\s++\\z',''}){'\\R\\s*',' | '})"
        + "{'[\\x00-\\x08\\x0e-\\x1f\\x7f-\\x9f\\p{Cf}]','?'}%n";
  }

  private static final String OURS = "dev.partita";

  /** Their warnings tell what is told already, or cannot be otherwise. */
  static final List<String> ERRORS_ONLY =
      List.of(
          // What keeps an informer from listing or watching: its exception handler says it in one line.
          "io.fabric8.kubernetes.client.informers.impl.cache.Reflector",
          // Our own API, and kinds that are new in Kubernetes, are of unstable versions.
          "io.fabric8.kubernetes.client.dsl.internal.VersionUsageUtils",
          // Unix sockets lack TCP's options.
          "io.grpc.netty.shaded.io.netty.bootstrap");

  private static volatile @Nullable Settings asked;

  /** How this process logs: up to which level, and how many frames of an exception follow what its event says. */
  private record Settings(LogLevel level, int frames) {}

  /**
   * Has this process log in this way. An exception and {@code frames} of it follow what its event says, on the same
   * line; with 0 not even its name does.
   */
  public static void use(LogLevel level, int frames) {
    asked = new Settings(level, frames);
  }

  /** Sets how much a process that logs in this way tells from now on. */
  public static void setLevel(LogLevel level) {
    if (asked != null && LoggerFactory.getILoggerFactory() instanceof LoggerContext loggers) {
      setLevel(loggers, level);
    }
  }

  @Override
  public ExecutionStatus configure(LoggerContext loggers) {
    Settings settings = asked;
    if (settings == null) {
      return ExecutionStatus.INVOKE_NEXT_IF_ANY;
    }
    configure(loggers, settings.level, settings.frames);
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  static void configure(LoggerContext loggers, LogLevel level, int frames) {
    PatternLayoutEncoder lines = new PatternLayoutEncoder();
    lines.setContext(loggers);
    lines.setPattern(line(frames == 0 ? "%nopex" : "%ex{" + frames + "}"));
    lines.start();
    ConsoleAppender<ILoggingEvent> stderr = new ConsoleAppender<>();
    stderr.setContext(loggers);
    stderr.setName("stderr");
    stderr.setTarget("System.err");
    stderr.setEncoder(lines);
    stderr.start();
    loggers.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).addAppender(stderr);
    setLevel(loggers, level);
  }

  private static void setLevel(LoggerContext loggers, LogLevel level) {
    loggers.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(level.ofLibraries());
    loggers.getLogger(OURS).setLevel(level.ofOurs());
    for (String name : ERRORS_ONLY) {
      Logger library = loggers.getLogger(name);
      library.setLevel(level == LogLevel.OFF ? Level.OFF : Level.ERROR);
    }
  }
}
