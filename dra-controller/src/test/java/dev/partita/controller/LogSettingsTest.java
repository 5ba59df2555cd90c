package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class LogSettingsTest {
  @Test
  void whatTenantsWroteIsOneLineAndMovesNoCursor() throws Exception {
    LoggerContext loggers = new LoggerContext();
    JoranConfigurator settings = new JoranConfigurator();
    settings.setContext(loggers);
    settings.doConfigure(Main.class.getResource("logback.xml"));
    var root = loggers.getLogger(Logger.ROOT_LOGGER_NAME);
    var appender = (ConsoleAppender<ILoggingEvent>) root.getAppender("stdout");
    var event = new LoggingEvent("", root, Level.WARN, "two\n  lines\u0085of\u001b[2J a tenant\u202e",
        new IllegalStateException("why"), new Object[0]);
    List<String> lines =
        new String(appender.getEncoder().encode(event), StandardCharsets.UTF_8).lines().toList();
    assertThat(lines.getFirst()).endsWith(" WARN  ROOT: two | lines | of?[2J a tenant?");
    assertThat(lines).filteredOn(line -> line.contains("IllegalStateException: why")).hasSize(1);
  }

  /** A new version of a library may call its classes otherwise. */
  @Test
  void theLoggersThatAreToSayLessAreThere() throws Exception {
    List<String> names = new ArrayList<>();
    try (InputStream settings = Main.class.getResourceAsStream("logback.xml")) {
      NodeList loggers =
          DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(settings).getElementsByTagName("logger");
      for (int i = 0; i < loggers.getLength(); i++) {
        names.add(((Element) loggers.item(i)).getAttribute("name"));
      }
    }
    assertThat(names).isNotEmpty();
    for (String name : names) {
      assertThat(Class.forName(name)).isNotNull();
    }
  }
}
