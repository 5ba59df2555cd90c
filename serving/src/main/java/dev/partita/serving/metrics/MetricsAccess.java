package dev.partita.serving.metrics;

import dev.partita.serving.access.AccessReview;
import dev.partita.serving.access.TokenAccess;
import dev.partita.serving.access.Verdict;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.InstantSource;
import java.util.Optional;

/** Decides who may read the metrics. */
interface MetricsAccess {
  /** Everybody who reaches the port may. */
  MetricsAccess EVERYBODY = token -> new Verdict.Allowed<>("everybody");

  /**
   * Decides about one request.
   *
   * @param token what the request carries as bearer token; empty if it carries none
   */
  Verdict<String> of(Optional<String> token);

  /**
   * Lets those read the metrics whom the cluster's RBAC allows {@code get} of the path, as kube-rbac-proxy does.
   *
   * @param path of the metrics, which a ClusterRole names among its nonResourceURLs
   */
  static MetricsAccess byToken(KubernetesClient client, String path, InstantSource clock) {
    AccessReview review = new AccessReview(client);
    return new TokenAccess<>(client, path, user -> review.mayGet(user, path)
        ? new Verdict.Allowed<>(user.getUsername())
        : new Verdict.Forbidden<String>(user.getUsername() + " may not get " + path
            + "; a ClusterRole with this among its nonResourceURLs lets it"),
        clock)::of;
  }
}
