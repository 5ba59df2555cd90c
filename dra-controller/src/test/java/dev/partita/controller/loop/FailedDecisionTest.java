package dev.partita.controller.loop;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.controller.Cluster;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.publish.PublicationLoop;
import dev.partita.controller.turns.SetAside;
import dev.partita.controller.watch.ClusterView;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A decision that ends in an error concerns its own pod, or gang, and nobody else. */
class FailedDecisionTest {
  private final Cluster cluster = Cluster.empty();
  private final ApiEdge edge = new ApiEdge(() -> true);
  private final ClusterView view = new ClusterView(cluster.client);
  private final PublicationLoop publication = new PublicationLoop(cluster.client, edge, view, Clock.systemUTC(), 0);
  private Optional<AllocationLoop> started = Optional.empty();

  /** What decisions about these pods end in, by name. */
  private final Map<String, Failure> failing = new ConcurrentHashMap<>();

  /** Until when decisions about these pods do not come back, by name. */
  private final Map<String, CountDownLatch> hanging = new ConcurrentHashMap<>();

  private final List<Instant> attempts = Collections.synchronizedList(new ArrayList<>());

  enum Failure {
    STACK,
    ASSERTION,
    CLASS,
    EXCEPTION;

    void happen() {
      switch (this) {
        case STACK -> throw new StackOverflowError();
        case ASSERTION -> throw new AssertionError();
        case CLASS -> throw new NoClassDefFoundError("dev/cel/Missing");
        case EXCEPTION -> throw new IllegalStateException();
      }
    }
  }

  private void hangOrFail(Pod pod) {
    Optional.ofNullable(hanging.get(pod.getMetadata().getName())).ifPresent(FailedDecisionTest::await);
    Optional<Failure> failure = Optional.ofNullable(failing.get(pod.getMetadata().getName()));
    if (failure.isPresent()) {
      attempts.add(Instant.now());
      failure.get().happen();
    }
  }

  @AfterEach
  void close() {
    cluster.awaitQuiet();
    started.ifPresent(AllocationLoop::close);
    publication.close();
    view.close();
    cluster.close();
  }

  private AllocationLoop start(int cards) {
    return start(cards, SetAside.FIRST);
  }

  private AllocationLoop start(int cards, Duration afterFailure) {
    cluster.add(GpuNodes.ready("node-0", cards, "NVIDIA H200", 140 * GpuNodes.GIB));
    view.start();
    publication.start();
    eventually().until(() -> view.slices("node-0").size() == 1 && view.deviceClass("gpu.partita.dev") != null
        && view.deviceClass("whole.gpu.partita.dev") != null);
    AllocationLoop loop = new AllocationLoop(cluster.client, edge, view, Clock.systemUTC(), "test", false,
        decider -> new WatchedDecider(decider, this::hangOrFail), afterFailure);
    started = Optional.of(loop);
    loop.start();
    return loop;
  }

  @ParameterizedTest
  @EnumSource(Failure.class)
  void setsThePodAsideWhichSaysSoAndIsTriedAgainWhileOthersAreServed(Failure failure) {
    start(1);
    failing.put("bad", failure);
    cluster.claim("bad", "gpu.partita.dev", Map.of("memory", "1Gi"));
    cluster.pod("bad", "bad");
    eventually().until(() -> !attempts.isEmpty());
    cluster.claim("good", "gpu.partita.dev", Map.of("memory", "1Gi"));
    cluster.pod("good", "good");
    eventually().until(() -> cluster.isAllocated("good"));
    eventually().untilAsserted(() -> assertThat(notes("bad"))
        .anySatisfy(note -> assertThat(note).startsWith("could not be decided: the controller failed (")));
    eventually()
        .untilAsserted(() -> assertThat(condition("bad")).startsWith("could not be decided: the controller failed ("));
    assertThat(cluster.isAllocated("bad")).isFalse();
    failing.clear();
    eventually().until(() -> cluster.isAllocated("bad"));
  }

