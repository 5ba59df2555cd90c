package dev.partita.cli.doctor;

import java.util.ArrayList;
import java.util.List;

/**
 * All findings of a snapshot.
 *
 * @param findings in the order of the checks, of nodes by name
 */
record Diagnosis(List<Finding> findings) {
  Diagnosis {
    findings = List.copyOf(findings);
  }

  /** Makes every check. */
  static Diagnosis of(Snapshot snapshot) {
    List<Finding> findings = new ArrayList<>();
    findings.addAll(ClusterChecks.of(snapshot.cluster()));
    findings.addAll(InstallationChecks.of(snapshot.installation(), snapshot.cluster().time()));
    findings.addAll(NodeChecks.of(snapshot.nodes(), snapshot.installation(), snapshot.cluster().time()));
    findings.addAll(RightChecks.of(snapshot.rights()));
    return new Diagnosis(findings);
  }

  /** How many there are of that verdict. */
  long count(Verdict verdict) {
    return findings.stream().filter(finding -> finding.verdict() == verdict).count();
  }
}
