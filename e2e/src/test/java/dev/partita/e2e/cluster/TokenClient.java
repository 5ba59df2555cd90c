package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Clients that have nothing but a ServiceAccount's token: what whoever has such a token can do. */
public final class TokenClient {
  private static final long VALID_SECONDS = 3600;

  private TokenClient() {}

  /** With a token of a pod's ServiceAccount, bound to the pod and so to its node, as kubelet hands it one. */
  public static KubernetesClient ofPod(KubernetesClient admin, Pod pod) {
    TokenRequest bound =
        new TokenRequestBuilder()
            .withNewSpec()
            .withExpirationSeconds(VALID_SECONDS)
            .withNewBoundObjectRef()
            .withApiVersion("v1")
            .withKind("Pod")
            .withName(pod.getMetadata().getName())
            .withUid(pod.getMetadata().getUid())
            .endBoundObjectRef()
            .endSpec()
            .build();
    return of(admin, pod.getMetadata().getNamespace(), pod.getSpec().getServiceAccountName(), bound);
  }

  /** With a token that is bound to nothing. */
  public static KubernetesClient of(KubernetesClient admin, String namespace, String serviceAccount) {
    TokenRequest free = new TokenRequestBuilder().withNewSpec().withExpirationSeconds(VALID_SECONDS).endSpec().build();
    return of(admin, namespace, serviceAccount, free);
  }

  /** Writes the kubeconfig of who has what such a client has, and nothing else. */
  public static Path kubeconfig(KubernetesClient client, Path file) throws IOException {
    Config of = client.getConfiguration();
    return Files.writeString(
        file,
        """
            apiVersion: v1
            kind: Config
            current-context: only
            contexts: [{name: only, context: {cluster: only, user: only}}]
            clusters: [{name: only, cluster: {server: "%s", certificate-authority-data: "%s"}}]
            users: [{name: only, user: {token: "%s"}}]
            """
            .formatted(of.getMasterUrl(), of.getCaCertData(), of.getOauthToken()));
  }

  private static KubernetesClient of(KubernetesClient admin, String namespace, String name, TokenRequest request) {
    String token =
        admin.serviceAccounts().inNamespace(namespace).withName(name).tokenRequest(request).getStatus().getToken();
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(admin.getMasterUrl().toString())
            .withCaCertData(admin.getConfiguration().getCaCertData())
            .withOauthToken(token)
            .withRequestRetryBackoffLimit(0)
            .build();
    return Kubeconfig.of(config);
  }
}
