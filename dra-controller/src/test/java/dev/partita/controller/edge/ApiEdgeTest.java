package dev.partita.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
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
    assertThat(edge.write(WriteKind.ALLOCATION, () -> "written")).isEqualTo("written");
  }

  @Test
  void evictionsThatKeepFailingDoNotKeepAllocationsFromBeingWritten() {
    ApiEdge edge = new ApiEdge(() -> true);
    assertThat(afterMany500(edge.isolated("evictions"))).as("they pause").isInstanceOf(CallNotPermittedException.class);
    assertThat(edge.write(WriteKind.ALLOCATION, () -> "written")).isEqualTo("written");
  }

  @Test
  void writesToANamespaceThatKeepFailingDoNotKeepThoseToOthersFromBeingMade() {
    ApiEdge edge = new ApiEdge(() -> true);
    assertThat(afterMany500(edge.in("a"))).as("they pause").isInstanceOf(CallNotPermittedException.class);
    assertThat(catchThrowable(() -> edge.in("a").read(() -> "read"))).as("whoever asks for that namespace again")
        .isInstanceOf(CallNotPermittedException.class);
    assertThat(edge.in("b").write(WriteKind.ALLOCATION, () -> "written")).isEqualTo("written");
    assertThat(edge.in(null).write(WriteKind.SLICE, () -> "written")).isEqualTo("written");
    assertThat(edge.isolated("gates").in("a").write(WriteKind.GATE, () -> "written")).as("of another kind")
        .isEqualTo("written");
  }

  /** Tenants make namespaces. */
  @Test
  void ofTenThousandNamespacesTheLastThousandAreRemembered() {
    ApiEdge edge = new ApiEdge(() -> true);
    assertThat(afterMany500(edge.in("first"))).isInstanceOf(CallNotPermittedException.class);
    for (int i = 0; i < 10_000; i++) {
      assertThat(edge.in("n-" + i).read(() -> "read")).isEqualTo("read");
      if (i == 500) {
        assertThat(catchThrowable(() -> edge.in("first").read(() -> "read")))
            .isInstanceOf(CallNotPermittedException.class);
      }
    }
    assertThat(edge.in("first").read(() -> "read")).isEqualTo("read");
  }

  @Test
  void howEveryWriteEndedIsTold() {
    List<WriteOutcome> told = new ArrayList<>();
    AtomicBoolean leads = new AtomicBoolean(true);
    ApiEdge edge = new ApiEdge(leads::get, (write, outcome) -> {
      assertThat(write).isEqualTo(WriteKind.EVICTION);
      told.add(outcome);
    });
    edge.write(WriteKind.EVICTION, () -> true, done -> done);
    edge.write(WriteKind.EVICTION, () -> false, done -> done);
    for (int code : new int[]{409, 404, 422, 403}) {
      assertThat(catchThrowable(() -> edge.write(WriteKind.EVICTION, () -> {
        throw new KubernetesClientException("no", code, null);
      }))).isInstanceOf(KubernetesClientException.class);
    }
    leads.set(false);
    assertThat(catchThrowable(() -> edge.write(WriteKind.EVICTION, () -> true)))
        .isInstanceOf(ApiEdge.NotLeadingException.class);
    assertThat(told).containsExactly(WriteOutcome.DONE, WriteOutcome.REFUSED, WriteOutcome.CONFLICT,
        WriteOutcome.NOT_FOUND, WriteOutcome.INVALID, WriteOutcome.REFUSED, WriteOutcome.NOT_SENT);
    leads.set(true);
    afterMany500(edge.isolated("evictions"), WriteKind.EVICTION);
    assertThat(told).endsWith(WriteOutcome.FAILED, WriteOutcome.NOT_SENT);
  }

  private static @Nullable Throwable afterMany500(ApiEdge edge) {
    return afterMany500(edge, WriteKind.EVENT);
  }

  private static @Nullable Throwable afterMany500(ApiEdge edge, WriteKind write) {
    Throwable last = null;
    for (int i = 0; i < 10 && !(last instanceof CallNotPermittedException); i++) {
      last =
          catchThrowable(
              () -> edge.write(write,
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
