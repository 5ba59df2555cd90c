package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.LoadedClaim.Known;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;

/** Has claims prepared and released as kubelet does, and keeps what it was answered. */
final class PlayedKubelet {
  /** Less than kubelet gives, so that a card which is not released soon does not stop the load. */
  private static final Duration PATIENCE = Duration.ofSeconds(7);

  private final Supplier<Path> socket;

  /** @param socket of the plugin that is asked next */
  PlayedKubelet(Supplier<Path> socket) {
    this.socket = socket;
  }

  /** Asks for all at once, each by a call of its own, and waits for the answers. */
  void prepare(List<LoadedClaim> claims) {
    atOnce(claims, this::prepare, () -> {});
  }

  /** The same for a release. */
  void release(List<LoadedClaim> claims) {
    atOnce(claims, this::release, () -> {});
  }

  /** Asks for both while something else happens. */
  void askWhile(List<LoadedClaim> wanted, List<LoadedClaim> released, Runnable meanwhile) {
    atOnce(wanted, this::prepare, () -> atOnce(released, this::release, meanwhile));
  }

  private static void atOnce(List<LoadedClaim> claims, Consumer<LoadedClaim> call, Runnable meanwhile) {
    List<CompletableFuture<Void>> calls = claims.stream()
        .map(claim -> CompletableFuture.runAsync(() -> call.accept(claim), Thread::startVirtualThread)).toList();
    meanwhile.run();
    calls.forEach(CompletableFuture::join);
  }

  /** The refusal, empty if there is none. */
  String prepare(LoadedClaim one) {
    boolean wasPrepared = one.known == Known.PREPARED;
    NodePrepareResourceResponse answer;
    try {
      answer = TestNode.prepare(socket.get(), PATIENCE, one.claim);
    } catch (StatusRuntimeException e) { // no plugin is there, or it ends
      one.known = wasPrepared ? Known.PREPARED : Known.ASKED_TO_PREPARE;
      return String.valueOf(e.getMessage());
    }
    if (answer.getError().isEmpty()) {
      assertThat(one.answer == null || one.answer.equals(answer)).as("of %s: %s, and first %s", one, answer, one.answer)
          .isTrue();
      one.answer = answer;
      one.known = Known.PREPARED;
    } else if (!wasPrepared) {
      one.known = Known.ASKED_TO_PREPARE;
    }
    return answer.getError();
  }

  /** The refusal, empty if there is none. */
  String release(LoadedClaim one) {
    String problem;
    try {
      problem = TestNode.unprepare(socket.get(), one.claim);
    } catch (StatusRuntimeException e) {
      problem = Objects.toString(e.getMessage());
    }
    one.known = problem.isEmpty() ? Known.RELEASED : Known.ASKED_TO_RELEASE;
    if (problem.isEmpty()) {
      one.answer = null;
    }
    return problem;
  }
}
