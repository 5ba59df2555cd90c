package dev.partita.cli.command;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** An API server with one controller's pod that lets nobody forward a port to it. */
public final class RefusingServer implements AutoCloseable {
  private static final String PODS =
      """
          {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": [
            {"metadata": {"name": "controller-a", "namespace": "partita-system"}, "status": {"phase": "Running"}}]}
          """;
  private static final String REFUSED =
      """
          {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "reason": "Forbidden", "code": 403}
          """;

  private final HttpServer api;
  private final KubernetesClient client;

  public RefusingServer() throws IOException {
    api = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    api.createContext("/", exchange -> {
      boolean forwards = exchange.getRequestURI().getPath().endsWith("/portforward");
      byte[] body = (forwards ? REFUSED : PODS).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(forwards ? 403 : 200, body.length);
      exchange.getResponseBody().write(body);
      exchange.close();
    });
    api.start();
    client = new KubernetesClientBuilder().withConfig(new ConfigBuilder().withAutoConfigure(false)
        .withMasterUrl("http://127.0.0.1:" + api.getAddress().getPort()).withRequestRetryBackoffLimit(0).build())
        .build();
  }

  public KubernetesClient client() {
    return client;
  }

  @Override
  public void close() {
    client.close();
    api.stop(0);
  }
}
