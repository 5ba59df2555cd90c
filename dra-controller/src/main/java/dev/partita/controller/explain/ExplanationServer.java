package dev.partita.controller.explain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import dev.partita.controller.http.PlainServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers {@code GET /explain/pod/NAMESPACE/NAME} and {@code GET /explain/claim/NAMESPACE/NAME} with a JSON list of {@link
 * PodExplanation}; 404 where there is no such object, 503 where another instance leads. It listens on the loopback address only: what it
 * tells is of all namespaces, and who may reach it is who may forward ports of the controller's pods, which the API server decides.
 */
public final class ExplanationServer {
  private static final Pattern PATH = Pattern.compile("/explain/(pod|claim)/([a-z0-9.-]{1,253})/([a-z0-9.-]{1,253})");
  private static final long PATIENCE_SECONDS = 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  private ExplanationServer() {}

  /**
   * Begins to listen.
   *
   * @param port 0 for any free one
   * @throws IOException if the port cannot be had
   */
  public static PlainServer start(int port, Function<Question, CompletionStage<Answer>> answers) throws IOException {
    return PlainServer.start(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port), "explanations", 2, Map.of("/", exchange -> handle(exchange, answers)));
  }

  private static void handle(HttpExchange exchange, Function<Question, CompletionStage<Answer>> answers) throws IOException {
    Optional<Question> question = exchange.getRequestMethod().equals("GET") ? question(exchange.getRequestURI().getPath()) : Optional.empty();
    if (question.isEmpty()) {
      PlainServer.send(exchange, HttpURLConnection.HTTP_BAD_REQUEST, "text/plain", "GET /explain/pod/NAMESPACE/NAME or /explain/claim/NAMESPACE/NAME\n");
      return;
    }
    try {
      switch (answers.apply(question.get()).toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        case Answer.Explained(var pods) -> PlainServer.send(exchange, HttpURLConnection.HTTP_OK, "application/json", json(pods));
        case Answer.Unknown _ -> PlainServer.send(exchange, HttpURLConnection.HTTP_NOT_FOUND, "text/plain", "there is no " + question.get() + "\n");
        case Answer.NotLeading _ -> PlainServer.send(exchange, HttpURLConnection.HTTP_UNAVAILABLE, "text/plain", "another instance leads\n");
      }
    } catch (ExecutionException | TimeoutException e) {
      PlainServer.send(exchange, HttpURLConnection.HTTP_INTERNAL_ERROR, "text/plain", "no answer: " + e.getMessage() + "\n");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      exchange.close();
    }
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
