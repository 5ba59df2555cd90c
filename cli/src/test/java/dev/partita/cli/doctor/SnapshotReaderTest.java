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
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class SnapshotReaderTest {
  @Test
  void theServersTimeIsReadAfterTheLeasesSoThatWhatIsRenewedMeanwhileIsNotTakenToBeAhead() throws IOException {
    List<String> asked = new CopyOnWriteArrayList<>();
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> {
      String path = exchange.getRequestURI().getPath();
      asked.add(path);
      byte[] body = "{\"gitVersion\": \"v1.37.0\"}".getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(path.equals("/version") ? 200 : 404, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    server.start();
    String url = "http://127.0.0.1:" + server.getAddress().getPort();
    try (KubernetesClient client =
        new KubernetesClientBuilder().withConfig(new ConfigBuilder().withMasterUrl(url).build()).build()) {
      new SnapshotReader(client, "partita-system", Clock.systemUTC()).read();
    } finally {
      server.stop(0);
    }
    int leases = asked.indexOf("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases");
    assertThat(leases).as("%s", asked).isNotNegative();
    assertThat(asked.lastIndexOf("/version")).as("%s", asked).isGreaterThan(leases);
    String leader = "/apis/coordination.k8s.io/v1/namespaces/partita-system/leases/partita-dra-controller";
    assertThat(asked.indexOf(leader)).as("what takes long of many nodes is read before: %s", asked)
        .isGreaterThan(asked.indexOf("/api/v1/nodes"))
        .isGreaterThan(asked.indexOf("/apis/resource.k8s.io/v1/resourceslices"))
        .isLessThan(asked.lastIndexOf("/version"));
  }
}
