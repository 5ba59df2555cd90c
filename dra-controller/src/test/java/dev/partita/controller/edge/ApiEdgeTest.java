package dev.partita.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ApiEdgeTest {
  @Test
  void knowsARefusalBecauseTheNamespaceIsBeingDeleted() {
    assertThat(ApiEdge.isNamespaceEnding(refusal("NamespaceTerminating"))).isTrue();
    assertThat(ApiEdge.isNamespaceEnding(refusal("Other"))).isFalse();
    assertThat(ApiEdge.isNamespaceEnding(new KubernetesClientException("no answer"))).isFalse();
    assertThat(ApiEdge.isNamespaceEnding(new IllegalStateException())).isFalse();
  }

  @Test
  void notesThatKeepFailingDoNotKeepAllocationsFromBeingWritten() {
    ApiEdge edge = new ApiEdge(() -> true);
    assertThat(afterMany500(edge.background())).as("they pause").isInstanceOf(CallNotPermittedException.class);
    assertThat(edge.call(() -> "written")).isEqualTo("written");
  }

  @Test
  void evictionsThatKeepFailingDoNotKeepAllocationsFromBeingWritten() {
    ApiEdge edge = new ApiEdge(() -> true);
    assertThat(afterMany500(edge.isolated("evictions"))).as("they pause").isInstanceOf(CallNotPermittedException.class);
    assertThat(edge.call(() -> "written")).isEqualTo("written");
  }

  private static @Nullable Throwable afterMany500(ApiEdge edge) {
    Throwable last = null;
    for (int i = 0; i < 10 && !(last instanceof CallNotPermittedException); i++) {
      last =
          catchThrowable(
              () -> edge.call(
                  () -> {
                    throw new KubernetesClientException("failed calling webhook", 500, null);
                  }));
    }
    return last;
  }

  private static KubernetesClientException refusal(String cause) {
    Status status =
        new StatusBuilder().withCode(403).withNewDetails().addNewCause().withReason(cause).endCause().endDetails()
            .build();
    return new KubernetesClientException("events is forbidden", 403, status);
  }
}