  @Test
  void isFollowedByAPauseThatGrowsWhateverHappensMeanwhile() {
    start(1);
    failing.put("bad", Failure.STACK);
    cluster.claim("bad", "gpu.partita.dev", Map.of("memory", "1Gi"));
    cluster.pod("bad", "bad");
    for (int i = 0; attempts.size() < 4; i++) {
      String label = Integer.toString(i);
      cluster.client
          .resources(ResourceClaim.class)
          .inNamespace("default")
          .withName("bad")
          .edit(claim -> new ResourceClaimBuilder(claim).editMetadata().addToLabels("touched", label).endMetadata()
              .build());
    }
    for (int i = 1; i < 4; i++) {
      assertThat(Duration.between(attempts.get(i - 1), attempts.get(i)))
          .isGreaterThanOrEqualTo(Duration.ofMillis(450L << (i - 1)));
    }
  }

  @Test
  void thatDoesNotComeBackIsToldToTheLivenessProbeUntilItDoes() {
    AllocationLoop loop = start(1);
    CountDownLatch back = new CountDownLatch(1);
    hanging.put("slow", back);
    cluster.claim("slow", "gpu.partita.dev", Map.of("memory", "1Gi"));
    cluster.pod("slow", "slow");
    Duration most = Duration.ofMillis(500);
    eventually()
        .untilAsserted(
            () -> assertThat(loop.stuck(most))
                .hasValueSatisfying(
                    words -> assertThat(words).startsWith("the thread that decides about pods has been busy")));
    back.countDown();
    eventually().until(() -> cluster.isAllocated("slow"));
    eventually().until(() -> loop.stuck(most).isEmpty());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void ofOneOfAGangLeavesNothingTakenForTheOthers() {
    start(2);
    failing.put("member-1", Failure.STACK);
    for (int i = 0; i < 2; i++) {
      cluster.claim("member-" + i, "whole.gpu.partita.dev", Map.of());
      cluster.client.resource(member("member-" + i)).create();
    }
    eventually().until(() -> !attempts.isEmpty());
    for (int i = 0; i < 2; i++) {
      cluster.claim("other-" + i, "whole.gpu.partita.dev", Map.of());
      cluster.pod("other-" + i, "other-" + i);
    }
    eventually().until(() -> cluster.isAllocated("other-0") && cluster.isAllocated("other-1"));
    assertThat(cluster.isAllocated("member-0")).isFalse();
  }

  @Test
  void ofAGangHasNoPauseForAGangThatIsMadeAnewUnderItsName() {
    start(2, Duration.ofMinutes(10));
    failing.put("member-1", Failure.EXCEPTION);
    for (int i = 0; i < 2; i++) {
      cluster.claim("member-" + i, "whole.gpu.partita.dev", Map.of());
      cluster.client.resource(member("member-" + i)).create();
    }
    eventually().until(() -> !attempts.isEmpty());
    failing.clear();
    for (int i = 0; i < 2; i++) {
      cluster.client.pods().inNamespace("default").withName("member-" + i).delete();
    }
    for (int i = 0; i < 2; i++) {
      cluster.client.resource(member("member-" + i)).create();
    }
    eventually().until(() -> cluster.isAllocated("member-0") && cluster.isAllocated("member-1"));
  }

  private static Pod member(String name) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("default")
        .withAnnotations(Map.of(Driver.GANG_ANNOTATION, "g", Driver.GANG_SIZE_ANNOTATION, "2"))
        .endMetadata()
        .withNewSpec()
        .addNewResourceClaim()
        .withName("gpu")
        .withResourceClaimName(name)
        .endResourceClaim()
        .endSpec()
        .build();
  }

  private List<String> notes(String claim) {
    return cluster.client.resources(Event.class).inNamespace("default").list().getItems().stream()
        .filter(event -> claim.equals(event.getRegarding().getName()))
        .map(Event::getNote)
        .toList();
  }

  private String condition(String pod) {
    var status = cluster.client.pods().inNamespace("default").withName(pod).get().getStatus();
    return status == null
        ? ""
        : status.getConditions().stream().filter(c -> c.getType().equals(Driver.ALLOCATED_CONDITION))
            .map(PodCondition::getMessage).findFirst().orElse("");
  }
}
