package dev.partita.plugin.prepare;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests with a {@link NodeOfPlugins} each. */
@MockApiServer(crud = true)
abstract class OnNodeOfPlugins {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  /** The folder that the node's are in. */
  @TempDir Path root;

  @SuppressWarnings("NullAway.Init") // set before every test
  NodeOfPlugins node;

  @BeforeEach
  void layOut() throws IOException {
    node = new NodeOfPlugins(root, client);
  }
}
