package dev.partita.plugin.podresources;

import dev.partita.plugin.socket.UnixChannel;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResourcesListerGrpc.PodResourcesListerBlockingStub;
import k8s.io.kubelet.pkg.apis.podresources.v1.PodResourcesListerGrpc;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks kubelet's PodResources API (KEP-606). kubelet answers from memory, and nobody else knows it without a right to
 * read pods. A failure is logged once, until kubelet answers again.
 */
final class PodResourcesClient {
  private static final Logger LOG = LoggerFactory.getLogger(PodResourcesClient.class);
  private static final int PATIENCE_MS = 1_000;

  private final Path socket;
  private final String withoutAnswer;
  private boolean failed;

  /**
   * Opens nothing yet.
   *
   * @param socket kubelet's, such as /var/lib/kubelet/pod-resources/kubelet.sock
   * @param withoutAnswer what it means that kubelet does not answer, for the log
   */
  PodResourcesClient(Path socket, String withoutAnswer) {
    this.socket = socket;
    this.withoutAnswer = withoutAnswer;
  }

  /**
   * Asks now.
   *
   * @param question the calls to make, within a second in all
   * @return empty where kubelet does not answer by then
   */
  <T> Optional<T> ask(Function<PodResourcesListerBlockingStub, T> question) {
    if (!Files.exists(socket)) {
      return failed("there is no " + socket);
    }
    try (UnixChannel connection = UnixChannel.to(socket)) {
      Optional<T> answer = Optional.of(question.apply(
          PodResourcesListerGrpc.newBlockingStub(connection.channel()).withDeadlineAfter(PATIENCE_MS,
              TimeUnit.MILLISECONDS)));
      failed = false;
      return answer;
    } catch (StatusRuntimeException e) {
      return failed(e.getStatus().toString());
    }
  }

  private <T> Optional<T> failed(String problem) {
    if (!failed) {
      LOG.warn("{}, for kubelet does not tell: {}", withoutAnswer, problem);
    }
    failed = true;
    return Optional.empty();
  }
}
