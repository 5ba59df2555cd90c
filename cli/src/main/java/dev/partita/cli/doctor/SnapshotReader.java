package dev.partita.cli.doctor;

import dev.partita.api.Driver;
import dev.partita.api.node.GpuNode;
import dev.partita.cli.connection.ClusterAnswers;
import dev.partita.cli.doctor.AccountChecks.AccountRight;
import io.fabric8.kubernetes.api.model.APIResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewStatus;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Asks the API server for all that the checks look at. */
final class SnapshotReader {
  private static final String NAME_LABEL = "app.kubernetes.io/name";
  private static final String CONTROLLER = "partita-dra-controller";
  private static final String WEBHOOKS = "partita-webhook";
  private static final String KUBELET_LEASES = "kube-node-lease";

  /** Of <a href="https://kubernetes.io/docs/reference/instrumentation/metrics/">kubernetes_feature_enabled</a>. */
  private static final Pattern GATE =
      Pattern.compile("(?m)^kubernetes_feature_enabled\\{name=\"([A-Za-z0-9]{1,80})\"[^}\\n]{0,80}\\} ([01])");

  private final KubernetesClient client;
  private final String namespace;
  private final Clock clock;

  /** @param namespace of Partita's own pods */
  SnapshotReader(KubernetesClient client, String namespace, Clock clock) {
    this.client = client;
    this.namespace = namespace;
    this.clock = clock;
  }

  /**
   * Reads everything; what cannot be read is told in its place.
   *
   * @throws KubernetesClientException if no API server answers at all
   */
  Snapshot read() {
    String version = client.getKubernetesVersion().getGitVersion();
    Reading<Set<String>> resources = read("resource.k8s.io/v1", this::resources);
    Reading<Map<String, Boolean>> gates = read("metrics of the API server", () -> gates(client.raw("/metrics")));
    Snapshot.Nodes nodes = nodes();
    Snapshot.Installation installation = installation();
    // After all that bears times: what is renewed while it is read would seem to come from a clock that is ahead.
    // Soon after the leader's lease: the nodes of a large cluster take longer to list than it is valid.
    Reading<Instant> time = read("the API server's time", new ServerClock(client)::now);
    Instant here = clock.instant();
    Instant there = time instanceof Reading.Known<Instant>(Instant known) ? known : here;
    Reading<Duration> ahead = time instanceof Reading.Missing<Instant>(String why)
        ? new Reading.Failed<>(why) // a proxy may have taken it out of the answer
        : time.map(known -> Duration.between(known, here));
    Snapshot.Cluster cluster =
        new Snapshot.Cluster(new Reading.Known<>(String.valueOf(version)), resources, gates, there, ahead);
    return new Snapshot(cluster, installation, nodes, read("your rights", this::rights));
  }

  private Snapshot.Installation installation() {
    Reading<Map<AccountRight, Boolean>> accounts = read("rights of Partita's ServiceAccounts", this::accounts);
    return new Snapshot.Installation(
        namespace,
        read("Deployment " + CONTROLLER + " in namespace " + namespace,
            () -> client.apps().deployments().inNamespace(namespace).withName(CONTROLLER).get()),
        read("Lease " + CONTROLLER + " in namespace " + namespace,
            () -> client.resources(Lease.class).inNamespace(namespace).withName(CONTROLLER).get()),
        read("ValidatingWebhookConfiguration " + WEBHOOKS,
            () -> client.resources(ValidatingWebhookConfiguration.class).withName(WEBHOOKS).get()),
        read("MutatingWebhookConfiguration " + WEBHOOKS,
            () -> client.resources(MutatingWebhookConfiguration.class).withName(WEBHOOKS).get()),
        read("ValidatingAdmissionPolicies", this::policies),
        read("DeviceClasses", () -> names(client.resources(DeviceClass.class).list().getItems())),
        accounts);
  }

