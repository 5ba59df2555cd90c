package dev.partita.controller.explain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.serving.http.Exchange;
import dev.partita.serving.http.HttpAnswer;
import dev.partita.serving.http.HttpListener;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers {@code GET /explain/pod/NAMESPACE/NAME} and {@code GET /explain/claim/NAMESPACE/NAME} with a JSON list of
 * {@link PodExplanation}; with 404 where there is no such object, and 503 where another instance leads. It listens on
 * the loopback address only, for it tells about all namespaces. So only those reach it whom the API server lets forward
 * ports of the controller's pods.
 */
public final class ExplanationServer {
  private static final Pattern PATH = Pattern.compile("/explain/(pod|claim)/([a-z0-9.-]{1,253})/([a-z0-9.-]{1,253})");
  private static final long PATIENCE_SECONDS = 20;
  private static final int CONNECTIONS = 16;
  private static final ObjectMapper JSON = new ObjectMapper();

  private ExplanationServer() {}

  /**
   * Begins to listen.
   *
   * @param port 0 for any free one
   * @throws IOException if the port cannot be had
   */
  public static HttpListener start(int port, Function<Question, CompletionStage<Answer>> answers) throws IOException {
    return HttpListener.start(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
        "explanations",
        CONNECTIONS,
        Thread.ofPlatform().name("explanations-", 0).daemon().factory(),
        Optional.empty(),
        exchange -> answer(exchange, answers));
  }

  private static HttpAnswer answer(Exchange exchange, Function<Question, CompletionStage<Answer>> answers) {
    Optional<Question> question = exchange.method().equals("GET") ? question(exchange.path()) : Optional.empty();
    if (question.isEmpty()) {
      return text(HttpURLConnection.HTTP_BAD_REQUEST,
          "GET /explain/pod/NAMESPACE/NAME or /explain/claim/NAMESPACE/NAME");
    }
    CompletableFuture<Answer> asked = answers.apply(question.get()).toCompletableFuture();
    try {
      return switch (asked.get(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        case Answer.Explained(var pods) ->
            new HttpAnswer(HttpURLConnection.HTTP_OK, HttpAnswer.JSON, json(pods));
        case Answer.Unknown _ -> text(HttpURLConnection.HTTP_NOT_FOUND, "there is no " + question.get());
        case Answer.NotLeading _ -> text(HttpURLConnection.HTTP_UNAVAILABLE, "another instance leads");
      };
    } catch (TimeoutException e) {
      return text(HttpURLConnection.HTTP_INTERNAL_ERROR, "no answer came within " + PATIENCE_SECONDS
          + " s, for it decides about other pods; ask again");
    } catch (ExecutionException e) {
      return text(HttpURLConnection.HTTP_INTERNAL_ERROR, "no answer: " + e.getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return text(HttpURLConnection.HTTP_UNAVAILABLE, "the server stops");
    } finally {
      asked.cancel(true); // whatever has not been answered by now
    }
  }

  private static HttpAnswer text(int status, String words) {
    return HttpAnswer.text(status, words);
  }

  private static Optional<Question> question(String path) {
    Matcher parts = PATH.matcher(path);
    if (!parts.matches()) {
      return Optional.empty();
    }
    Question.Kind kind = parts.group(1).equals(Question.Kind.POD.word()) ? Question.Kind.POD : Question.Kind.CLAIM;
    return Optional.of(new Question(kind, parts.group(2), parts.group(3)));
  }

  private static String json(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
