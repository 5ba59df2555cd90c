package dev.partita.cli.output;

import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;

/**
 * Draws small charts below each other as one SVG document: lines over a common horizontal axis, a colour for each name
 * in the legend. It refers to nothing outside of itself, and is legible on light and dark grounds: its colours follow
 * what whoever shows it prefers.
 */
public final class LineChart {
  private static final int WIDTH = 720;
  private static final int LEFT = 64;
  private static final int RIGHT = 16;
  private static final int HEIGHT = 110;
  private static final int TITLE = 30;
  private static final int AXIS = 22;
  private static final int LEGEND = 34;
  private static final int COLOURS = 6;

  /** Told apart by people who do not see colours as others do (Okabe and Ito), on light and on dark grounds. */
  private static final String STYLE =
      """
          <style>
            svg { font: 12px system-ui, sans-serif; color-scheme: light dark; }
            .ground { fill: #ffffff; } text { fill: #24292f; } .muted { fill: #57606a; } .grid { stroke: #d0d7de; }
            .line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
            .c0 { stroke: #0072b2; } .c1 { stroke: #d55e00; } .c2 { stroke: #008060; }
            .c3 { stroke: #a64d87; } .c4 { stroke: #8c6d00; } .c5 { stroke: #4d4d4d; }
            @media (prefers-color-scheme: dark) {
              .ground { fill: #0d1117; } text { fill: #e6edf3; } .muted { fill: #9198a1; } .grid { stroke: #30363d; }
              .c0 { stroke: #56b4e9; } .c1 { stroke: #ff9a4d; } .c2 { stroke: #2fc79a; }
              .c3 { stroke: #dd8fc2; } .c4 { stroke: #f0e442; } .c5 { stroke: #c0c0c0; }
            }
          </style>
          """;

  /** Values at equal distances along the axis. */
  public record Line(List<Double> values) {
    public Line {
      values = List.copyOf(values);
    }
  }

  /**
   * One chart.
   *
   * @param title stands above it
   * @param lines in the order of the legend's names
   * @param label how a value is written at its axis
   */
  public record Panel(String title, List<Line> lines, DoubleFunction<String> label) {
    public Panel {
      lines = List.copyOf(lines);
    }
  }

  private LineChart() {}

  /**
   * The document.
   *
   * @param names of the lines, for the legend
   * @param panels from the top
   * @param end what the axis ends at; it begins at 0
   * @param axis how a value of the axis is written
   */
  public static String svg(List<String> names, List<Panel> panels, double end, DoubleFunction<String> axis) {
    int each = TITLE + HEIGHT + AXIS;
    int height = LEGEND + panels.size() * each + 8;
    StringBuilder svg = new StringBuilder();
    svg.append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"%s\">\n"
            .formatted(WIDTH, height, WIDTH, height,
                escaped(String.join(", ", panels.stream().map(Panel::title).toList()))));
    svg.append(STYLE).append("<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
    legend(names, svg);
    for (int i = 0; i < panels.size(); i++) {
      panel(panels.get(i), LEGEND + i * each, end, axis, svg);
    }
    return svg.append("</svg>\n").toString();
  }

  private static void legend(List<String> names, StringBuilder svg) {
    int step = (WIDTH - LEFT - RIGHT) / Math.max(4, names.size());
    for (int i = 0; i < names.size(); i++) {
      int x = LEFT + i * step;
      svg.append("<path class=\"line c%d\" d=\"M%d 18h18\"/><text x=\"%d\" y=\"22\">%s</text>\n".formatted(i % COLOURS,
          x, x + 24, escaped(names.get(i))));
    }
  }

  private static void panel(
      Panel panel,
      int top,
      double end,
      DoubleFunction<String> axis,
      StringBuilder svg) {
    double most = ceiling(panel.lines().stream().flatMap(line -> line.values().stream()).mapToDouble(v -> v).max()
        .orElse(0));
    int y = top + TITLE;
    svg.append("<text x=\"%d\" y=\"%d\" font-weight=\"600\">%s</text>\n".formatted(LEFT, top + 18,
        escaped(panel.title())));
    for (int part = 0; part <= 2; part++) {
      int at = y + HEIGHT - HEIGHT * part / 2;
      svg.append("<path class=\"grid\" d=\"M%d %dH%d\"/>".formatted(LEFT, at, WIDTH - RIGHT));
      svg.append("<text class=\"muted\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n".formatted(LEFT - 8, at + 4,
          escaped(panel.label().apply(most * part / 2))));
    }
    for (int part = 0; part <= 4; part++) {
      int x = LEFT + (WIDTH - LEFT - RIGHT) * part / 4;
      String anchor = part == 4 ? "end" : part == 0 ? "start" : "middle";
      svg.append("<text class=\"muted\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s</text>\n".formatted(x, y + HEIGHT + 16,
          anchor, escaped(axis.apply(end * part / 4))));
    }
    for (int i = 0; i < panel.lines().size(); i++) {
      svg.append("<path class=\"line c%d\" d=\"%s\"/>\n".formatted(i % COLOURS,
          path(panel.lines().get(i).values(), y, most)));
    }
  }

  private static String path(List<Double> values, int top, double most) {
    StringBuilder path = new StringBuilder();
    for (int i = 0; i < values.size(); i++) {
      double x = LEFT + (WIDTH - LEFT - RIGHT) * (values.size() == 1 ? 0.5 : i / (values.size() - 1.0));
      double y = top + HEIGHT * (1 - values.get(i) / most);
      path.append(String.format(Locale.ROOT, "%s%.1f %.1f", i == 0 ? "M" : "L", x, y));
    }
    return path.toString();
  }

  /** The smallest of 1, 2 and 5 times a power of ten that is not below the value; 1 for 0. */
  static double ceiling(double value) {
    if (!(value > 0)) {
      return 1;
    }
    double power = Math.pow(10, Math.floor(Math.log10(value)));
    for (double step : new double[]{1, 2, 5, 10}) {
      if (value <= step * power * (1 + 1e-9)) {
        return step * power;
      }
    }
    return 10 * power;
  }

  private static String escaped(String text) {
    return text.replaceAll("\\p{Cntrl}", "?").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
