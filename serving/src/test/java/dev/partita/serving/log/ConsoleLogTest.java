package dev.partita.serving.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator.ExecutionStatus;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.Logger;

class ConsoleLogTest {
  private final LoggerContext loggers = new LoggerContext();

  @Test
  void anEventIsOneLineThatMovesNoCursorWhateverATenantWrote() {
    ConsoleLog.configure(loggers, LogLevel.INFO, 0);
    assertThat(written()).isEqualTo("2026-01-01T10:20:30.456Z WARN  UsageWatch: two | lines | of?[2J a tenant?\n");
  }

  @Test
  void asManyFramesOfAnExceptionFollowAsTheProgramWants() {
    ConsoleLog.configure(loggers, LogLevel.INFO, 2);
    assertThat(written()).contains("a tenant? | java.lang.IllegalStateException: two | lines?[2J | at dev.partita.")
        .satisfies(line -> assertThat(line.split(" \\| at ", -1)).hasSize(3)).hasLineCount(1).endsWith("\n");
  }

  @Test
  void onlyOurOwnClassesTellMoreThanWarnings() {
    ConsoleLog.configure(loggers, LogLevel.DEBUG, 0);
    assertThat(loggers.getLogger("dev.partita.plugin.Main").getEffectiveLevel()).isEqualTo(Level.DEBUG);
    assertThat(loggers.getLogger("io.grpc").getEffectiveLevel()).isEqualTo(Level.WARN);
  }

  @ParameterizedTest
  @EnumSource(names = {"OFF", "ERROR"})
  void nobodyTellsMoreThanTheLevelAllows(LogLevel level) {
    ConsoleLog.configure(loggers, level, 0);
    Level most = Level.valueOf(level.name());
    assertThat(loggers.getLoggerList()).allMatch(logger -> logger.getEffectiveLevel().isGreaterOrEqual(most));
  }

  /** A new version of a library may call its classes otherwise. */
  @Test
  void theClassesOfTheClientThatAreToSayLessAreThere() throws Exception {
    for (String name : ConsoleLog.ERRORS_ONLY) {
      if (name.startsWith("io.fabric8.")) {
        assertThat(Class.forName(name)).isNotNull();
      }
    }
  }

  @Test
  void aProcessThatDoesNotAskForItKeepsItsOwnConfiguration() {
    assertThat(new ConsoleLog().configure(loggers)).isEqualTo(ExecutionStatus.INVOKE_NEXT_IF_ANY);
    assertThat(loggers.getLogger(Logger.ROOT_LOGGER_NAME).iteratorForAppenders().hasNext()).isFalse();
  }

  /** In each run of blanks all of them were walked through from each of them: a minute for so many. */
  @Test
  void aLineOfManyBlanksTakesNoTime() {
    ConsoleLog.configure(loggers, LogLevel.INFO, 0);
    String many = " ".repeat(300_000);
    assertThat(assertTimeoutPreemptively(Duration.ofSeconds(20), () -> written("a" + many + "b" + many)))
        .endsWith("UsageWatch: a" + many + "b\n");
  }

  private String written() {
    return written("two\n  lines\u0085of\u001b[2J a tenant\u202e");
  }

  private String written(String message) {
    var appender = (ConsoleAppender<ILoggingEvent>) loggers.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("stderr");
    var logger = loggers.getLogger("dev.partita.plugin.usage.UsageWatch");
    LoggingEvent event =
        new LoggingEvent("", logger, Level.WARN, message,
            new IllegalStateException("two\nlines\u001b[2J"), new Object[0]);
    event.setInstant(Instant.parse("2026-01-01T10:20:30.456Z"));
    return new String(appender.getEncoder().encode(event), StandardCharsets.UTF_8);
  }
}
