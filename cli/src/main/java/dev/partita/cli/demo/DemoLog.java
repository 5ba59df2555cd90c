package dev.partita.cli.demo;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.FileAppender;
import java.nio.file.Path;
import java.util.logging.LogManager;
import org.slf4j.LoggerFactory;

/** Sends the log of everything in this process to a file: controller, both plugins, libraries. */
final class DemoLog implements AutoCloseable {
  private final FileAppender<ILoggingEvent> appender = new FileAppender<>();
  private final Logger root;
  private final Level before;

  DemoLog(Path file) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    before = root.getLevel();
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%d{HH:mm:ss.SSS} %-5level [%thread] %logger{0}: %msg%n");
    encoder.start();
    appender.setContext(context);
    appender.setName("demo");
    appender.setFile(file.toString());
    appender.setEncoder(encoder);
    appender.start();
    root.detachAndStopAllAppenders();
    root.addAppender(appender);
    root.setLevel(Level.WARN);
    // netty warns of a socket option that unix sockets lack, once a connection.
    context.getLogger("io.grpc.netty.shaded").setLevel(Level.ERROR);
    context.getLogger("dev.partita").setLevel(Level.INFO);
    // gRPC logs by java.util.logging, to the screen.
    LogManager.getLogManager().reset();
  }

  @Override
  public void close() {
    root.detachAppender(appender);
    appender.stop();
    root.setLevel(before);
  }
}
