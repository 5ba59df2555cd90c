package dev.partita.serving.access;

import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;

/** Asks the API server what a user may (SubjectAccessReview). */
public final class AccessReview {
  private final KubernetesClient client;

  public AccessReview(KubernetesClient client) {
    this.client = client;
  }

  /**
   * Whether the user may get a path that is no resource's, which a ClusterRole names among its nonResourceURLs.
   *
   * @throws KubernetesClientException if the API server does not say
   */
  public boolean mayGet(UserInfo user, String path) {
    return isAllowed(of(user).editSpec().withNewNonResourceAttributes().withPath(path).withVerb("get")
        .endNonResourceAttributes().endSpec().build());
  }

  /**
   * Whether the user may list a resource.
   *
   * @param group of the resource, empty for the core's
   * @param resource its plural
   * @param namespace empty for all of them, and for what has none
   * @throws KubernetesClientException if the API server does not say
   */
  public boolean mayList(UserInfo user, String group, String resource, String namespace) {
    return isAllowed(of(user).editSpec().withNewResourceAttributes().withGroup(group).withResource(resource)
        .withVerb("list").withNamespace(namespace).endResourceAttributes().endSpec().build());
  }

  private static SubjectAccessReviewBuilder of(UserInfo user) {
    return new SubjectAccessReviewBuilder().withNewMetadata().endMetadata().withNewSpec()
        .withUser(user.getUsername()).withUid(user.getUid()).withGroups(user.getGroups()).withExtra(user.getExtra())
        .endSpec();
  }

  private boolean isAllowed(SubjectAccessReview asked) {
    SubjectAccessReview answer = client.authorization().v1().subjectAccessReview().create(asked);
    return answer.getStatus() != null && Boolean.TRUE.equals(answer.getStatus().getAllowed());
  }
}
