package dev.partita.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.stream.StreamSupport;
import java.util.zip.GZIPInputStream;

/** When the fleet's figures were sampled, as they are stored and as the web page shows them. */
public record LastDay(KubernetesClient admin) {
  private static final int PORT = 8083;
  private static final String VIEWER = "partita-viewer";

  /** Waits until some are stored. */
  public List<Instant> awaitStored() {
    return await("stored samples of the last day").atMost(Workspace.PATIENCE).until(this::stored,
        times -> !times.isEmpty());
  }

  private List<Instant> stored() throws IOException {
    ConfigMap object = admin.configMaps().inNamespace(RealCluster.NAMESPACE).withName("partita-history").get();
    if (object == null || object.getBinaryData() == null || !object.getBinaryData().containsKey("samples.gz")) {
      return List.of();
    }
    byte[] packed = Base64.getDecoder().decode(object.getBinaryData().get("samples.gz"));
    try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(packed))) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().skip(1)
          .map(line -> Instant.ofEpochSecond(Long.parseLong(line.split(" ", 2)[0]))).toList();
    }
  }

  /** What a controller's page shows to who may see everything. */
  public List<Instant> shownBy(Pod controller) throws IOException, InterruptedException {
    try (KubernetesClient viewer = TokenClient.of(admin, RealCluster.NAMESPACE, VIEWER);
        LocalPortForward forward =
            admin.pods().inNamespace(RealCluster.NAMESPACE).withName(controller.getMetadata().getName())
                .portForward(PORT);
        HttpClient http = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + forward.getLocalPort() + "/api/history"))
              .header("Authorization", "Bearer " + viewer.getConfiguration().getOauthToken()).build();
      HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      return StreamSupport
          .stream(new ObjectMapper().readTree(answer.body()).at("/view/samples").spliterator(), false)
          .map(sample -> Instant.ofEpochSecond(sample.path("at").asLong())).toList();
    }
  }
}
