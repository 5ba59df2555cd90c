package dev.partita.cli.explain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.connection.ClusterAnswers;
import dev.partita.cli.connection.ControllerPods;
import dev.partita.cli.connection.RefusedPort;
import dev.partita.controller.ControllerSettings;
import dev.partita.controller.explain.PodExplanation;
import dev.partita.controller.explain.Question;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Asks the controller that leads, through a port forwarded to its pod: so it is the API server that decides who may
 * ask.
 */
final class ControllerPort {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final KubernetesClient client;
  private final String namespace;

  /** @param namespace of Partita's pods */
  ControllerPort(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /**
   * @throws CommandFailure if there is no such object, or nobody can be asked
   */
  List<PodExplanation> ask(Question question) {
    return firstAnswer(question, controllers(), pod -> ask(pod, question));
  }

  /** What came of asking one controller. */
  sealed interface Reply {
    /** It answered over HTTP. */
    record Answered(int status, String body) implements Reply {}

    /** It did not, for it starts, stops or stands still: another one may lead. */
    record OutOfReach(String why) implements Reply {}
  }

  /**
   * Asks one after the other, until one has an answer: the one that leads.
   *
   * @throws CommandFailure if there is no such object, or none has one
   */
  static List<PodExplanation> firstAnswer(Question question, List<String> controllers, Function<String, Reply> ask) {
    List<String> failures = new ArrayList<>();
    for (String controller : controllers) {
      switch (ask.apply(controller)) {
        case Reply.Answered(int status, String body) when status == HttpURLConnection.HTTP_OK -> {
          return read(body);
        }
        case Reply.Answered(int status, String _) when status == HttpURLConnection.HTTP_NOT_FOUND ->
            throw CommandFailure.failed("there is no " + question);
        case Reply.Answered(int _, String body) -> failures.add(controller + ": " + body.strip());
        case Reply.OutOfReach(String why) -> failures.add(controller + " cannot be reached: " + why);
      }
    }
    throw CommandFailure.failed("no controller could say; " + String.join("; ", failures));
  }

  private List<String> controllers() {
    try {
      return ControllerPods.running(client, namespace);
    } catch (KubernetesClientException e) {
      throw refused("list pods", e);
    }
  }

  private Reply ask(String pod, Question question) {
    try (
        LocalPortForward forward =
            client.pods().inNamespace(namespace).withName(pod).portForward(ControllerSettings.DEFAULT_EXPLAIN_PORT);
        HttpClient http = HttpClient.newBuilder().connectTimeout(PATIENCE).build()) {
      String path = "/explain/" + question.kind().word() + "/" + question.namespace() + "/" + question.name();
      HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + forward.getLocalPort() + path))
          .timeout(PATIENCE).build();
      try {
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        return new Reply.Answered(response.statusCode(), response.body());
      } catch (IOException e) {
        if (RefusedPort.isForbidden(forward)) {
          throw forbidden("create pods/portforward");
        }
        return new Reply.OutOfReach(words(forward, e));
      }
    } catch (KubernetesClientException e) {
      notForbidden(e);
      return new Reply.OutOfReach(ClusterAnswers.reason(e));
    } catch (IOException e) {
      return new Reply.OutOfReach("no port can be forwarded to it: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted");
    }
  }

  private void notForbidden(KubernetesClientException e) {
    if (e.getCode() == HttpURLConnection.HTTP_FORBIDDEN) {
      throw refused("create pods/portforward", e);
    }
  }

  private static String words(LocalPortForward forward, IOException failure) {
    return java.util.stream.Stream
        .concat(forward.getServerThrowables().stream(), forward.getClientThrowables().stream())
        .findFirst()
        .map(Throwable::getMessage)
        .or(() -> Optional.ofNullable(failure.getMessage()))
        .orElseGet(failure::toString);
  }

  private CommandFailure refused(String what, KubernetesClientException e) {
    return e.getCode() == HttpURLConnection.HTTP_FORBIDDEN
        ? forbidden(what)
        : ClusterAnswers.failure(e, client.getConfiguration());
  }

  private CommandFailure forbidden(String what) {
    return CommandFailure.failed(
        "you may not " + what + " in namespace " + namespace
            + ", which this needs; the digest is in the pod's condition gpu.partita.dev/Allocated (kubectl describe pod) and in its claims' events");
  }

  static List<PodExplanation> read(String body) {
    try {
      return new ObjectMapper().readValue(body, new TypeReference<>() {});
    } catch (JsonProcessingException e) {
      throw CommandFailure.failed(
          "the controller's answer cannot be read, perhaps it is of another version: " + e.getOriginalMessage());
    }
  }
}
