package dev.partita.cli.demo.controlplane;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * An API server in this process, on a free port of the loopback interface: it keeps objects in memory and serves
 * watches.
 */
public final class ApiServer implements AutoCloseable {
  /** It logs every request; held here, since the JDK keeps loggers only as long as somebody does. */
  private static final Logger REQUESTS = Logger.getLogger(MockWebServer.class.getName());

  private static final int PATIENCE_MILLIS = 60_000;

  private final KubernetesMockServer server;

  private ApiServer(KubernetesMockServer server) {
    this.server = server;
  }

  public static ApiServer start() {
    REQUESTS.setLevel(Level.WARNING);
    KubernetesMockServer server =
        new KubernetesMockServer(new Context(), new MockWebServer(), new HashMap<>(), new ApiServerRules(), false);
    server.start(InetAddress.getLoopbackAddress(), 0);
    return new ApiServer(server);
  }

  public String url() {
    return "http://127.0.0.1:" + server.getPort();
  }

  /**
   * A client of its own for each component, as each has in a cluster. It makes no request twice: on a busy machine an
   * answer may come late, and what was done for the first request would be a conflict for the second.
   */
  public KubernetesClient client() {
    Config config =
        new ConfigBuilder(Config.empty()).withMasterUrl(url()).withNamespace("default").withHttp2Disable(true)
            .withRequestRetryBackoffLimit(0).withRequestTimeout(PATIENCE_MILLIS).build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  /** Installs the CustomResourceDefinitions of a folder: their {@code .yaml} files. */
  public void installDefinitions(Path folder) throws IOException {
    List<Path> files;
    try (var all = Files.list(folder)) {
      files = all.filter(file -> file.toString().endsWith(".yaml")).sorted().toList();
    }
    try (KubernetesClient client = client()) {
      for (Path file : files) {
        try (InputStream yaml = Files.newInputStream(file)) {
          client.apiextensions().v1().customResourceDefinitions().load(yaml).create();
        }
      }
    }
  }

  @Override
  public void close() {
    server.shutdown();
  }
}
