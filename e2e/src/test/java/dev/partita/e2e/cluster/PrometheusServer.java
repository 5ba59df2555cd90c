package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A real Prometheus on this machine, which scrapes and can be asked. */
public final class PrometheusServer implements AutoCloseable {
  private final Process process;
  private final int port;

  private PrometheusServer(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /** The program, if this machine has it: Debian's package prometheus. */
  public static Optional<Path> program() {
    return Stream.of(System.getenv("PATH").split(":", -1)).map(folder -> Path.of(folder, "prometheus"))
        .filter(Files::isExecutable).findFirst();
  }

  /**
   * Starts one that scrapes every second.
   *
   * @param folder for its files
   * @param ports of this machine, over HTTPS
   * @param rules a file of alert rules
   */
  public static PrometheusServer start(Path program, Path folder, List<Integer> ports, String token, Path rules)
      throws IOException {
    int port = freePort();
    Path config = Files.writeString(folder.resolve("prometheus.yml"),
        """
            global: {scrape_interval: 1s, evaluation_interval: 1s}
            rule_files: ["%s"]
            scrape_configs:
              - job_name: partita
                scheme: https
                tls_config: {insecure_skip_verify: true}
                authorization: {credentials: "%s"}
                honor_labels: true
                static_configs: [{targets: [%s]}]
            """
            .formatted(rules, token,
                ports.stream().map(p -> "\"localhost:" + p + "\"").collect(Collectors.joining(", "))));
    Process process = new ProcessBuilder(program.toString(), "--config.file=" + config,
        "--storage.tsdb.path=" + folder.resolve("data"), "--web.listen-address=127.0.0.1:" + port,
        "--log.level=warn").redirectErrorStream(true).redirectOutput(folder.resolve("log").toFile()).start();
    PrometheusServer server = new PrometheusServer(process, port);
    try {
      await("prometheus to answer").atMost(Duration.ofMinutes(1)).ignoreExceptions()
          .until(() -> !server.query("vector(1)").isEmpty());
    } catch (RuntimeException e) {
      server.close();
      throw new IllegalStateException(Files.readString(folder.resolve("log")), e);
    }
    return server;
  }

  /** What a query gives now: a sample each, as Prometheus' API has them. */
  public JsonNode query(String query) throws IOException, InterruptedException {
    JsonNode answer = get("/api/v1/query?query=" + URLEncoder.encode(query, StandardCharsets.UTF_8));
    if (!answer.path("status").asText().equals("success")) {
      throw new IllegalArgumentException(query + ": " + answer.path("error").asText());
    }
    return answer.at("/data/result");
  }

  /** Names of the alert rules that it has loaded. */
  public List<String> alertRules() throws IOException, InterruptedException {
    return get("/api/v1/rules").at("/data/groups/0/rules").findValuesAsText("name");
  }

  @Override
  public void close() {
    process.destroy();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return new ObjectMapper().readTree(client.send(
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
          HttpResponse.BodyHandlers.ofString()).body());
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
