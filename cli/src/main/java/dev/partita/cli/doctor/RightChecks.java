package dev.partita.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What the user must be allowed to do for the commands to work. */
final class RightChecks {
  /** What the commands need. */
  static final List<Right> NEEDED =
      List.of(
          new Right("list", "gpu.partita.dev", "gpunodes", false, "top, cordon, doctor"),
          new Right("patch", "gpu.partita.dev", "gpunodes", false, "cordon, uncordon"),
          new Right("list", "resource.k8s.io", "resourceclaims", false, "top, report -A"),
          new Right("list", "", "pods", true, "explain, logs, doctor"),
          new Right("create", "", "pods/portforward", true, "explain"),
          new Right("get", "", "pods/log", true, "logs"));

  private static final String CHECK = "your rights";

  private RightChecks() {}

  static List<Finding> of(Reading<Map<Right, Boolean>> rights) {
    return rights.judged(CHECK, "", has -> {
      List<Finding> findings = new ArrayList<>();
      for (Right right : NEEDED) {
        if (!has.getOrDefault(right, false)) {
          findings.add(Finding.warn(CHECK, "", "you may not " + right + ": needed by " + right.commands(),
              "ask for a role with that right" + (right.inPartita() ? " in Partita's namespace" : "")));
        }
      }
      return findings.isEmpty() ? List.of(Finding.ok(CHECK, "", "all that the commands need")) : findings;
    });
  }
}
