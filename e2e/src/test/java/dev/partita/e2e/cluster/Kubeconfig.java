package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.nio.file.Path;

/** Clients from a kubeconfig. */
final class Kubeconfig {
  private Kubeconfig() {}

  static KubernetesClient client(Path file) {
    Config config = Config.fromKubeconfig(file.toFile());
    try {
      return new KubernetesClientBuilder().withConfig(config).build();
    } catch (KubernetesClientException notRsa) {
      config.setClientKeyAlgo("EC"); // PKCS #8 does not say so in its header, and RSA is what is taken for granted
      return new KubernetesClientBuilder().withConfig(config).build();
    }
  }
}
