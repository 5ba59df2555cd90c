package dev.partita.cli.doctor;

import dev.partita.cli.output.Printable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A diagnosis as people and as programs read it. */
final class DiagnosisText {
  private DiagnosisText() {}

  /** What JSON and YAML are made of. */
  static Map<String, Object> document(Diagnosis diagnosis) {
    List<Map<String, String>> items = new ArrayList<>();
    for (Finding finding : diagnosis.findings()) {
      Map<String, String> item = new LinkedHashMap<>();
      item.put("status", finding.verdict().toString());
      item.put("check", finding.check());
      if (!finding.subject().isEmpty()) {
        item.put("subject", finding.subject());
      }
      item.put("message", finding.message());
      if (!finding.mend().isEmpty()) {
        item.put("mend", finding.mend());
      }
      items.add(item);
    }
    return Map.of("items", items);
  }

  /**
   * A line a finding, and below each that is not well the mend. Nodes that are well are one line a check, unless all
   * are asked for.
   */
  static String of(Diagnosis diagnosis, boolean all) {
    StringBuilder text = new StringBuilder();
    Map<String, List<Finding>> byCheck =
        diagnosis.findings().stream().collect(Collectors.groupingBy(Finding::check, LinkedHashMap::new,
            Collectors.toList()));
    byCheck.forEach((check, findings) -> {
      List<Finding> well =
          findings.stream().filter(finding -> finding.verdict() == Verdict.OK && !finding.subject().isEmpty()).toList();
      if (!all && well.size() > 1) {
        line(Finding.ok(check, "", onHowMany(well)), text);
        findings.stream().filter(finding -> !well.contains(finding)).forEach(finding -> line(finding, text));
      } else {
        findings.forEach(finding -> line(finding, text));
      }
    });
    text.append('\n').append(diagnosis.count(Verdict.FAIL)).append(" failed, ")
        .append(diagnosis.count(Verdict.WARN)).append(" to look at, ").append(diagnosis.count(Verdict.OK))
        .append(" ok\n");
    return text.toString();
  }

  /** {@code 3 nodes (2x v1.36.2, 1x v1.36.1)}, most frequent first. */
  private static String onHowMany(List<Finding> well) {
    Map<String, Long> messages =
        well.stream().collect(Collectors.groupingBy(Finding::message, TreeMap::new, Collectors.counting()));
    String first = messages.entrySet().stream()
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed()).limit(3)
        .map(entry -> messages.size() == 1 ? entry.getKey() : entry.getValue() + "x " + entry.getKey())
        .collect(Collectors.joining(", "));
    return well.size() + " nodes: " + first + (messages.size() > 3 ? ", …" : "");
  }

  private static void line(Finding finding, StringBuilder text) {
    String verdict = finding.verdict().toString();
    text.append(verdict).append(" ".repeat(6 - verdict.length())).append(finding.check())
        .append(finding.subject().isEmpty() ? "" : " (" + Printable.text(finding.subject()) + ")")
        .append(": ").append(Printable.text(finding.message())).append('\n');
    if (!finding.mend().isEmpty()) {
      text.append("      mend: ").append(Printable.text(finding.mend())).append('\n');
    }
  }
}
