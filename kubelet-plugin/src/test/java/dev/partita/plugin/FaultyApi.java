package dev.partita.plugin;

import dev.partita.api.node.GpuNode;
import dev.partita.serving.access.FaultyApiServer;
import dev.partita.serving.access.FaultyApiServer.Fault;
import dev.partita.serving.access.MockApiServerExtension;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.CustomResourceDefinitionContext;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.function.Function;

/** An API server that answers the plugin badly where a test wants that, and the test always well. */
final class FaultyApi implements AutoCloseable {
  private static final String PLUGIN = "plugin-under-test";
  private static final int PATIENCE = 60_000; // milliseconds, on a busy machine

  private final FaultyApiServer rules = new FaultyApiServer();
  private final KubernetesMockServer server =
      new KubernetesMockServer(new Context(), new MockWebServer(), new HashMap<>(), rules, true);
  final KubernetesClient client;
  final KubernetesClient ofPlugin;

  FaultyApi() {
    server.init();
    server.expectCustomResource(CustomResourceDefinitionContext.fromCustomResourceType(GpuNode.class));
    client = server.createClient(builder -> builder.editOrNewConfig().withRequestRetryBackoffLimit(0)
        .withConnectionTimeout(PATIENCE).withRequestTimeout(PATIENCE).endConfig());
    ofPlugin = new KubernetesClientBuilder()
        .withConfig(new ConfigBuilder(client.getConfiguration()).withUserAgent(PLUGIN).build()).build();
  }

  /** From now on this goes wrong with requests of plugins. */
  void fail(Function<RecordedRequest, Fault> requests) {
    rules.fail(request -> PLUGIN.equals(request.getHeader("User-Agent")) ? requests.apply(request) : Fault.NONE);
  }

  /** How late {@link Fault#LATE} is from now on. */
  void lateBy(Duration by) {
    rules.lateBy(by);
  }

  @Override
  public void close() {
    ofPlugin.close();
    client.close();
    MockApiServerExtension.end(server);
  }
}
