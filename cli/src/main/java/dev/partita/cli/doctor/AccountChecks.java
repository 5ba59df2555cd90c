package dev.partita.cli.doctor;

import dev.partita.api.Driver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What Partita's own ServiceAccounts must be allowed to do: the chart's roles and their bindings give it. */
final class AccountChecks {
  private static final String CONTROLLER = "partita-dra-controller";
  private static final String PLUGIN = "partita-kubelet-plugin";
  private static final String CHECK = "rights of Partita";
  private static final String CLAIMS = "resource.k8s.io";
  private static final String EVENTS = "events.k8s.io";

  /** One right of each kind that allocation, preparation and what is said of both cannot do without. */
  static final List<AccountRight> NEEDED =
      List.of(
          new AccountRight(CONTROLLER, "patch", CLAIMS, "resourceclaims", "", false),
          new AccountRight(CONTROLLER, "update", CLAIMS, "resourceclaims/status", "", false),
          new AccountRight(CONTROLLER, "update", CLAIMS, "resourceclaims/binding", "", false),
          new AccountRight(CONTROLLER, "create", CLAIMS, "resourceslices", "", false),
          new AccountRight(CONTROLLER, "create", CLAIMS, "deviceclasses", "", false),
          new AccountRight(CONTROLLER, "list", Driver.NAME, "gpunodes", "", false),
          new AccountRight(CONTROLLER, "list", Driver.NAME, "gpuquotas", "", false),
          new AccountRight(CONTROLLER, "patch", "", "pods", "", false),
          new AccountRight(CONTROLLER, "create", "", "pods/eviction", "", false),
          new AccountRight(CONTROLLER, "create", EVENTS, "events", "", false),
          new AccountRight(CONTROLLER, "patch", "coordination.k8s.io", "leases", "", true),
          new AccountRight(PLUGIN, "get", CLAIMS, "resourceclaims", "", false),
          new AccountRight(PLUGIN, "patch", CLAIMS, "resourceclaims/status", "", false),
          new AccountRight(PLUGIN, "associated-node:patch", CLAIMS, "resourceclaims/driver", Driver.NAME, false),
          new AccountRight(PLUGIN, "watch", Driver.NAME, "gpunodes", "", false),
          new AccountRight(PLUGIN, "update", Driver.NAME, "gpunodes/status", "", false),
          new AccountRight(PLUGIN, "get", "", "pods", "", false),
          new AccountRight(PLUGIN, "create", EVENTS, "events", "", false));

  /**
   * A right of a ServiceAccount in Partita's namespace.
   *
   * @param group API group; empty for the core one
   * @param resource with its subresource
   * @param name of the only object that it is for; empty for all
   * @param inPartita whether it is for Partita's namespace only
   */
  record AccountRight(
      String account,
      String verb,
      String group,
      String resource,
      String name,
      boolean inPartita) {
    @Override
    public String toString() {
      return verb + " " + resource + (group.isEmpty() ? "" : "." + group);
    }
  }

  private AccountChecks() {}

  /** @param has whether each of {@link #NEEDED} is had */
  static List<Finding> of(Reading<Map<AccountRight, Boolean>> has) {
    return has.judged(CHECK, "", known -> {
      Map<String, Set<String>> missing = new TreeMap<>();
      for (AccountRight right : NEEDED) {
        if (!known.getOrDefault(right, false)) {
          missing.computeIfAbsent(right.account(), _ -> new TreeSet<>()).add(right.toString());
        }
      }
      List<Finding> findings = new ArrayList<>();
      missing.forEach((account, rights) -> findings.add(
          Finding.fail(CHECK, "", "ServiceAccount " + account + " may not " + String.join(", ", rights),
              "install the chart again (helm upgrade): ClusterRole or ClusterRoleBinding " + account
                  + " is missing, or was changed")));
      return findings.isEmpty() ? List.of(Finding.ok(CHECK, "", "controller and plugins have theirs")) : findings;
    });
  }
}
