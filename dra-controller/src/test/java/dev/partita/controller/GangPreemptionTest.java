package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two cards, and gangs that need both. */
class GangPreemptionTest {
  private final Cluster cluster = Cluster.empty();

  @BeforeEach
  void start() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aGangOfHigherPriorityGetsTheRoomOfAllWhoAreInItsWayAndNobodyElseDoes() {
    running("low0", 1);
    running("low1", 1);
    gang(10, "t0", "t1");
    eventually().until(() -> isGone("low0") && isGone("low1"));
    eventually()
        .untilAsserted(
            () -> assertThat(evictions()).hasSize(2).allSatisfy(
                note -> assertThat(note).contains("for pod default/t", "whose priority is 10 (this pod's: 1)")));
    eventually()
        .untilAsserted(() -> assertThat(cluster.note("t0", "Unallocatable"))
            .startsWith("gang train: preempts default/low").contains("; preempts default/low"));
    pod("other", 5, Map.of());
    cluster.deallocate("low0");
    eventually().untilAsserted(() -> assertThat(cluster.note("other", "Unallocatable")).startsWith("0 of 2 cards fit"));
    assertThat(cluster.isAllocated("t0")).as("one card is free, and kept").isFalse();
    assertThat(cluster.isAllocated("t1")).isFalse();
    cluster.deallocate("low1");
    assertThat(List.of(cluster.result("t0").getDevice(), cluster.result("t1").getDevice()))
        .containsExactlyInAnyOrder("gpu-0-shared", "gpu-1-shared");
    assertThat(cluster.isAllocated("other")).isFalse();
  }

  @Test
  void whatSomeOfAGangNeedNobodyToGoForIsKeptForThem() {
    running("low", 1);
    gang(10, "t0", "t1");
    eventually().until(() -> isGone("low"));
    pod("other", 5, Map.of());
    eventually().untilAsserted(() -> assertThat(cluster.note("other", "Unallocatable")).startsWith("0 of 2 cards fit"));
    cluster.deallocate("low");
    cluster.result("t0");
    cluster.result("t1");
    assertThat(cluster.isAllocated("other")).isFalse();
  }

  @Test
  void forPodsThatShareAClaimNoMoreGoThanItTakes() {
    running("low0", 1);
    running("low1", 1);
    cluster.claim("both", "gpu.partita.dev", Map.of("memory", "100Gi"));
    for (String pod : List.of("t0", "t1")) {
      podOf(pod, 10, Map.of(Driver.GANG_ANNOTATION, "train", Driver.GANG_SIZE_ANNOTATION, "2"), "both");
    }
    eventually().until(() -> isGone("low0") || isGone("low1"));
    String gone = isGone("low0") ? "low0" : "low1";
    eventually()
        // the controller writes the pod's status at the same time
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> cluster.client.pods().inNamespace("default").withName("t1")
            .edit(pod -> new PodBuilder(pod).editMetadata().addToLabels("looked", "at").endMetadata().build()) != null);
    cluster.awaitQuiet();
    cluster.deallocate(gone);
    cluster.result("both");
    eventually()
        .untilAsserted(() -> assertThat(evictions()).singleElement().asString().startsWith("evicted to make room"));
  }

  @Test
  void nobodyGoesForAGangThatDoesNotFitAllTheSame() {
    running("low", 1);
    running("important", 50);
    gang(10, "t0", "t1");
    laterOneEvicts();
    eventually().until(() -> isGone("low"));
    eventually()
        .untilAsserted(() -> assertThat(evictions()).singleElement().asString().contains("for pod default/later"));
  }

  @Test
  void nobodyGoesForAGangWhileADisruptionBudgetProtectsOneOfThem() {
    running("free", 1);
    running("protected", 1);
    cluster.rules.protect("protected");
    gang(10, "t0", "t1");
    laterOneEvicts();
    eventually().until(() -> isGone("free"));
    eventually()
        .untilAsserted(() -> assertThat(evictions()).singleElement().asString().contains("for pod default/later"));
  }

  @Test
  void whatSomeOfAGangHaveAlreadyIsKeptForThemTooWhileOthersGo() {
    running("low", 1);
    pod("t0", 10, Map.of());
    cluster.result("t0");
    Map<String, String> train = Map.of(Driver.GANG_ANNOTATION, "train", Driver.GANG_SIZE_ANNOTATION, "2");
    pod("t1", 10, train);
    eventually().untilAsserted(() -> assertThat(cluster.note("t1", "Unallocatable")).contains("1 of 2 pods are there"));
    eventually().ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> cluster.client.pods().inNamespace("default").withName("t0").edit(pod -> new PodBuilder(pod)
            .editMetadata().addToAnnotations(train).endMetadata().build()) != null);
    eventually().until(() -> isGone("low") && !cluster.isAllocated("t0"));
    pod("other", 5, Map.of());
    eventually().until(() -> cluster.isAllocated("other") || !cluster.events("other", "Unallocatable").isEmpty());
    cluster.deallocate("low");
    cluster.result("t0");
    cluster.result("t1");
    assertThat(cluster.isAllocated("other")).isFalse();
  }

  @Test
  void nothingIsKeptForAGangThatIsNotCompleteAnyMore() {
    running("low0", 1);
    running("low1", 1);
    gang(10, "t0", "t1");
    eventually().until(() -> isGone("low0") && isGone("low1"));
    pod("other", 5, Map.of());
    eventually().untilAsserted(() -> assertThat(cluster.note("other", "Unallocatable")).startsWith("0 of 2 cards fit"));
    cluster.client.pods().inNamespace("default").withName("t1").delete();
    cluster.deallocate("low0");
    cluster.result("other");
  }

  /**
   * Evictions are begun one after the other: this one when the gang has been looked at, and is over when what was begun
   * for the gang is.
   */
  private void laterOneEvicts() {
    eventually().untilAsserted(() -> assertThat(cluster.note("t1", "Unallocatable")).startsWith("gang train: "));
    pod("later", 10, Map.of());
  }

  private void gang(int priority, String... pods) {
    for (String pod : pods) {
      pod(pod, priority,
          Map.of(Driver.GANG_ANNOTATION, "train", Driver.GANG_SIZE_ANNOTATION, Integer.toString(pods.length)));
    }
  }

  /** A pod that has most of a card, and runs. */
  private void running(String name, int priority) {
    pod(name, priority, Map.of());
    cluster.reserveAndBind(name, "node-0");
  }

  private void pod(String name, int priority, Map<String, String> annotations) {
    cluster.claim(name, "gpu.partita.dev", Map.of("memory", "100Gi"));
    podOf(name, priority, annotations, name);
  }

  private void podOf(String name, int priority, Map<String, String> annotations, String claim) {
    cluster.client
        .resource(
            new PodBuilder()
                .withNewMetadata().withName(name).withNamespace("default").withAnnotations(annotations).endMetadata()
                .withNewSpec()
                .withPriority(priority)
                .addNewResourceClaim().withName("gpu").withResourceClaimName(claim).endResourceClaim()
                .endSpec()
                .build())
        .create();
  }

  private boolean isGone(String pod) {
    return cluster.client.pods().inNamespace("default").withName(pod).get() == null;
  }

  private List<String> evictions() {
    return cluster.client.resources(Event.class).inNamespace("default").list().getItems().stream()
        .filter(event -> "Preempted".equals(event.getReason()))
        .map(Event::getNote)
        .toList();
  }
}
