package dev.partita.plugin.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;

class ApiCallsTest {
  @Test
  void aRefusalInANamespaceThatIsBeingDeletedIsNoLackOfRights() {
    KubernetesClientException ending = refusal("NamespaceTerminating");
    assertThat(ApiCalls.isForbidden(ending)).isTrue();
    assertThat(ApiCalls.isNamespaceEnding(ending)).isTrue();
    assertThat(ApiCalls.isNamespaceEnding(refusal("Other"))).isFalse();
    assertThat(ApiCalls.isNamespaceEnding(new KubernetesClientException("no answer"))).isFalse();
  }

  private static KubernetesClientException refusal(String cause) {
    Status status =
        new StatusBuilder().withCode(403).withNewDetails().addNewCause().withReason(cause).endCause().endDetails()
            .build();
    return new KubernetesClientException("events is forbidden", 403, status);
  }
}