  private Snapshot.Nodes nodes() {
    return new Snapshot.Nodes(
        read("nodes", () -> client.resources(Node.class).list().getItems()),
        read("GpuNodes", () -> client.resources(GpuNode.class).list().getItems()),
        read("pods in namespace " + namespace, this::plugins),
        read("ResourceSlices", () -> client.resources(ResourceSlice.class).list().getItems().stream()
            .filter(slice -> Driver.NAME.equals(slice.getSpec().getDriver())).toList()),
        read("Leases in namespace " + KUBELET_LEASES,
            () -> client.resources(Lease.class).inNamespace(KUBELET_LEASES).list().getItems().stream()
                .collect(Collectors.toMap(lease -> lease.getMetadata().getName(), lease -> lease, (a, _) -> a))));
  }

  /** What it gave; nothing is missing. */
  private static <T> Reading<T> read(String what, Supplier<@Nullable T> ask) {
    try {
      @Nullable T value = ask.get();
      return value == null ? new Reading.Missing<>("there is no " + what) : new Reading.Known<>(value);
    } catch (KubernetesClientException e) {
      if (ClusterAnswers.isNotFound(e)) {
        return new Reading.Missing<>("the API server has no " + what);
      }
      String why = what + ": " + ClusterAnswers.reason(e);
      return ClusterAnswers.isForbidden(e) ? new Reading.Forbidden<>(why) : new Reading.Failed<>(why);
    }
  }

  private @Nullable Set<String> resources() {
    var served = client.getApiResources("resource.k8s.io/v1");
    return served == null
        ? null
        : served.getResources().stream().map(APIResource::getName).collect(Collectors.toSet());
  }

  /** Gates by name, from the text of metrics. */
  static Map<String, Boolean> gates(@Nullable String metrics) {
    Map<String, Boolean> gates = new HashMap<>();
    GATE.matcher(metrics == null ? "" : metrics).results()
        .forEach(line -> gates.put(line.group(1), "1".equals(line.group(2))));
    return gates;
  }

  /** Those that have a binding: without one they hold nobody to anything. */
  private Set<String> policies() {
    Set<String> bound =
        client.resources(ValidatingAdmissionPolicyBinding.class).list().getItems().stream()
            .map(binding -> binding.getSpec().getPolicyName()).collect(Collectors.toCollection(HashSet::new));
    bound.retainAll(names(client.resources(ValidatingAdmissionPolicy.class).list().getItems()));
    return bound;
  }

  private List<Pod> plugins() {
    return client.pods().inNamespace(namespace).withLabel(NAME_LABEL, "kubelet-plugin").list().getItems().stream()
        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null).toList();
  }

  private static Set<String> names(List<? extends HasMetadata> objects) {
    return objects.stream().map(object -> object.getMetadata().getName()).collect(Collectors.toSet());
  }

  private Map<AccountRight, Boolean> accounts() {
    Map<AccountRight, Boolean> rights = new HashMap<>();
    for (AccountRight held : AccountChecks.NEEDED) {
      SubjectAccessReview answer =
          client.authorization().v1().subjectAccessReview().create(
              new SubjectAccessReviewBuilder().withNewSpec()
                  .withUser("system:serviceaccount:" + namespace + ":" + held.account())
                  .withGroups("system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated")
                  .withResourceAttributes(held.right().attributes(namespace)).endSpec().build());
      rights.put(held, isAllowed(answer.getStatus()));
    }
    return rights;
  }

  private Map<Right, Boolean> rights() {
    Map<Right, Boolean> rights = new HashMap<>();
    for (Right right : RightChecks.NEEDED.keySet()) {
      SelfSubjectAccessReview answer =
          client.authorization().v1().selfSubjectAccessReview().create(
              new SelfSubjectAccessReviewBuilder().withNewSpec()
                  .withResourceAttributes(right.attributes(namespace)).endSpec().build());
      rights.put(right, isAllowed(answer.getStatus()));
    }
    return rights;
  }

  private static boolean isAllowed(@Nullable SubjectAccessReviewStatus status) {
    return status != null && Boolean.TRUE.equals(status.getAllowed());
  }
}
