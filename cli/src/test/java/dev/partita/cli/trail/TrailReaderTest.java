package dev.partita.cli.trail;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.partita.controller.fleet.PaperFleet;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is read of the logs of Partita's own pods. */
class TrailReaderTest {
  private static final String PODS = "/api/v1/namespaces/partita-system/pods";

  private final Map<String, String> answers = new TreeMap<>(); // by path, and by the query of logs of runs before
  private final List<String> notes = new ArrayList<>();
  private HttpServer api;
  private KubernetesClient client;

  @BeforeEach
  void start() throws IOException {
    api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.createContext("/", exchange -> {
      String asked = exchange.getRequestURI().getPath()
          + (exchange.getRequestURI().toString().contains("previous=true") ? " before" : "");
      boolean known = answers.containsKey(asked);
      byte[] body = answers.getOrDefault(asked, "{}").getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(known ? 200 : 404, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    api.start();
    client = new KubernetesClientBuilder().withConfig(new ConfigBuilder().withAutoConfigure(false)
        .withMasterUrl("http://127.0.0.1:" + api.getAddress().getPort()).withRequestRetryBackoffLimit(0).build())
        .build();
    answers.put("/apis/resource.k8s.io/v1/namespaces/team/resourceclaims/c",
        Serialization.asJson(PaperFleet.share("team", "c", "n", 0, 8, 0)));
    answers.put("/api/v1/namespaces/team/events", "{\"kind\": \"EventList\", \"apiVersion\": \"v1\", \"items\": []}");
  }

  @AfterEach
  void close() {
    client.close();
    api.stop(0);
  }

  private void plugin(String lastState) {
    String pod = """
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "plugin", "namespace": "partita-system",
          "labels": {"app.kubernetes.io/name": "kubelet-plugin"}}, "spec": {"nodeName": "n"},
          "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "plugin", "ready": true, "lastState": %s}]}}
        """.formatted(lastState);
    answers.put(PODS,
        "{\"kind\": \"PodList\", \"apiVersion\": \"v1\", \"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [" + pod
            + "]}");
    answers.put(PODS + "/plugin", pod);
    answers.put(PODS + "/plugin/log", "2026-01-01T00:00:09Z claim team/c is released\n");
  }

  private List<String> texts() {
    return new TrailReader(client, "partita-system", notes::add).read("team", "c").stream()
        .filter(entry -> entry.source().equals("kubelet-plugin")).map(Entry::text).toList();
  }

  @Test
  void theLogOfTheRunBeforeIsReadToo() {
    plugin("{\"terminated\": {\"exitCode\": 137}}");
    answers.put(PODS + "/plugin/log before", "2026-01-01T00:00:08Z claim team/c is prepared\n");
    assertThat(texts()).containsExactly("claim team/c is prepared", "claim team/c is released");
  }

  @Test
  void aLogOfARunBeforeThatIsNotThereAnyMoreIsSaidAndTheOtherIsShown() {
    plugin("{\"terminated\": {\"exitCode\": 137}}");
    assertThat(texts()).containsExactly("claim team/c is released");
    assertThat(notes).anyMatch(note -> note.startsWith("log of the run before of pod plugin cannot be read"));
  }

  @Test
  void ofAPodThatWasNotStartedAnewOneLogIsRead() {
    plugin("{}");
    assertThat(texts()).containsExactly("claim team/c is released");
    assertThat(notes).noneMatch(note -> note.contains("run before"));
  }
}
