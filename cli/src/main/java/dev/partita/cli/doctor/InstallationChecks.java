package dev.partita.cli.doctor;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatus;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What of Partita must be there. */
final class InstallationChecks {
  /** The chart's policies that hold whatever its values say; a test holds them to the chart. */
  static final Set<String> POLICIES =
      Set.of(
          "partita-proposals", "partita-granted-sizes", "partita-delete-protection", "partita-tolerations",

          "partita-allocations",
          "partita-own-gate", "partita-own-condition", "partita-own-templates", "partita-own-slices",
          "partita-own-classes", "partita-own-proposals", "partita-own-allocations", "partita-own-node-condition",
          "partita-own-events", "partita-own-gpunode");

  private static final String CONTROLLER = "controller";
  private static final String LEADER = "controller that leads";
  private static final String WEBHOOKS = "webhooks";
  private static final String POLICIES_CHECK = "policies";
  private static final String CLASSES = "DeviceClasses";
  private static final Duration SOON = Duration.ofDays(7);
  private static final Duration GRACE = Duration.ofSeconds(5);

  private InstallationChecks() {}

  static List<Finding> of(Snapshot.Installation partita, Instant now) {
    List<Finding> findings = new ArrayList<>();
    String install =
        "install the chart (helm install partita … -n " + partita.namespace()
            + "), or name its namespace with --partita-namespace";
    findings.addAll(partita.controller().judged(CONTROLLER, install, it -> List.of(controller(it))));
    findings.addAll(partita.lease().judged(LEADER,
        "see whether a controller runs: " + logs(partita.namespace()),
        lease -> List.of(leader(lease, now, partita.namespace()))));
    findings.addAll(webhooks(partita, now));
    findings.addAll(partita.policies().judged(POLICIES_CHECK, install, it -> List.of(policies(it))));
    findings.addAll(AccountChecks.of(partita.accounts()));
    findings.addAll(partita.classes().judged(CLASSES, install, it -> List.of(classes(it))));
    return findings;
  }

  private static Finding controller(Deployment controller) {
    int wanted = Objects.requireNonNullElse(controller.getSpec().getReplicas(), 1);
    int ready =
        Optional.ofNullable(controller.getStatus()).map(DeploymentStatus::getReadyReplicas).orElse(0);
    String seen = ready + " of " + wanted + " are ready";
    String mend =
        "kubectl describe pods -n " + controller.getMetadata().getNamespace()
            + " -l app.kubernetes.io/name=dra-controller";
    if (ready == 0) {
      return Finding.fail(CONTROLLER, "", seen, mend);
    }
    return ready < wanted ? Finding.warn(CONTROLLER, "", seen, mend) : Finding.ok(CONTROLLER, "", seen);
  }

  /** Of all controllers: kubectl logs of a Deployment reads one pod, and another one may lead. */
  private static String logs(String namespace) {
    return "kubectl logs -n " + namespace + " -l app.kubernetes.io/name=dra-controller --prefix --tail=-1";
  }

  private static Finding leader(Lease lease, Instant now, String namespace) {
    String mend = logs(namespace);
    @Nullable String holder = lease.getSpec() == null ? null : lease.getSpec().getHolderIdentity();
    if (holder == null || holder.isEmpty() || lease.getSpec().getRenewTime() == null) {
      return Finding.fail(LEADER, "", "none leads: nothing is allocated", mend);
    }
    Duration age = Duration.between(lease.getSpec().getRenewTime().toInstant(), now);
    int seconds = Objects.requireNonNullElse(lease.getSpec().getLeaseDurationSeconds(), 15);
    return age.minus(GRACE).compareTo(Duration.ofSeconds(seconds)) > 0
        ? Finding.fail(LEADER, "", holder + " has not renewed its lease for " + age.toSeconds() + " s", mend)
        : Finding.ok(LEADER, "", holder);
  }

