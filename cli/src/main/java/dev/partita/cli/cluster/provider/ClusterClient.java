package dev.partita.cli.cluster.provider;

import dev.partita.cli.command.CommandFailure;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Map;

/** A client for the cluster of a kubeconfig. */
public final class ClusterClient {
  private static final String PKCS8_BEGIN = "-----BEGIN PRIVATE KEY-----";

  private ClusterClient() {}

  /** The kubeconfig that kubectl would take with this environment. */
  public static Path current(Map<String, String> environment) {
    String named = environment.getOrDefault("KUBECONFIG", "");
    return named.isEmpty()
        ? Path.of(environment.getOrDefault("HOME", "/"), ".kube", "config")
        : Path.of(named.split(":", 2)[0]).toAbsolutePath();
  }

  /**
   * @throws CommandFailure if the file cannot be read
   */
  public static KubernetesClient of(Path kubeconfig) {
    if (!kubeconfig.toFile().canRead()) {
      throw CommandFailure.usage("there is no kubeconfig at " + kubeconfig);
    }
    Config config = Config.fromKubeconfig(kubeconfig.toFile());
    if (config.getClientKeyData() != null && isEllipticCurve(config.getClientKeyData())) {
      config.setClientKeyAlgo("EC"); // the client takes every PKCS #8 key for RSA
    }
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  private static boolean isEllipticCurve(String keyData) {
    String pem = new String(Base64.getDecoder().decode(keyData.strip()), StandardCharsets.US_ASCII);
    if (!pem.contains(PKCS8_BEGIN)) {
      return pem.contains("-----BEGIN EC PRIVATE KEY-----");
    }
    String body = pem.replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
    try {
      return !KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(body)))
          .getFormat().isEmpty();
    } catch (GeneralSecurityException | IllegalArgumentException another) {
      return false;
    }
  }
}
