package dev.partita.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What the user must be allowed to do for the commands to work. */
final class RightChecks {
  private static final String DOCTOR = "doctor";

  /** What the commands need. */
  static final List<Right> NEEDED =
      List.of(
          new Right("list", "gpu.partita.dev", "gpunodes", false, List.of("top", "cordon", DOCTOR)),
          new Right("patch", "gpu.partita.dev", "gpunodes", false, List.of("cordon", "uncordon")),
          new Right("list", "resource.k8s.io", "resourceclaims", false, List.of("top", "report -A")),
          new Right("list", "", "pods", true, List.of("explain", "logs", DOCTOR)),
          new Right("create", "", "pods/portforward", true, List.of("explain")),
          new Right("get", "", "pods/log", true, List.of("logs")));

  private static final String CHECK = "your rights";

  private RightChecks() {}

  static List<Finding> of(Reading<Map<Right, Boolean>> rights) {
    return rights.judged(CHECK, "", has -> {
      List<Finding> findings = new ArrayList<>();
      for (Right right : NEEDED) {
        if (!has.getOrDefault(right, false)) {
          findings.add(missing(right));
        }
      }
      return findings.isEmpty() ? List.of(Finding.ok(CHECK, "", "all that the commands need")) : findings;
    });
  }

  /** Whoever cannot see the nodes' cards and plugins must not take them for well. */
  private static Finding missing(Right right) {
    return new Finding(right.commands().contains(DOCTOR) ? Verdict.FAIL : Verdict.WARN, CHECK, "",
        "you may not " + right + ": needed by " + String.join(", ", right.commands()),
        "ask for a role with that right" + (right.inPartita() ? " in Partita's namespace" : ""));
  }
}
