package dev.partita.cli.rightsizing;

import dev.partita.api.Bytes;
import dev.partita.cli.output.Cell;
import dev.partita.cli.output.Column;
import dev.partita.cli.output.Sheet;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** A report as people and as programs read it. */
final class ReportText {
  private static final int USERS_SHOWN = 2;

  private ReportText() {}

  /** A row a share that holds too much. */
  static Sheet sheet(RightSizing report) {
    Sheet sheet =
        new Sheet(
            Column.of("namespace", "NAMESPACE"), Column.of("name", "NAME"), Column.of("model", "MODEL"),
            Column.of("memory", "MEMORY"), Column.of("peak", "PEAK"), Column.of("proposed", "PROPOSED"),
            Column.of("gain", "GAIN"), Column.of("ageSeconds", "AGE"), Column.of("users", "USERS"),
            Column.wide("node", "NODE"), Column.wide("gpu", "GPU"));
    for (RightSizing.Oversized share : report.oversized()) {
      sheet.row(
          Cell.text(share.device().namespace()),
          Cell.text(share.device().claim()),
          Cell.text(share.model()),
          Cell.memory(share.device().booking().memory()),
          Cell.memory(share.peak()),
          Cell.memory(share.proposed()),
          Cell.memory(share.gain()),
          new Cell.Age(share.age()),
          new Cell.Words(share.device().users(), USERS_SHOWN),
          Cell.text(share.device().booking().card().node()),
          Cell.text("gpu-" + share.device().booking().card().index()));
    }
    return sheet;
  }

  /** What JSON and YAML are made of. */
  static Map<String, Object> document(RightSizing report, Sheet sheet) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("items", sheet.items());
    document.put("gainByModel", report.gains());
    document.put("shares", report.shares());
    document.put("tooYoung", report.young());
    document.put("notMeasured", report.unmeasured());
    return document;
  }

  /** A table, and one line on what would be gained. */
  static String table(RightSizing report, Sheet sheet, Duration minAge, boolean wide) {
    StringBuilder text = new StringBuilder();
    if (!sheet.isEmpty()) {
      text.append(sheet.table(wide)).append('\n');
    }
    text.append(report.oversized().size()).append(" of ").append(report.shares())
        .append(" shares hold far more than they ever used");
    if (!report.oversized().isEmpty()) {
      text.append("; the fleet would gain ").append(report.gains().entrySet().stream()
          .map(gain -> Bytes.words(gain.getValue()) + " of " + gain.getKey()).collect(Collectors.joining(", ")));
    }
    text.append('\n');
    if (report.young() > 0) {
      text.append(report.young()).append(" are younger than ").append(new Cell.Age(minAge).text()).append(".\n");
    }
    if (report.unmeasured() > 0) {
      text.append(report.unmeasured()).append(" have no figures: nothing runs in them, or their node does not tell.\n");
    }
    return text.toString();
  }
}
