package dev.partita.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SnapshotReaderTest {
  private final List<String> asked = new CopyOnWriteArrayList<>();

  /** Of a server that says its version, and answers with a status to all else. */
  private Snapshot read(int status) throws IOException {
    return read(status, Map.of());
  }

  /** @param objects what it answers with all the same, by path */
  private Snapshot read(int status, Map<String, String> objects) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      String path = exchange.getRequestURI().getPath();
      asked.add(path);
      @Nullable String object = path.equals("/version") ? "{'gitVersion': 'v1.37.0'}" : objects.get(path);
      String refusal = "{'kind': 'Status', 'apiVersion': 'v1', 'message': 'not now', 'code': %d}".formatted(status);
      byte[] body = (object == null ? refusal : object).replace('\'', '"').getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(object == null ? status : 200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    String url = "http://127.0.0.1:" + server.getAddress().getPort();
    try (KubernetesClient client =
        new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder().withAutoConfigure(false).withMasterUrl(url)
                .withRequestRetryBackoffLimit(0).build())
            .build()) {
      return new SnapshotReader(client, "partita-system", Clock.systemUTC()).read();
    } finally {
      server.stop(0);
    }
  }

  @Test
  void theServersTimeIsReadAfterTheLeasesSoThatWhatIsRenewedMeanwhileIsNotTakenToBeAhead() throws IOException {
    read(404);
    int leases = asked.indexOf("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases");
    assertThat(leases).as("%s", asked).isNotNegative();
    assertThat(asked.lastIndexOf("/version")).as("%s", asked).isGreaterThan(leases);
    String leader = "/apis/coordination.k8s.io/v1/namespaces/partita-system/leases/partita-dra-controller";
    assertThat(asked.indexOf(leader)).as("what takes long of many nodes is read before: %s", asked)
        .isGreaterThan(asked.indexOf("/api/v1/nodes"))
        .isGreaterThan(asked.indexOf("/apis/resource.k8s.io/v1/resourceslices"))
        .isLessThan(asked.lastIndexOf("/version"));
  }

  /** The version is told to everybody, so that a server that answers nothing else seems to be there. */
  @ParameterizedTest
  @CsvSource({"401, run this with", "403, run this with", "429, try again", "500, try again", "503, try again",
    "504, try again"})
  void nodesThatCouldNotBeReadAreAFailureWhateverTheReason(int status, String mend) throws IOException {
    Diagnosis diagnosis = Diagnosis.of(read(status));
    assertThat(diagnosis.findings()).filteredOn(finding -> finding.verdict() == Verdict.FAIL)
        .allSatisfy(finding -> {
          assertThat(finding.message()).startsWith("could not be looked at: ").endsWith(": not now");
          assertThat(finding.mend()).startsWith(mend);
        })
        .extracting(Finding::check).containsExactly("cards", "node plugin");
  }

  @Test
  void aPluginThatWaitsForItsNodeIsSeen() throws IOException {
    Snapshot snapshot = read(404, Map.of("/api/v1/namespaces/partita-system/pods", """
        {'kind': 'PodList', 'apiVersion': 'v1', 'metadata': {}, 'items': [
          {'metadata': {'name': 'waits'}, 'spec': {'containers': []}},
          {'metadata': {'name': 'ends', 'deletionTimestamp': '2026-05-01T12:00:00Z'}, 'spec': {'nodeName': 'n'}}]}"""));
    assertThat(snapshot.nodes().plugins().map(pods -> pods.stream().map(pod -> pod.getMetadata().getName()).toList()))
        .isEqualTo(new Reading.Known<>(List.of("waits")));
  }
}
