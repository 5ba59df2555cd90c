package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;

/**
 * Somebody who has the built-in role {@code edit} in one namespace, and no other right.
 *
 * @param namespace where he has it
 * @param client with which he does what he does
 */
public record Tenant(String namespace, KubernetesClient client) implements AutoCloseable {
  private static final String NAME = "tenant";

  /** Makes a ServiceAccount for him; it goes with the namespace. */
  public static Tenant in(Workspace workspace) {
    KubernetesClient admin = workspace.client();
    String namespace = workspace.namespace();
    admin
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withNamespace(namespace)
                .endMetadata()
                .build())
        .create();
    admin
        .resource(
            new RoleBindingBuilder()
                .withNewMetadata()
                .withName(NAME)
                .withNamespace(namespace)
                .endMetadata()
                .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "edit")
                .addNewSubject(null, "ServiceAccount", NAME, namespace)
                .build())
        .create();
    return new Tenant(namespace, TokenClient.of(admin, namespace, NAME));
  }

  /** Makes an object in his namespace. */
  public HasMetadata create(String yaml) {
    return create(parsed(yaml));
  }

  /** Makes an object in his namespace. */
  public HasMetadata create(HasMetadata object) {
    return client.resource(object).inNamespace(namespace).create();
  }

  /**
   * Sends an object as these bytes are, which no client would.
   *
   * @param path below the server, such as {@code /api/v1/namespaces/a/pods}
   * @return the HTTP status
   */
  public int post(String path, byte[] json) throws InterruptedException, ExecutionException {
    HttpRequest request = client.getHttpClient().newHttpRequestBuilder()
        .uri(URI.create(client.getMasterUrl().toString()).resolve(path)).post("application/json", json).build();
    return client.getHttpClient().sendAsync(request, String.class).get().code();
  }

  /** The object that a YAML document describes. */
  public HasMetadata parsed(String yaml) {
    byte[] document = ("---\n" + yaml).getBytes(StandardCharsets.UTF_8); // else a flow mapping is taken for JSON
    return client.load(new ByteArrayInputStream(document)).items().getFirst();
  }

  /** A claim of his namespace. */
  public Resource<ResourceClaim> claim(String name) {
    return client.resources(ResourceClaim.class).inNamespace(namespace).withName(name);
  }

  /** The same through another version of the API. */
  public Resource<GenericKubernetesResource> claim(String version, String name) {
    return client
        .genericKubernetesResources("resource.k8s.io/" + version, "ResourceClaim")
        .inNamespace(namespace)
        .withName(name);
  }

  @Override
  public void close() {
    client.close();
  }
}
