package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator.ExecutionStatus;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

class PluginLogTest {
  private final LoggerContext loggers = new LoggerContext();

  @Test
  void anEventIsOneLineWithoutAStackTraceWhateverItHolds() {
    PluginLog.configure(loggers, Level.INFO);
    var appender = (ConsoleAppender<ILoggingEvent>) loggers.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("stderr");
    var logger = loggers.getLogger("dev.partita.plugin.usage.UsageWatch");
    LoggingEvent event =
        new LoggingEvent("", logger, Level.WARN, "two\n  lines\u0085of\u001b[2J a tenant\u202e",
            new IllegalStateException("why"), new Object[0]);
    event.setInstant(Instant.parse("2026-01-01T10:20:30.456Z"));
    assertThat(new String(appender.getEncoder().encode(event), StandardCharsets.UTF_8))
        .isEqualTo("2026-01-01T10:20:30.456Z WARN  UsageWatch two | lines | of?[2J a tenant?" + System.lineSeparator());
  }

  @Test
  void onlyThePluginsOwnClassesTellMoreThanWarnings() {
    PluginLog.configure(loggers, Level.DEBUG);
    assertThat(loggers.getLogger("dev.partita.plugin.Main").getEffectiveLevel()).isEqualTo(Level.DEBUG);
    assertThat(loggers.getLogger("io.grpc").getEffectiveLevel()).isEqualTo(Level.WARN);
  }

  @Test
  void whoeverEmbedsThePluginKeepsItsOwnConfiguration() {
    assertThat(new PluginLog().configure(loggers)).isEqualTo(ExecutionStatus.INVOKE_NEXT_IF_ANY);
    assertThat(loggers.getLogger(Logger.ROOT_LOGGER_NAME).iteratorForAppenders().hasNext()).isFalse();
  }
}
