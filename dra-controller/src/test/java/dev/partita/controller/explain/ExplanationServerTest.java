package dev.partita.controller.explain;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.serving.http.HttpListener;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

class ExplanationServerTest {
  /** {@code partita explain} prints it. */
  @Test
  void whoWaitsInVainIsToldThatTheControllerIsBusy() throws Exception {
    LateAnswer late = new LateAnswer();
    try (HttpListener server = ExplanationServer.start(0, _ -> late);
        HttpClient http = HttpClient.newHttpClient()) {
      HttpResponse<String> answer = http.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + "/explain/pod/default/huge")).build(),
          HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).isEqualTo(500);
      assertThat(answer.body())
          .isEqualTo("no answer came within 20 s, for it decides about other pods; ask again\n");
      assertThat(late.isCancelled()).as("nobody waits for it").isTrue();
    }
  }
}
