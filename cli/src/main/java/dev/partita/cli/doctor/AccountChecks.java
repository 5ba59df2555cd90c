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
          new AccountRight(CONTROLLER, Right.of("patch", CLAIMS, "resourceclaims")),
          new AccountRight(CONTROLLER, Right.of("update", CLAIMS, "resourceclaims/status")),
          new AccountRight(CONTROLLER, Right.of("update", CLAIMS, "resourceclaims/binding")),
          new AccountRight(CONTROLLER, Right.of("create", CLAIMS, "resourceslices")),
          new AccountRight(CONTROLLER, Right.of("create", CLAIMS, "deviceclasses")),
          new AccountRight(CONTROLLER, Right.of("list", Driver.NAME, "gpunodes")),
          new AccountRight(CONTROLLER, Right.of("list", Driver.NAME, "gpuquotas")),
          new AccountRight(CONTROLLER, Right.of("patch", "", "pods")),
          new AccountRight(CONTROLLER, Right.of("create", "", "pods/eviction")),
          new AccountRight(CONTROLLER, Right.of("create", EVENTS, "events")),
          new AccountRight(CONTROLLER, Right.inPartita("patch", "coordination.k8s.io", "leases")),
          new AccountRight(PLUGIN, Right.of("get", CLAIMS, "resourceclaims")),
          new AccountRight(PLUGIN, Right.of("patch", CLAIMS, "resourceclaims/status")),
          new AccountRight(PLUGIN,
              new Right("associated-node:patch", CLAIMS, "resourceclaims/driver", Driver.NAME, false)),
          new AccountRight(PLUGIN, Right.of("watch", Driver.NAME, "gpunodes")),
          new AccountRight(PLUGIN, Right.of("update", Driver.NAME, "gpunodes/status")),
          new AccountRight(PLUGIN, Right.of("get", "", "pods")),
          new AccountRight(PLUGIN, Right.of("create", EVENTS, "events")));

  /** A right of a ServiceAccount in Partita's namespace. */
  record AccountRight(String account, Right right) {}

  private AccountChecks() {}

  /** @param has whether each of {@link #NEEDED} is had */
  static List<Finding> of(Reading<Map<AccountRight, Boolean>> has) {
    return has.judged(CHECK, "", known -> {
      Map<String, Set<String>> missing = new TreeMap<>();
      for (AccountRight right : NEEDED) {
        if (!known.getOrDefault(right, false)) {
          missing.computeIfAbsent(right.account(), _ -> new TreeSet<>()).add(right.right().toString());
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
