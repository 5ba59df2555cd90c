package dev.partita.e2e.cluster;

import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Keeps what the controllers write to the status of a namespace's claims on its way, in the API server, until it is let
 * go or 30 s have passed: a webhook that never answers, and without which the API server then goes on. For an API
 * server on this machine.
 */
public final class HeldWrites implements AutoCloseable {
  private static final String CANARY = "canary";

  private final KubernetesClient client;
  private final String name;
  private final ServerSocket server;
  private final Queue<Socket> held = new ConcurrentLinkedQueue<>();

  private HeldWrites(KubernetesClient client, String name, ServerSocket server) {
    this.client = client;
    this.name = name;
    this.server = server;
  }

  /** Holds those of the workspace's namespace from now on. */
  public static HeldWrites in(Workspace workspace) {
    try {
      HeldWrites writes = new HeldWrites(workspace.client(), workspace.namespace(),
          new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
      try {
        writes.begin();
      } catch (RuntimeException failure) {
        writes.close();
        throw failure;
      }
      return writes;
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private void begin() {
    Thread.ofPlatform().daemon().name("held-writes").start(this::accept);
    client.load(new ByteArrayInputStream(configuration().getBytes(StandardCharsets.UTF_8))).create();
    await("the webhook to be asked").atMost(Workspace.PATIENCE).until(this::isAsked);
  }

  private String configuration() {
    return """
        ---
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata: {name: %1$s}
        webhooks:
        - name: held.e2e.partita.dev
          clientConfig: {url: "https://127.0.0.1:%2$d/"}
          rules: [{apiGroups: [resource.k8s.io], apiVersions: ["*"], operations: [UPDATE], resources: [resourceclaims/status]}]
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}
          matchConditions: [{name: controller, expression: "request.userInfo.username == 'system:serviceaccount:%3$s:%4$s'"}]
          timeoutSeconds: 30
          failurePolicy: Ignore
          sideEffects: None
          admissionReviewVersions: [v1]
        - name: canary.e2e.partita.dev # nobody listens: refused as soon as the API server knows of this configuration
          clientConfig: {url: "https://127.0.0.1:1/"}
          rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %1$s}}
          matchConditions: [{name: canary, expression: "object.metadata.name == '%5$s'"}]
          failurePolicy: Fail
          sideEffects: None
          admissionReviewVersions: [v1]
        """
        .formatted(name, server.getLocalPort(), RealCluster.NAMESPACE, Controllers.NAME, CANARY);
  }

  private boolean isAsked() {
    try {
      client
          .resource(new ConfigMapBuilder().withNewMetadata().withName(CANARY).withNamespace(name).endMetadata().build())
          .dryRun().create();
      return false;
    } catch (KubernetesClientException refused) {
      if (String.valueOf(refused.getMessage()).contains("canary.e2e.partita.dev")) {
        return true;
      }
      throw refused;
    }
  }

  private void accept() {
    try {
      while (true) {
        held.add(server.accept());
      }
    } catch (IOException closed) {
      // let go
    }
  }

  /** Waits until a write is being held. */
  public void awaitOne() {
    await("a write of a controller").atMost(Workspace.PATIENCE).until(() -> !held.isEmpty());
  }

  /** Holds no further ones; those that are held stay so. */
  public void holdNoMore() {
    client.admissionRegistration().v1().validatingWebhookConfigurations().withName(name).delete();
  }

  /** Lets those go on that are held, and holds no further ones. */
  @Override
  public void close() {
    try (Cleanup cleanup = new Cleanup()) {
      cleanup.undo("writes that are held", this::letGo);
      cleanup.undo("webhook " + name, this::holdNoMore);
    }
  }

  private void letGo() {
    try {
      server.close();
      for (Socket socket : held) {
        socket.close();
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
