package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PreemptionTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aPodOfHigherPriorityGetsTheRoomOfTheLeastImportantAndNobodyElseDoes() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    running("low", 1, "60Gi");
    running("middle", 5, "60Gi");
    pod("high", 10, "", "60Gi");
    eventually().until(() -> cluster.client.pods().inNamespace("default").withName("low").get() == null);
    pod("other", 5, "", "60Gi");
    eventually().untilAsserted(() -> assertThat(cluster.note("other", "Unallocatable")).startsWith("0 of 1 card fits"));
    assertThat(cluster.note("high", "Unallocatable")).startsWith("preempts default/low on node-0; 0 of 1 card fits");
    assertThat(cluster.client.pods().inNamespace("default").withName("middle").get()).isNotNull();
    cluster.deallocate("low");
    cluster.result("high");
    assertThat(cluster.isAllocated("other")).isFalse();
    eventually()
        .untilAsserted(
            () -> assertThat(cluster.client.resources(Event.class).inNamespace("default").list().getItems())
                .filteredOn(event -> "Preempted".equals(event.getReason()))
                .singleElement()
                .satisfies(
                    event -> {
                      assertThat(event.getRegarding().getName()).isEqualTo("low");
                      assertThat(event.getNote())
                          .isEqualTo(
                              "evicted to make room on node-0 for pod default/high, whose priority is 10 (this pod's: 1)");
                    }));
  }

  @Test
  void nobodyElseGoesForAPodWhoseVictimIsStillGoingWhenTheControllerIsStartedAnew() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    running("low", 1, "100Gi");
    running("middle", 5, "100Gi");
    finalizers("low", List.of("example.com/ends-slowly"));
    pod("high", 10, "", "100Gi");
    eventually().until(
        () -> cluster.client.pods().inNamespace("default").withName("low").get().getMetadata().getDeletionTimestamp()
            != null);
    cluster.stopControllers();
    cluster.start();
    pod("huge", 5, "", "600Gi"); // it is decided about after the other one
    eventually().untilAsserted(() -> assertThat(cluster.note("huge", "Unallocatable")).startsWith("asks 600 GiB"));
    cluster.awaitQuiet();
    assertThat(cluster.client.pods().inNamespace("default").withName("middle").get()).isNotNull();
    finalizers("low", List.of());
    cluster.deallocate("low");
    cluster.result("high");
    assertThat(evictions()).hasSize(1);
  }

  /** A pod that is being deleted is gone by the write that takes the last one off. */
  private void finalizers(String pod, List<String> finalizers) {
    eventually().ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(() -> cluster.client.pods().inNamespace("default").withName(pod).get() == null
            || cluster.client.pods().inNamespace("default").withName(pod).edit(
                its -> new PodBuilder(its).editMetadata().withFinalizers(finalizers).endMetadata().build()) != null);
  }

  @Test
  void whatAPodHasAlreadyIsKeptForItTooWhileOthersGo() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 200 * GpuNodes.GIB));
    cluster.start();
    running("low", 1, "60Gi");
    cluster.claim("first", "gpu.partita.dev", Map.of("memory", "80Gi"));
    cluster.client.resource(new PodBuilder().withNewMetadata().withName("both").withNamespace("default").endMetadata()
        .withNewSpec().withPriority(10)
        .addNewResourceClaim().withName("first").withResourceClaimName("first").endResourceClaim()
        .addNewResourceClaim().withName("second").withResourceClaimName("second").endResourceClaim()
        .endSpec().build()).create();
    cluster.pod("before", "first");
    cluster.result("first");
    cluster.client.pods().inNamespace("default").withName("before").delete();
    cluster.awaitGone("before");
    cluster.claim("second", "gpu.partita.dev", Map.of("memory", "70Gi"));
    eventually().until(() -> cluster.client.pods().inNamespace("default").withName("low").get() == null
        && !cluster.isAllocated("first"));
    pod("other", 5, "", "70Gi");
    eventually().until(() -> cluster.isAllocated("other") || !cluster.events("other", "Unallocatable").isEmpty());
    cluster.deallocate("low");
    cluster.result("second");
    assertThat(cluster.isAllocated("other")).isFalse();
  }

  @Test
  void whatIsKeptForAPodThatGoesIsForThoseWhoWait() {
    keptForHigh();
    cluster.client.pods().inNamespace("default").withName("high").delete();
    cluster.result("other");
  }

  @Test
  void whatIsKeptForAPodWhoseClaimGoesIsForThoseWhoWait() {
    keptForHigh();
    eventually()
        // the controller writes the pod's status at the same time
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(
            () -> {
              // There is nothing to tell whether the controller has seen that the claim is gone: it is told of the pod
              // until it has.
              String now = Long.toString(System.nanoTime());
              cluster.client.pods().inNamespace("default").withName("high")
                  .edit(pod -> new PodBuilder(pod).editMetadata().addToAnnotations("seen", now).endMetadata().build());
              return cluster.isAllocated("other");
            });
  }

  /** There is room, for pod low was evicted; it is kept for pod high, whose claim is gone; pod other waits for it. */
  private void keptForHigh() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    running("low", 1, "60Gi");
    running("middle", 5, "60Gi");
    pod("high", 10, "", "60Gi");
    eventually().until(() -> cluster.client.pods().inNamespace("default").withName("low").get() == null);
    pod("other", 5, "", "60Gi");
    eventually().untilAsserted(() -> assertThat(cluster.note("other", "Unallocatable")).startsWith("0 of 1 card fits"));
    cluster.client.resource(cluster.read("high")).delete();
    cluster.deallocate("low");
  }

  @Test
  void aPodThatNeverPreemptsWaits() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    running("low", 1, "100Gi");
    pod("patient", 10, "Never", "60Gi");
    pod("equal", 1, "", "60Gi");
    pod("huge", 10, "", "600Gi");
    for (String name : new String[]{"patient", "equal", "huge"}) {
      eventually().untilAsserted(() -> assertThat(cluster.note(name, "Unallocatable")).contains("0 of 1 card fits")
          .doesNotContain("preempts"));
    }
    assertThat(cluster.client.pods().inNamespace("default").withName("low").get()).isNotNull();
  }

  @Test
  void whomADisruptionBudgetProtectsIsNotEvictedButAnotherOneIs() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    running("protected", 1, "60Gi");
    running("middle", 5, "60Gi");
    cluster.rules.protect("protected");
    pod("high", 10, "", "60Gi");
    eventually().until(() -> cluster.client.pods().inNamespace("default").withName("middle").get() == null);
    assertThat(cluster.client.pods().inNamespace("default").withName("protected").get()).isNotNull();
  }

  @Test
  void forAPodForWhichManyMustGoAllOfThemGoAndItIsToldOfSome() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    List<String> names = IntStream.range(0, 10).mapToObj(i -> "low-" + i + "-" + "x".repeat(100)).toList();
    names.forEach(name -> running(name, 1, "14Gi"));
    pod("high", 10, "", "140Gi");
    eventually().untilAsserted(
        () -> assertThat(cluster.note("high", "Unallocatable")).startsWith("preempts default/low-")
            .contains(" and 7 more pods on node-0; 0 of 1 card fits"));
    eventually().until(() -> cluster.client.pods().inNamespace("default").list().getItems().size() == 1);
    names.forEach(cluster::deallocate);
    cluster.result("high");
  }

  @Test
  void whatIsBorrowedGoesBackToWhomItIsGuaranteed() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    guarantee("default", "70Gi", "70Gi");
    guarantee("b", "70Gi", "70Gi");
    cluster.start();
    running("own", 0, "60Gi");
    running("borrowed", 0, "60Gi");
    podInB("60Gi");
    eventually().until(() -> cluster.client.pods().inNamespace("default").list().getItems().size() == 1);
    eventually()
        .untilAsserted(
            () -> assertThat(cluster.client.resources(Event.class).inNamespace("default").list().getItems())
                .filteredOn(event -> "Preempted".equals(event.getReason()))
                .singleElement()
                .extracting(Event::getNote)
                .isEqualTo(
                    "evicted to make room on node-0 for pod " + uidOf("b", "b")
                        + ", to whose namespace a quota guarantees what this pod borrows"));
  }

  @Test
  void neitherSideHearsMoreOfAPodOfAnotherNamespaceThanItsUid() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    guarantee("b", "100Gi", "0");
    guarantee("default", "40Gi", "60Gi");
    cluster.start();
    running("secret-name", 0, "100Gi");
    String victim = uidOf("default", "secret-name");
    podInB("100Gi");
    eventually()
        .untilAsserted(
            () -> assertThat(cluster.client.resources(Event.class).inNamespace("b").list().getItems())
                .extracting(Event::getNote)
                .anyMatch(note -> note.startsWith("preempts pod " + victim + " on node-0")));
    for (String namespace : List.of("b", "default")) {
      String others = namespace.equals("b") ? "secret-name" : "b/b";
      assertThat(cluster.client.resources(Event.class).inNamespace(namespace).list().getItems())
          .extracting(Event::getNote)
          .noneMatch(note -> note.contains(others));
    }
  }

  private String uidOf(String namespace, String pod) {
    return cluster.client.pods().inNamespace(namespace).withName(pod).get().getMetadata().getUid();
  }

  /** They all began in the same second, as far as times tell. */
  @Test
  void noMoreIsTakenBackThanIsBorrowed() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    guarantee("default", "105Gi", "35Gi");
    guarantee("b", "30Gi", "30Gi");
    cluster.start();
    for (int i = 0; i < 3; i++) {
      running("own" + i, 0, "35Gi");
    }
    running("borrowed", 0, "30Gi");
    podInB("30Gi");
    eventually().until(() -> cluster.client.pods().inNamespace("default").withName("borrowed").get() == null);
    assertThat(cluster.client.pods().inNamespace("default").list().getItems()).hasSize(3);
  }

  /** More is guaranteed than there is: to take that from one for the other would go to and fro. */
  @Test
  void whatIsGuaranteedToTheOtherNamespaceIsLeftToIt() {
    fourOfWhichOneIsBorrowed();
    podInB("70Gi"); // of which 35 are borrowed
    eventually()
        .untilAsserted(() -> assertThat(notes()).anySatisfy(note -> assertThat(note).startsWith("0 of 1 card fits")));
    podInB("c", "35Gi"); // which are to be had: it is looked at later than the other one
    eventually().until(() -> cluster.client.pods().inNamespace("default").list().getItems().size() == 3);
    assertThat(notes()).noneSatisfy(note -> assertThat(note).matches("preempts \\S+, .*"));
  }

  @Test
  void whatIsBorrowedOnceIsTakenBackOnce() {
    fourOfWhichOneIsBorrowed();
    podInB("b", "35Gi");
    // its claim is not free yet
    eventually().until(() -> cluster.client.pods().inNamespace("default").list().getItems().size() == 3);
    podInB("c", "35Gi");
    eventually()
        .untilAsserted(() -> assertThat(notes()).anySatisfy(note -> assertThat(note).startsWith("0 of 1 card fits")));
    assertThat(cluster.client.pods().inNamespace("default").list().getItems()).hasSize(3);
  }

  @Test
  void whatIsGuaranteedOnceIsTakenBackForOnePodOnly() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 70 * GpuNodes.GIB));
    guarantee("default", "70Gi", "70Gi");
    guarantee("b", "35Gi", "70Gi");
    cluster.start();
    for (int i = 0; i < 4; i++) {
      running("pod" + i, 0, "35Gi");
    }
    podInB("b", "35Gi");
    // its claim is not free yet
    eventually().until(() -> cluster.client.pods().inNamespace("default").list().getItems().size() == 3);
    podInB("c", "35Gi");
    eventually()
        .untilAsserted(() -> assertThat(notes()).anySatisfy(note -> assertThat(note).startsWith("0 of 2 cards fit")));
    assertThat(cluster.client.pods().inNamespace("default").list().getItems()).hasSize(3);
  }

  @Test
  void whatIsBorrowedGoesBackToAGangForAllOfItsPods() {
    fourOfWhichTwoAreBorrowed("70Gi");
    gangInB("35Gi", "35Gi");
    eventually().until(() -> cluster.client.pods().inNamespace("default").list().getItems().size() == 2);
    eventually()
        .untilAsserted(
            () -> assertThat(evictions())
                .hasSize(2)
                .allSatisfy(note -> assertThat(note).endsWith("a quota guarantees what this pod borrows")));
  }

  /**
   * One of its pods alone would be within the guarantee, and the other one has a place once there is one for the first.
   */
  @Test
  void nothingIsTakenBackForAGangThatWouldItselfBorrow() {
    fourOfWhichTwoAreBorrowed("40Gi");
    gangInB("40Gi", "30Gi");
    eventually().untilAsserted(
        () -> assertThat(notes()).anySatisfy(note -> assertThat(note).startsWith("gang train: waits for pod")));
    podInB("c", "35Gi"); // it is looked at later than the gang
    eventually().until(() -> cluster.client.pods().inNamespace("default").list().getItems().size() == 3);
    eventually()
        .untilAsserted(() -> assertThat(evictions()).singleElement().asString().contains("for pod " + uidOf("b", "c")));
  }

  /** Two cards are full of four pods of a namespace to which two of them are guaranteed. */
  private void fourOfWhichTwoAreBorrowed(String guaranteedToB) {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 70 * GpuNodes.GIB));
    guarantee("default", "70Gi", "70Gi");
    guarantee("b", guaranteedToB, "70Gi");
    cluster.start();
    for (int i = 0; i < 4; i++) {
      running("pod" + i, 0, "35Gi");
    }
  }

  private void gangInB(String... memory) {
    for (int i = 0; i < memory.length; i++) {
      podInB("t" + i, memory[i],
          Map.of(Driver.GANG_ANNOTATION, "train", Driver.GANG_SIZE_ANNOTATION, Integer.toString(memory.length)));
    }
  }

  private List<String> evictions() {
    return cluster.client.resources(Event.class).inNamespace("default").list().getItems().stream()
        .filter(event -> "Preempted".equals(event.getReason()))
        .map(Event::getNote)
        .toList();
  }

  /** The card is full of four pods of a namespace to which three of them are guaranteed; to namespace b two are. */
  private void fourOfWhichOneIsBorrowed() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    guarantee("default", "105Gi", "35Gi");
    guarantee("b", "70Gi", "0");
    cluster.start();
    for (int i = 0; i < 4; i++) {
      running("pod" + i, 0, "35Gi");
    }
  }

  private List<String> notes() {
    return cluster.client.resources(Event.class).inNamespace("b").list().getItems().stream().map(Event::getNote)
        .toList();
  }

  private void guarantee(String namespace, String guaranteed, String burst) {
    cluster.client.resource(new NamespaceBuilder().withNewMetadata().withName(namespace).addToLabels("name", namespace)
        .endMetadata().build()).create();
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("of-" + namespace);
    quota.setSpec(
        new GpuQuotaSpec(
            new LabelSelectorBuilder().addToMatchLabels("name", namespace).build(),
            List.of(new GpuQuotaSpec.Limit("", List.of(), null, memory(guaranteed), memory(burst)))));
    cluster.client.resource(quota).create();
  }

  private void podInB(String memory) {
    podInB("b", memory);
  }

  private void podInB(String name, String memory) {
    podInB(name, memory, Map.of());
  }

  /** In namespace b. */
  private void podInB(String name, String memory, Map<String, String> annotations) {
    ResourceClaim claim = cluster.claim("made", "gpu.partita.dev", Map.of("memory", memory));
    cluster.client.resource(claim).delete();
    cluster.client
        .resource(new ResourceClaimBuilder().withNewMetadata().withName(name).withNamespace("b").endMetadata()
            .withSpec(claim.getSpec()).build())
        .create();
    cluster.client
        .resource(
            new PodBuilder()
                .withNewMetadata().withName(name).withNamespace("b").withAnnotations(annotations).endMetadata()
                .withNewSpec().addNewResourceClaim().withName("gpu").withResourceClaimName(name).endResourceClaim()
                .endSpec()
                .build())
        .create();
  }

  private static Amounts memory(String quantity) {
    return new Amounts(new Quantity(quantity), null, null, null);
  }

  @Test
  void autoscalersDoNotSeeAPodForWhichOthersAreEvicted() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.startAutoscaled();
    running("low", 1, "100Gi");
    gated("high", 10);
    eventually().until(() -> cluster.client.pods().inNamespace("default").withName("low").get() == null);
    gated("same", 1);
    eventually().until(() -> cluster.gates("same").isEmpty());
    assertThat(cluster.gates("high")).containsExactly(Driver.ALLOCATION_GATE);
    cluster.deallocate("low");
    cluster.result("high");
  }

  private void gated(String name, int priority) {
    cluster.claim(name, "gpu.partita.dev", Map.of("memory", "100Gi"));
    cluster.client.resource(
        new PodBuilder().withNewMetadata().withName(name).withNamespace("default").endMetadata().withNewSpec()
            .withPriority(priority).addNewSchedulingGate(Driver.ALLOCATION_GATE).addNewResourceClaim().withName("gpu")
            .withResourceClaimName(name).endResourceClaim().endSpec().build())
        .create();
  }

  /** A pod that has its claim and runs. */
  private void running(String name, int priority, String memory) {
    pod(name, priority, "", memory);
    cluster.reserveAndBind(name, "node-0");
  }

  private void pod(String name, int priority, String policy, String memory) {
    cluster.claim(name, "gpu.partita.dev", Map.of("memory", memory));
    PodBuilder pod =
        new PodBuilder()
            .withNewMetadata().withName(name).withNamespace("default").endMetadata()
            .withNewSpec()
            .withPriority(priority)
            .addNewResourceClaim().withName("gpu").withResourceClaimName(name).endResourceClaim()
            .endSpec();
    if (!policy.isEmpty()) {
      pod.editSpec().withPreemptionPolicy(policy).endSpec();
    }
    cluster.client.resource(pod.build()).create();
  }
}
