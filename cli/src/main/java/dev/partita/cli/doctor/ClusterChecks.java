package dev.partita.cli.doctor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** What Kubernetes itself must have. */
final class ClusterChecks {
  /** Gates that are on by default and that Partita needs, from Kubernetes 1.36. */
  static final Set<String> NEEDED_GATES =
      Set.of("DRAConsumableCapacity", "DRADeviceTaints", "DRAResourceClaimDeviceStatus");

  private static final Set<String> NEEDED_RESOURCES =
      Set.of("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices");
  private static final Duration MOST_SKEW = Duration.ofSeconds(5);
  private static final String VERSION = "Kubernetes version";
  private static final String DRA = "DRA API";
  private static final String GATES = "feature gates";
  private static final String CLOCK = "clock of this machine";

  private ClusterChecks() {}

  static List<Finding> of(Snapshot.Cluster cluster) {
    List<Finding> findings = new ArrayList<>();
    findings.addAll(cluster.version().judged(VERSION, "look at the API server", version -> List.of(version(version))));
    findings.addAll(cluster.resources().judged(DRA,
        "use Kubernetes " + ServerVersion.KUBERNETES + " or newer, and do not switch resource.k8s.io/v1 off"
            + " (--runtime-config of the API server)",
        served -> List.of(dra(served))));
    findings.addAll(cluster.gates().judged(GATES, "look at the API server's /metrics", known -> List.of(gates(known))));
    findings.addAll(cluster.skew().judged(CLOCK, "look at the API server", skew -> List.of(skew(skew))));
    return findings;
  }

  private static Finding version(String text) {
    Optional<ServerVersion> version = ServerVersion.parse(text);
    if (version.isEmpty()) {
      return Finding.warn(VERSION, "", "cannot be read: " + text, "see that it is " + ServerVersion.KUBERNETES
          + " or newer");
    }
    return version.get().compareTo(ServerVersion.KUBERNETES) >= 0
        ? Finding.ok(VERSION, "", text)
        : Finding.fail(VERSION, "", text + " is too old", "upgrade to " + ServerVersion.KUBERNETES + " or newer");
  }

  private static Finding dra(Set<String> served) {
    Set<String> missing = new TreeSet<>(NEEDED_RESOURCES);
    missing.removeAll(served);
    return missing.isEmpty()
        ? Finding.ok(DRA, "", "resource.k8s.io/v1 is served")
        : Finding.fail(DRA, "", "resource.k8s.io/v1 has no " + String.join(", ", missing),
            "switch the feature gate DynamicResourceAllocation on for all of Kubernetes");
  }

  /** A gate that the API server does not name is of another version. */
  private static Finding gates(Map<String, Boolean> known) {
    Set<String> off = new TreeSet<>(NEEDED_GATES);
    off.removeIf(gate -> known.getOrDefault(gate, true));
    return off.isEmpty()
        ? Finding.ok(GATES, "", "those that Partita needs are on")
        : Finding.fail(GATES, "", "off: " + String.join(", ", off),
            "switch them on (--feature-gates) for the API server, kube-scheduler, kube-controller-manager and"
                + " kubelets");
  }

  private static Finding skew(Duration skew) {
    return skew.abs().compareTo(MOST_SKEW) <= 0
        ? Finding.ok(CLOCK, "", "within " + MOST_SKEW.toSeconds() + " s of the API server's")
        : Finding.warn(CLOCK, "",
            skew.abs().toSeconds() + " s " + (skew.isNegative() ? "behind" : "ahead of") + " the API server's",
            "synchronize the clocks (NTP): ages and certificates are judged by them");
  }
}
