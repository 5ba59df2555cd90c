package dev.partita.controller.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class OptionalKindTest {
  private final OptionalKind kind = OptionalKind.ofKubernetes("things.example.com", "1.37", "nothing happens");
  private final CompletableFuture<Void> listed = new CompletableFuture<>();
  private final CompletableFuture<?> started = kind.started(listed);

  @Test
  void theStartDoesNotWaitForAKindThatTheServerDoesNotServe() {
    assertThat(kind.markIfMissing(new KubernetesClientException("no", 503, null))).isFalse();
    assertThat(started).isNotDone();
    assertThat(kind.markIfMissing(new IllegalStateException(new KubernetesClientException("no", 404, null)))).isTrue();
    assertThat(started).isCompleted();
    assertThat(kind.isMissing(false)).isTrue();
  }

  @Test
  void aKindThatIsServedLaterIsMissingNoMore() {
    kind.markIfMissing(new KubernetesClientException("no", 404, null));
    listed.complete(null);
    assertThat(kind.isMissing(false)).isFalse();
  }

  @Test
  void aKindThatIsWatchedIsMissingNoMoreHoweverOftenItWas() {
    listed.complete(null);
    kind.markIfMissing(new KubernetesClientException("no", 404, null));
    assertThat(kind.isMissing(true)).isFalse();
    assertThat(kind.isMissing(false)).as("between two watches").isFalse();
    kind.markIfMissing(new KubernetesClientException("no", 404, null));
    assertThat(kind.isMissing(false)).isTrue();
  }
}
