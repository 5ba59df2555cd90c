package dev.partita.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.output.LineChart.Line;
import dev.partita.cli.output.LineChart.Panel;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

class LineChartTest {
  private static final String SVG =
      LineChart.svg(List.of("one <&> \"two\"", "b"),
          List.of(
              new Panel("Used, %", List.of(new Line(List.of(0.0, 50.0, 100.0)), new Line(List.of(25.0, 25.0, 25.0))),
                  value -> Math.round(value) + " %"),
              new Panel("Waiting", List.of(new Line(List.of(0.0)), new Line(List.of(0.0))), String::valueOf)),
          120, seconds -> Math.round(seconds) + " s");

  private static Document parsed() throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
    return factory.newDocumentBuilder().parse(new ByteArrayInputStream(SVG.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void everyLineHasItsNamesColourInEveryPanel() throws Exception {
    var paths = parsed().getElementsByTagName("path");
    long first = 0;
    long second = 0;
    for (int i = 0; i < paths.getLength(); i++) {
      String kind = ((Element) paths.item(i)).getAttribute("class");
      first += kind.equals("line c0") ? 1 : 0;
      second += kind.equals("line c1") ? 1 : 0;
    }
    assertThat(List.of(first, second)).as("legend and two panels").containsExactly(3L, 3L);
    assertThat(parsed().getDocumentElement().getTextContent()).contains("one <&> \"two\"", "Used, %", "100 %", "60 s");
  }

  @Test
  void aLineGoesFromTheLeftToTheRightAndUpwards() {
    assertThat(SVG).contains("d=\"M64.0 174.0L384.0 119.0L704.0 64.0\"")
        .contains("d=\"M64.0 146.5L384.0 146.5L704.0 146.5\"");
  }

  @Test
  void nothingOutsideIsReferredTo() {
    assertThat(SVG.replace("http://www.w3.org/2000/svg", "")).doesNotContain("http", "url(", "href", "import",
        "script");
    assertThat(SVG).contains("prefers-color-scheme: dark");
  }

  @Test
  void anAxisEndsAtARoundNumber() {
    assertThat(List.of(LineChart.ceiling(0), LineChart.ceiling(0.03), LineChart.ceiling(1), LineChart.ceiling(61),
        LineChart.ceiling(2001))).containsExactly(1.0, 0.05, 1.0, 100.0, 5000.0);
  }
}
