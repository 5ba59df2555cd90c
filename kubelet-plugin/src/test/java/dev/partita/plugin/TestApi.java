package dev.partita.plugin;

import static org.awaitility.Awaitility.await;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeStatus;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** What tests ask of the API server that a plugin talks to. */
record TestApi(KubernetesClient client) {
  /** Makes the claim, allocated as it says, and gives it the UID that it got. */
  ResourceClaim created(ResourceClaim claim) {
    String uid = claim.getMetadata().getUid();
    ResourceClaim created = client.resource(claim).create();
    if (!uid.equals(created.getMetadata().getUid())) {
      claim.getMetadata().setUid(created.getMetadata().getUid());
    }
    if (created.getStatus() == null || created.getStatus().getAllocation() == null) {
      created.setStatus(claim.getStatus());
      created = client.resource(created).updateStatus();
    }
    return created;
  }

  /** The claim as it is now. */
  ResourceClaim stored(String name) {
    return Objects.requireNonNull(client.resources(ResourceClaim.class).inNamespace("default").withName(name).get());
  }

  /** The event of that reason on the claim, once it has happened so often. */
  Event eventWhen(String claim, String reason, int count) {
    return await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> event(claim, reason), e -> e.isPresent() && countOf(e.get()) == count)
        .orElseThrow();
  }

  /** The event of that reason on the claim, if there is one. */
  Optional<Event> event(String claim, String reason) {
    return client.events().v1().events().inNamespace("default").list().getItems().stream()
        .filter(e -> claim.equals(e.getRegarding().getName()) && reason.equals(e.getReason()))
        .findFirst();
  }

  /** The paths of all GET requests that the server has got since it was asked last. */
  static List<String> pathsOfGets(KubernetesMockServer server) throws InterruptedException {
    List<String> paths = new ArrayList<>();
    for (RecordedRequest next = server.takeRequest(1, TimeUnit.MILLISECONDS); next != null; next =
        server.takeRequest(1, TimeUnit.MILLISECONDS)) {
      if ("GET".equals(next.getMethod())) {
        paths.add(String.valueOf(next.getPath()));
      }
    }
    return paths;
  }

  private static int countOf(Event event) {
    return event.getSeries() == null ? 1 : event.getSeries().getCount();
  }

  /** What the node reports, with its metadata. */
  GpuNode gpuNode(String name) {
    return Objects.requireNonNull(client.resources(GpuNode.class).withName(name).get());
  }

  /** What the node reports, once that is so. */
  GpuNodeStatus statusWhen(String name, Predicate<GpuNodeStatus> condition) {
    GpuNode node =
        await()
            .atMost(Duration.ofSeconds(20))
            .until(
                () -> client.resources(GpuNode.class).withName(name).get(),
                n -> n != null && n.getStatus() != null && condition.test(n.getStatus()));
    return Objects.requireNonNull(node.getStatus());
  }
}
