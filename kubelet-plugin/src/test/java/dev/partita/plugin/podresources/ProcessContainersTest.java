package dev.partita.plugin.podresources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.usage.measure.HostProcesses;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

@MockApiServer(crud = true)
class ProcessContainersTest {
  private static final ContainerRef TRAINER = new ContainerRef("lab", "pair", "trainer");
  private static final ContainerRef LOADER = new ContainerRef("lab", "pair", "loader");
  private static final ContainerRef ALONE = new ContainerRef("lab", "other", "trainer");
  private static final List<ContainerRef> ALL = List.of(TRAINER, LOADER, ALONE);

  @SuppressWarnings("NullAway.Init") // both are set by the extension
  KubernetesClient client;
  @SuppressWarnings("NullAway.Init") KubernetesMockServer server;

  private final Map<Long, HostProcesses.Place> places = new ConcurrentHashMap<>();
  private Instant now = Instant.EPOCH;

  @Test
  void eachProcessIsToldItsContainerOnceThePodsAreRead() {
    String pair = create("pair", Map.of("trainer", "a1", "loader", "a2"));
    String other = create("other", Map.of("trainer", "b1"));
    places.put(1L, new HostProcesses.Place(pair, "a1"));
    places.put(2L, new HostProcesses.Place(pair, "a2"));
    places.put(3L, new HostProcesses.Place(other, "b1"));
    places.put(4L, new HostProcesses.Place("a stranger's", "a1"));
    ProcessContainers containers = containers();
    assertThat(containers.of(1, ALL)).as("nothing waits for the API server").isEmpty();
    await().until(() -> containers.of(1, ALL), Optional.of(TRAINER)::equals);
    await().until(() -> containers.of(3, ALL), Optional.of(ALONE)::equals);
    assertThat(containers.of(2, ALL)).contains(LOADER);
    assertThat(containers.of(4, ALL)).as("a pod that is none of them").isEmpty();
    assertThat(containers.of(5, ALL)).as("a process of the node").isEmpty();
    assertThat(containers.of(2, List.of(TRAINER, ALONE))).as("a container without the device").isEmpty();
  }

  @Test
  void aContainerThatIsStartedAgainIsFoundByItsNewId() {
    String pair = create("pair", Map.of("trainer", "a1", "loader", "a2"));
    places.put(1L, new HostProcesses.Place(pair, "a1"));
    ProcessContainers containers = containers();
    await().until(() -> containers.of(1, ALL), Optional.of(TRAINER)::equals);
    client.resource(pod("pair", Map.of("trainer", "a3", "loader", "a2"))).updateStatus();
    places.put(1L, new HostProcesses.Place(pair, "a3"));
    assertThat(containers.of(1, ALL)).isEmpty();
    now = now.plusSeconds(6);
    await().until(() -> containers.of(1, ALL), Optional.of(TRAINER)::equals);
  }

  @Test
  void aPodThatTookTheNameOfAnotherIsReadAnew() {
    places.put(1L, new HostProcesses.Place(create("pair", Map.of("trainer", "a1")), "a1"));
    ProcessContainers containers = containers();
    await().until(() -> containers.of(1, ALL), Optional.of(TRAINER)::equals);
    client.pods().inNamespace("lab").withName("pair").delete();
    places.put(1L, new HostProcesses.Place(create("pair", Map.of("trainer", "b1")), "b1"));
    assertThat(containers.of(1, ALL)).isEmpty();
    now = now.plusSeconds(31);
    await().until(() -> containers.of(1, ALL), Optional.of(TRAINER)::equals);
  }

  @Test
  void aProcessThatIsNotFoundHasThePodsReadOnceInAWhileOnly() {
    places.put(1L, new HostProcesses.Place(create("pair", Map.of("trainer", "a1")), "none"));
    ProcessContainers containers = containers();
    int before = server.getRequestCount();
    await().untilAsserted(() -> {
      assertThat(containers.of(1, ALL)).isEmpty();
      assertThat(server.getRequestCount() - before).as("one of each pod").isEqualTo(2);
    });
    for (int i = 0; i < 100; i++) {
      assertThat(containers.of(1, ALL)).isEmpty();
    }
    assertThat(server.getRequestCount() - before).isEqualTo(2);
    now = now.plus(Duration.ofSeconds(6));
    await().untilAsserted(() -> {
      assertThat(containers.of(1, ALL)).isEmpty();
      assertThat(server.getRequestCount() - before).as("and the one of its pod again").isEqualTo(3);
    });
  }

  private ProcessContainers containers() {
    return new ProcessContainers(pid -> Optional.ofNullable(places.get(pid)),
        new ClaimReader(client, ApiCalls.standard()), () -> now);
  }

  /** A pod with these containers, by name, and the runtime's ids of them; gives the pod's UID. */
  private String create(String name, Map<String, String> ids) {
    Pod pod = client.resource(pod(name, ids)).create();
    client.resource(pod(name, ids)).updateStatus();
    return pod.getMetadata().getUid();
  }

  private static Pod pod(String name, Map<String, String> ids) {
    PodBuilder pod = new PodBuilder().withNewMetadata().withName(name).withNamespace("lab").endMetadata();
    ids.forEach((container, id) -> pod.editOrNewStatus().addNewContainerStatus().withName(container)
        .withContainerID("containerd://" + id).endContainerStatus().endStatus());
    return pod.build();
  }
}