  private static List<Finding> webhooks(Snapshot.Installation partita, Instant now) {
    if (partita.webhooks() instanceof Reading.Missing) {
      return List.of(Finding.warn(WEBHOOKS, "",
          "there are none: what is wrong in claims is refused late, and pods that ask"
              + " in other systems' ways are not converted",
          "set webhook.enabled=true in the chart, unless this is meant"));
    }
    SortedMap<String, String> bundles = new TreeMap<>();
    if (partita.mutating() instanceof Reading.Known<MutatingWebhookConfiguration>(MutatingWebhookConfiguration it)) {
      it.getWebhooks().forEach(each -> bundles.put(each.getName(), bundle(each.getClientConfig())));
    }
    List<Finding> findings = new ArrayList<>(partita.webhooks().judged(WEBHOOKS, "", it -> {
      it.getWebhooks().forEach(each -> bundles.put(each.getName(), bundle(each.getClientConfig())));
      return List.of(webhooks(bundles, now));
    }));
    if (partita.mutating() instanceof Reading.Missing) {
      findings.add(Finding.warn(WEBHOOKS, "",
          "none changes pods: those that ask in other systems' ways are not converted",
          "set webhook.pods.enabled=true in the chart, unless this is meant"));
    } else if (partita.webhooks() instanceof Reading.Known) {
      findings.addAll(partita.mutating().judged(WEBHOOKS, "", _ -> List.of()));
    }
    return findings;
  }

  private static String bundle(@Nullable WebhookClientConfig config) {
    return config == null || config.getCaBundle() == null ? "" : config.getCaBundle();
  }

  /** @param bundles what each webhook's certificate is trusted by */
  private static Finding webhooks(SortedMap<String, String> bundles, Instant now) {
    String mend =
        "the controller that leads writes the certificate, or cert-manager does (webhook.certManager.enabled): look at"
            + " its log";
    Set<String> without = new TreeSet<>();
    Set<Instant> ends = new TreeSet<>();
    bundles.forEach((name, bundle) -> certificateEnd(bundle).ifPresentOrElse(ends::add, () -> without.add(name)));
    Optional<Instant> end = ends.stream().findFirst();
    if (!without.isEmpty() || end.isEmpty()) {
      return Finding.fail(WEBHOOKS, "", "no certificate is trusted for " + String.join(", ", without), mend);
    }
    if (end.get().isBefore(now)) {
      return Finding.fail(WEBHOOKS, "", "the certificate ended at " + end.get(), mend);
    }
    return end.get().isBefore(now.plus(SOON))
        ? Finding.warn(WEBHOOKS, "", "the certificate ends at " + end.get() + " and was not renewed", mend)
        : Finding.ok(WEBHOOKS, "", "their certificate ends at " + end.get());
  }

  /** When the last certificate of a bundle ends: an old one stays in it for a while after a renewal. */
  private static Optional<Instant> certificateEnd(String bundle) {
    if (bundle.isEmpty()) {
      return Optional.empty();
    }
    try {
      byte[] pem = Base64.getDecoder().decode(bundle.getBytes(StandardCharsets.US_ASCII));
      Collection<? extends Certificate> certificates =
          CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem));
      return certificates.stream().map(it -> ((X509Certificate) it).getNotAfter().toInstant())
          .max(Comparator.naturalOrder());
    } catch (CertificateException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static Finding policies(Set<String> there) {
    Set<String> missing = new TreeSet<>(POLICIES);
    missing.removeAll(there);
    return missing.isEmpty()
        ? Finding.ok(POLICIES_CHECK, "", "all " + POLICIES.size() + " are bound")
        : Finding.fail(POLICIES_CHECK, "", "missing, or without a binding: " + String.join(", ", missing),
            "install the chart again (helm upgrade): without them nothing holds tenants and nodes to their own");
  }

  private static Finding classes(Set<String> there) {
    Set<String> missing = new TreeSet<>(Set.of(Driver.SHARE_CLASS, Driver.WHOLE_CLASS));
    missing.removeAll(there);
    return missing.isEmpty()
        ? Finding.ok(CLASSES, "", there.stream().filter(name -> name.endsWith(Driver.NAME)).count() + " of Partita")
        : Finding.fail(CLASSES, "", "missing: " + String.join(", ", missing),
            "the controller that leads makes them: look at its log");
  }
}
