package dev.partita.plugin;

import dev.partita.plugin.kube.PluginClient;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * What plugins ask of the API server in these tests, as in {@code GET /api/v1/namespaces/default/pods/p}. When all
 * tests have run it lies in {@code target/requests-sent.txt}, for the test that the chart grants the rights for this
 * alone.
 */
final class SentRequests {
  private static final Set<String> SENT = new ConcurrentSkipListSet<>();
  private static final Path FILE = Path.of("target", "requests-sent.txt");

  static {
    if (System.getProperty("test") == null) { // -Dtest names some of them, which ask for less
      Runtime.getRuntime().addShutdownHook(new Thread(SentRequests::write, "requests-sent"));
    }
  }

  private SentRequests() {}

  /** A client of the same server, which reads and asks as a plugin does; the caller's to close. */
  static KubernetesClient like(KubernetesClient client) {
    Interceptor interceptor =
        new Interceptor() {
          @Override
          public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            String query = request.uri().getRawQuery();
            String path = request.uri().getRawPath();
            SENT.add(request.method() + " " + path + (query == null ? "" : "?" + query));
          }
        };
    return new KubernetesClientBuilder()
        .withConfig(client.getConfiguration())
        .withKubernetesSerialization(PluginClient.serialization())
        .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("sent-requests", interceptor))
        .build();
  }

  private static void write() {
    try {
      Files.write(FILE, SENT);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
