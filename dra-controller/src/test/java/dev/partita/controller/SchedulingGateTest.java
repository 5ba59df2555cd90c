package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.serving.access.FaultyApiServer.Fault;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSchedulingGroup;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SchedulingGateTest {
  private static final List<String> GATE = List.of(Driver.ALLOCATION_GATE);
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void theGateGoesOnceTheClaimIsAllocated() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("p", GATE, "c");
    eventually().until(() -> cluster.gates("p").isEmpty());
    assertThat(cluster.isAllocated("c")).isTrue();
  }

  @Test
  void aPodThatOthersHoldBackGetsNothingBeforeTheirLastGateGoes() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("held", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("held", List.of("example.com/first", Driver.ALLOCATION_GATE, "example.com/last"), "held");
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("p", GATE, "c");
    eventually().until(() -> cluster.gates("p").isEmpty());
    cluster.setGates("held", Driver.ALLOCATION_GATE, "example.com/last");
    cluster.claim("d", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("q", GATE, "d");
    eventually().until(() -> cluster.gates("q").isEmpty());
    assertThat(cluster.isAllocated("held")).isFalse();
    assertThat(cluster.gates("held")).hasSize(2);

    cluster.setGates("held", Driver.ALLOCATION_GATE);
    eventually().until(() -> cluster.gates("held").isEmpty());
    assertThat(cluster.isAllocated("held")).isTrue();
  }

  @Test
  void whatAnotherPodHasLeftToAPodThatOthersHoldBackIsForThoseWhoCanRun() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("of-both", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.pod("first", "of-both");
    cluster.result("of-both");
    cluster.gatedPod("held", List.of("example.com/other", Driver.ALLOCATION_GATE), "of-both");
    cluster.claim("p", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.gatedPod("p", GATE, "p");
    cluster.note("p", "Unallocatable");
    cluster.client.pods().inNamespace("default").withName("first").delete();
    cluster.result("p");
    assertThat(cluster.isAllocated("of-both")).isFalse();

    cluster.release("p");
    cluster.setGates("held");
    cluster.result("of-both");
  }

  @Test
  void claimsAreAllocatedWhileGatesOfOtherPodsAreStillBeingTakenOff() {
    cluster.add(GpuNodes.ready("node-0", 4, "NVIDIA H200", 140 * GpuNodes.GIB));
    CountDownLatch slow = new CountDownLatch(1);
    AtomicInteger asked = new AtomicInteger();
    cluster.start(
        request -> {
          if (request.method().equals("PATCH") && request.uri().getPath().contains("/pods/")
              && !request.uri().getPath().endsWith("/status")) {
            asked.incrementAndGet();
            awaitOpen(slow);
          }
        });
    List<String> names = IntStream.range(0, 20).mapToObj(i -> "p" + i).toList();
    names.forEach(name -> cluster.claim(name, "gpu.partita.dev", Map.of("memory", "8Gi")));
    names.forEach(name -> cluster.gatedPod(name, GATE, name));
    eventually().until(() -> names.stream().allMatch(cluster::isAllocated) && asked.get() > 0);
    assertThat(names).allSatisfy(name -> assertThat(cluster.gates(name)).isNotEmpty());
    slow.countDown();
    eventually().until(() -> names.stream().allMatch(name -> cluster.gates(name).isEmpty()));
  }

  @Test
  void claimsAreAllocatedWhileAWebhookForPodsOfOneNamespaceKeepsGatesFromBeingTakenOff() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.awaitOffered("node-0");
    AtomicInteger failed = new AtomicInteger();
    cluster.rules.fail(request -> {
      boolean isGate = "PATCH".equals(request.getMethod()) && request.getPath().contains("/pods/x-")
          && !request.getPath().contains("/status");
      return isGate && failed.incrementAndGet() > 0 ? Fault.BROKEN : Fault.NONE;
    });
    List<String> names = IntStream.range(0, 8).mapToObj(i -> "x-" + i).toList();
    names.forEach(name -> cluster.claim(name, "gpu.partita.dev", Map.of("memory", "8Gi")));
    names.forEach(name -> cluster.gatedPod(name, GATE, name));
    eventually().until(() -> failed.get() >= 12); // of the last 20 writes, so many let all of a kind pause for 5 s
    cluster.claim("y", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("y", "y");
    eventually().atMost(Duration.ofSeconds(4)).until(() -> cluster.isAllocated("y"));
    cluster.rules.fail(request -> Fault.NONE);
    eventually().until(() -> names.stream().allMatch(name -> cluster.gates(name).isEmpty()));
  }

  @Test
  void aGatedPodsOnlyClaimIsReservedForItWithTheAllocation() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    List.of("only", "two", "of-two", "ungated")
        .forEach(name -> cluster.claim(name, "gpu.partita.dev", Map.of("memory", "8Gi")));
    Pod only = cluster.gatedPod("only", GATE, "only");
    cluster.gatedPod("two", GATE, "two", "of-two");
    cluster.pod("ungated", "ungated");
    eventually().until(
        () -> cluster.gates("only").isEmpty() && cluster.gates("two").isEmpty() && cluster.isAllocated("ungated"));
    assertThat(cluster.reservedFor("only")).containsExactly(only.getMetadata().getUid());
    assertThat(List.of("two", "of-two", "ungated")).as("left to kube-scheduler")
        .allSatisfy(name -> assertThat(cluster.reservedFor(name)).isEmpty());
  }

  @Test
  void theClaimOfAPodOfAPodGroupIsLeftToKubeSchedulerToReserveForItMayBeThePodGroups() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.client.resource(PodGroupsOfTests.basic("default", "no-gang")).create();
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.client.resource(
        new PodBuilder().withNewMetadata().withName("p").withNamespace("default").endMetadata().withNewSpec()
            .withSchedulingGroup(new PodSchedulingGroup("no-gang"))
            .addNewSchedulingGate(Driver.ALLOCATION_GATE)
            .addNewResourceClaim().withName("gpu").withResourceClaimName("c").endResourceClaim().endSpec().build())
        .create();
    eventually().until(() -> cluster.gates("p").isEmpty());
    assertThat(cluster.isAllocated("c")).isTrue();
    assertThat(cluster.reservedFor("c")).isEmpty();
  }

  @Test
  void anAllocationWithItsReservationThatKubeSchedulerTakesBackGoesToAnotherNode() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("p", GATE, "c");
    eventually().until(() -> cluster.gates("p").isEmpty());
    String vetoed = cluster.result("c").getPool();
    cluster.deallocate("c");
    eventually().until(() -> cluster.isAllocated("c"));
    assertThat(cluster.result("c").getPool()).isNotEqualTo(vetoed);
    assertThat(cluster.reservedFor("c")).as("kube-scheduler is looking at the pod").isEmpty();
  }

  @Test
  void theGateOfAPodWhoseClaimIsMissingGoesHoweverFarTheClockIsBehind() {
    HeldClock clock = new HeldClock(Clock.systemUTC().instant().minus(Duration.ofDays(30)));
    cluster.start(clock);
    cluster.gatedPod("p", GATE, "missing");
    AtomicInteger minutes = new AtomicInteger();
    eventually().until(() -> {
      clock.advance(Duration.ofMinutes(1));
      cluster.client.pods().inNamespace("default").withName("p").patch(PatchContext.of(PatchType.JSON_MERGE),
          "{\"metadata\": {\"annotations\": {\"looked-at\": \"%d\"}}}".formatted(minutes.incrementAndGet()));
      return cluster.gates("p").isEmpty();
    });
  }

  @Test
  void theGateStaysWhileTheClaimWaits() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "800Gi"));
    cluster.gatedPod("huge", GATE, "huge");
    cluster.note("huge", "Unallocatable");
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("p", GATE, "c");
    eventually().until(() -> cluster.gates("p").isEmpty());
    assertThat(cluster.gates("huge")).containsExactly(Driver.ALLOCATION_GATE);
  }

  @Test
  void autoscalersSeePodsForWhichOneMoreNodeMayHelpAndThesePodsAreServedOnceItIsThere() {
    cluster.startAutoscaled();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.gatedPod("p", GATE, "c");
    eventually().until(() -> cluster.gates("p").isEmpty());
    assertThat(cluster.isAllocated("c")).as("no node is there yet").isFalse();
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    assertThat(cluster.result("c").getPool()).isEqualTo("node-0/gpu");

    cluster.claim("d", "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.gatedPod("q", GATE, "d");
    eventually().until(() -> cluster.gates("q").isEmpty());
    assertThat(cluster.isAllocated("d")).as("the node is full").isFalse();
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    assertThat(cluster.result("d").getPool()).isEqualTo("node-1/gpu");
  }

  @Test
  void autoscalersDoNotSeePodsForWhichOneMoreNodeWouldBeInVain() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.labelNamespace("team", "a");
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(
        new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
            List.of(new GpuQuotaSpec.Limit("", List.of(), null, new Amounts(new Quantity("150Gi"), null, null, null),
                Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
    cluster.startAutoscaled();
    cluster.claim("refused", "gpu.partita.dev", Map.of("speed", "1"));
    cluster.gatedPod("refused", GATE, "refused");
    cluster.claim("over-quota", "gpu.partita.dev", Map.of("memory", "151Gi"));
    cluster.gatedPod("over-quota", GATE, "over-quota");
    cluster.claim("held", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("held", List.of("example.com/other", Driver.ALLOCATION_GATE), "held");
    cluster.note("refused", "Unallocatable");
    cluster.note("over-quota", "Unallocatable");
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "141Gi"));
    cluster.gatedPod("huge", GATE, "huge");
    eventually().until(() -> cluster.gates("huge").isEmpty());
    assertThat(List.of("refused", "over-quota", "held")).allSatisfy(
        name -> assertThat(cluster.gates(name)).contains(Driver.ALLOCATION_GATE));
  }

  @Test
  void theGateGoesWhenNoClaimIsOurs() {
    cluster.client
        .resource(
            new DeviceClassBuilder().withNewMetadata().withName("nic").endMetadata().withNewSpec().endSpec().build())
        .create();
    cluster.start();
    cluster.claim("nic", "nic", Map.of());
    cluster.gatedPod("p", GATE, "nic");
    eventually().until(() -> cluster.gates("p").isEmpty());
    cluster.gatedPod("without", GATE);
    eventually().until(() -> cluster.gates("without").isEmpty());
  }

  @Test
  void theGateGoesWhereKubeSchedulerAllocates() {
    cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.gatedPod("p", GATE, "c");
    eventually().until(() -> cluster.gates("p").isEmpty());
    assertThat(cluster.isAllocated("c")).isFalse();
  }

  @Test
  void aGateThatWasLeftWhenTheControllerDiedGoesWhenItIsBack() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("c", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("first", "c");
    cluster.result("c");
    cluster.stopControllers();
    cluster.gatedPod("second", GATE, "c");
    cluster.start();
    eventually().until(() -> cluster.gates("second").isEmpty());
  }

  @Test
  void theGateOfAnOldPodWhoseClaimIsGoneIsRemovedSoThatKubeSchedulerSaysSo() {
    cluster.gatedPod("p", GATE, "gone");
    cluster.start();
    cluster.gatedPod("settled", GATE);
    eventually().until(() -> cluster.gates("settled").isEmpty());
    assertThat(cluster.gates("p")).as("its claim may still come").isEqualTo(GATE);
    cluster.stopControllers();
    cluster.start(Clock.offset(Clock.systemUTC(), Duration.ofHours(1)));
    eventually().until(() -> cluster.gates("p").isEmpty());
    assertThat(cluster.client.resources(ResourceClaim.class).inNamespace("default").list().getItems()).isEmpty();
  }

  static void awaitOpen(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
