package dev.partita.cli.doctor;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the user must be allowed to do for the other commands; what doctor itself cannot see, its own checks say. */
final class RightChecks {
  /** What the commands need, and which of them. */
  static final Map<Right, List<String>> NEEDED = needed();

  private static final String CHECK = "your rights";

  private RightChecks() {}

  private static Map<Right, List<String>> needed() {
    Map<Right, List<String>> needed = new LinkedHashMap<>();
    needed.put(Right.of("list", "gpu.partita.dev", "gpunodes"), List.of("top", "cordon"));
    needed.put(Right.of("patch", "gpu.partita.dev", "gpunodes"), List.of("cordon", "uncordon"));
    needed.put(Right.of("list", "resource.k8s.io", "resourceclaims"), List.of("top", "report -A"));
    needed.put(Right.inPartita("list", "", "pods"), List.of("explain", "logs"));
    needed.put(Right.inPartita("create", "", "pods/portforward"), List.of("explain"));
    needed.put(Right.inPartita("get", "", "pods/log"), List.of("logs"));
    return Collections.unmodifiableMap(needed);
  }

  static List<Finding> of(Reading<Map<Right, Boolean>> rights) {
    return rights.judged(CHECK, "", has -> {
      List<Finding> findings = new ArrayList<>();
      NEEDED.forEach((right, commands) -> {
        if (!has.getOrDefault(right, false)) {
          findings.add(missing(right, commands));
        }
      });
      return findings.isEmpty() ? List.of(Finding.ok(CHECK, "", "all that the commands need")) : findings;
    });
  }

  private static Finding missing(Right right, List<String> commands) {
    return Finding.warn(CHECK, "", "you may not " + right + ": needed by " + String.join(", ", commands),
        "ask for a role with that right" + (right.inPartita() ? " in Partita's namespace" : ""));
  }
}
