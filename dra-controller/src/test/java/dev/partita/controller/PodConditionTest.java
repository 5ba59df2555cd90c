package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.events.AllocatedCondition;
import dev.partita.controller.events.PodConditions;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a pod says of its claims while they wait, and afterwards. */
class PodConditionTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  private Optional<PodCondition> condition(String pod) {
    var status = cluster.client.pods().inNamespace("default").withName(pod).get().getStatus();
    return status == null
        ? Optional.empty()
        : status.getConditions().stream().filter(c -> c.getType().equals(Driver.ALLOCATED_CONDITION)).findFirst();
  }

  private PodCondition awaitStatus(String pod, String status) {
    eventually().until(() -> condition(pod).filter(c -> status.equals(c.getStatus())).isPresent());
    return condition(pod).orElseThrow();
  }

  @Test
  void aPodThatWaitsSaysWhyAndThatItsWaitIsOver() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.holdWholeCard("first");
    cluster.claim("second", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("second", "second");
    PodCondition waits = awaitStatus("second", "False");
    assertThat(waits.getReason()).isEqualTo("Unallocatable");
    assertThat(waits.getMessage()).isEqualTo("0 of 1 card fits: 1 card on node-0: taken as a whole");
    assertThat(waits.getLastTransitionTime()).isNotBlank();
    assertThat(condition("first")).as("it never had to wait").isEmpty();
    cluster.release("first");
    PodCondition over = awaitStatus("second", "True");
    assertThat(over.getReason()).isEqualTo("Allocated");
    assertThat(over.getMessage()).isEqualTo("on node-0");
  }

  @Test
  void whatItSaysStaysCurrentWhenMoreIsTakenWhateverTheTimeOfDayIs() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    HeldClock clock = new HeldClock(Instant.now());
    cluster.start(clock);
    cluster.claim("first", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.pod("first", "first");
    cluster.result("first");
    cluster.claim("second", "gpu.partita.dev", Map.of("memory", "80Gi"));
    cluster.pod("second", "second");
    assertThat(awaitStatus("second", "False").getMessage()).contains("40 GiB free of 80 GiB asked");
    clock.advance(Duration.ofHours(-1)); // it was wrong, and is put right
    cluster.claim("third", "gpu.partita.dev", Map.of("memory", "30Gi"));
    cluster.pod("third", "third");
    eventually().untilAsserted(
        () -> assertThat(condition("second").orElseThrow().getMessage()).contains("10 GiB free of 80 GiB asked"));
  }

  @Test
  void whatCouldNotBeWrittenIsSaidLaterThoughNothingMoreHappens() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.holdWholeCard("first");
    cluster.claim("second", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("second", "second");
    awaitStatus("second", "False");
    cluster.rules.forbid("/pods/second/status");
    cluster.release("first");
    eventually().until(() -> cluster.rules.refusals() > 0);
    assertThat(condition("second").orElseThrow().getStatus()).isEqualTo("False");
    cluster.rules.permit("/pods/second/status");
    assertThat(awaitStatus("second", "True").getMessage()).isEqualTo("on node-0");
  }

  @Test
  void itSaysThatItsWaitIsOverThoughTheWatchDoesNotShowYetThatItWaited() {
    ApiEdge edge = new ApiEdge(() -> true);
    Pod pod = cluster.client.resource(new PodBuilder(cluster.pod("p")).withNewStatus()
        .addNewCondition().withType(Driver.ALLOCATED_CONDITION).withStatus("True").withReason("Allocated")
        .withMessage("on node-0").endCondition().endStatus().build()).updateStatus();
    HeldClock monotonicClock = new HeldClock(Instant.EPOCH);
    try (ClusterView view = new ClusterView(cluster.client);
        PodConditions conditions = new PodConditions(cluster.client, edge, view, Clock.systemUTC(), monotonicClock)) {
      view.start();
      cluster.rules.delay(changed -> changed.getMetadata().getName().equals("p"));
      conditions.tell(pod, AllocatedCondition.waits("kube-scheduler has taken it back"));
      awaitStatus("p", "False");
      monotonicClock.advance(Duration.ofMinutes(1)); // however long the watch is behind
      conditions.tell(pod, AllocatedCondition.done("on node-0"));
      awaitStatus("p", "True");
      cluster.rules.tellAll();
      cluster.awaitQuiet();
    }
  }

  @Test
  void aClaimThatIsWrongIsNamedOnItsPod() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("wrong", "gpu.partita.dev", Map.of("tflops", "8"));
    cluster.pod("p", "wrong");
    PodCondition refused = awaitStatus("p", "False");
    assertThat(refused.getReason()).isEqualTo("ClaimRefused");
    assertThat(refused.getMessage())
        .startsWith("claim wrong: spec.devices.requests[0].exactly.capacity.requests[tflops]: ");
  }

  @Test
  void aClaimThatGoesWhileThePodWaitsIsMissingUntilItIsThereAgain() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "200Gi"));
    cluster.pod("huge", "huge");
    awaitStatus("huge", "False");
    cluster.client.resources(ResourceClaim.class).inNamespace("default").withName("huge").delete();
    PodCondition missing = awaitStatus("huge", "Unknown");
    assertThat(missing.getReason()).isEqualTo("ClaimMissing");
    assertThat(missing.getMessage()).startsWith("a claim that the pod names does not exist, or is being deleted");
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "8Gi"));
    assertThat(awaitStatus("huge", "True").getMessage()).isEqualTo("on node-0");
  }

  @Test
  void theReasonFollowsTheClusterAndIsNotWrittenAgainWhileItStands() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "200Gi"));
    cluster.pod("huge", "huge");
    String before = awaitStatus("huge", "False").getMessage();
    String version =
        cluster.client.pods().inNamespace("default").withName("huge").get().getMetadata().getResourceVersion();
    // Everything that happens to the cards has waiting pods decided about anew.
    for (String other : List.of("a", "b", "c")) {
      cluster.claim(other, "gpu.partita.dev", Map.of("memory", "1Gi"));
      cluster.pod(other, other);
      cluster.result(other);
      cluster.client.pods().inNamespace("default").withName(other).delete();
      eventually().until(() -> !cluster.isAllocated(other)); // nobody had reserved it
    }
    assertThat(cluster.client.pods().inNamespace("default").withName("huge").get().getMetadata().getResourceVersion())
        .isEqualTo(version);
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H100", 80 * GpuNodes.GIB));
    eventually().until(() -> condition("huge")
        .map(c -> !c.getMessage().equals(before) && c.getMessage().contains("node-1")).orElse(false));
    assertThat(condition("huge").orElseThrow().getStatus()).isEqualTo("False");
  }
}
