package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

/** What whoever has a plugin's token can do. */
public final class PluginIdentity {
  private PluginIdentity() {}

  /** A client with a token of the pod's service account, bound to the pod and so to its node, as kubelet hands it one. */
  public static KubernetesClient client(KubernetesClient admin, Pod pod) {
    String token =
        admin
            .serviceAccounts()
            .inNamespace(pod.getMetadata().getNamespace())
            .withName(pod.getSpec().getServiceAccountName())
            .tokenRequest(
                new TokenRequestBuilder()
                    .withNewSpec()
                    .withExpirationSeconds(600L)
                    .withNewBoundObjectRef()
                    .withApiVersion("v1")
                    .withKind("Pod")
                    .withName(pod.getMetadata().getName())
                    .withUid(pod.getMetadata().getUid())
                    .endBoundObjectRef()
                    .endSpec()
                    .build())
            .getStatus()
            .getToken();
    Config config =
        new ConfigBuilder(Config.empty())
            .withMasterUrl(admin.getMasterUrl().toString())
            .withCaCertData(admin.getConfiguration().getCaCertData())
            .withOauthToken(token)
            .withRequestRetryBackoffLimit(0)
            .build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }
}
