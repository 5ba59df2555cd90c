package dev.partita.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;

class ApiEdgeTest {
  @Test
  void knowsARefusalBecauseTheNamespaceIsBeingDeleted() {
    assertThat(ApiEdge.isNamespaceEnding(refusal("NamespaceTerminating"))).isTrue();
    assertThat(ApiEdge.isNamespaceEnding(refusal("Other"))).isFalse();
    assertThat(ApiEdge.isNamespaceEnding(new KubernetesClientException("no answer"))).isFalse();
    assertThat(ApiEdge.isNamespaceEnding(new IllegalStateException())).isFalse();
  }

  private static KubernetesClientException refusal(String cause) {
    Status status =
        new StatusBuilder().withCode(403).withNewDetails().addNewCause().withReason(cause).endCause().endDetails().build();
    return new KubernetesClientException("events is forbidden", 403, status);
  }
}
