package dev.partita.e2e.cluster;

import dev.partita.api.ApiServerJson;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.file.Path;

/** Clients from a kubeconfig. */
final class Kubeconfig {
  /**
   * Whoever asks beside a whole test run waits for the API server behind everybody else: the client's own ten seconds
   * were too short for claims with deeply nested selectors.
   */
  private static final int REQUEST_MILLISECONDS = 60_000;

  private Kubeconfig() {}

  static KubernetesClient client(Path file) {
    Config config = Config.fromKubeconfig(file.toFile());
    config.setRequestTimeout(REQUEST_MILLISECONDS);
    if (config.getAutoOAuthToken() == null) {
      config.setOauthTokenProvider(() -> ""); // else every request after the first minute reads the file for a token
    }
    try {
      return of(config);
    } catch (KubernetesClientException notRsa) {
      config.setClientKeyAlgo("EC"); // PKCS #8 does not say so in its header, and RSA is what is taken for granted
      return of(config);
    }
  }

  /** A client that reads whatever the tenants of other tests have written. */
  static KubernetesClient of(Config config) {
    return new KubernetesClientBuilder().withConfig(config)
        .withKubernetesSerialization(new KubernetesSerialization(ApiServerJson.mapper(), true)).build();
  }
}
