package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class LogSettingsTest {
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
