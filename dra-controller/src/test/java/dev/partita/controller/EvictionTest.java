package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.commit.Evictor;
import dev.partita.controller.commit.WriteListener;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.events.PodEvents;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.state.Nomination;
import dev.partita.controller.state.Victim;
import dev.partita.serving.access.FaultyApiServer.Fault;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.lang.reflect.Proxy;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EvictionTest {
  private final ApiEdge edge = new ApiEdge(() -> true);
  private final Cluster cluster = Cluster.empty();
  private final ConcurrentLinkedQueue<Object> refused = new ConcurrentLinkedQueue<>(); // UIDs
  private final ConcurrentLinkedQueue<Object> notSent = new ConcurrentLinkedQueue<>(); // UIDs
  private final WriteListener listener = (WriteListener) Proxy.newProxyInstance(getClass().getClassLoader(),
      new Class<?>[]{WriteListener.class}, (_, method, arguments) -> {
        (method.getName().equals("evictionNotSent") ? notSent : refused).add(arguments[2]);
        return null;
      });

  private volatile Function<Nomination, Nomination.Standing> standing = _ -> Nomination.Standing.KEPT;

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aVictimIsToldOfItsEviction() {
    evict(cluster.pod("victim").getMetadata().getUid());
    assertThat(cluster.client.pods().inNamespace("default").withName("victim").get()).isNull();
    assertThat(refused).isEmpty();
    assertThat(notes()).singleElement().asString().startsWith("evicted to make room on node-0");
  }

  @Test
  void nobodyIsToldOfAnEvictionWhereAnotherPodHasTheVictimsName() {
    cluster.pod("victim");
    evict("uid-before");
    assertThat(cluster.client.pods().inNamespace("default").withName("victim").get()).isNotNull();
    assertThat(refused).as("the victim is gone").isEmpty();
    assertThat(notes()).isEmpty();
  }

  @Test
  void aVictimThatIsStillThereAfterAConflictWasNotEvicted() {
    Pod victim = cluster.pod("victim");
    cluster.rules.fail(request -> request.getPath().endsWith("/eviction") ? Fault.CONFLICT : Fault.NONE);
    evict(victim.getMetadata().getUid());
    assertThat(refused).containsExactly(victim.getMetadata().getUid());
    assertThat(notes()).isEmpty();
  }

  /** On trial each of them may go. */
  @Test
  void nobodyGoesWhereADisruptionBudgetAllowsFewerThanAreToGoTogether() {
    List<Pod> victims = List.of(served("first", "True"), served("second", "True"));
    cluster.rules.allowDisruptions(1);
    budget(1);
    evict(victims);
    assertThat(victims).allSatisfy(victim -> assertThat(cluster.client.resource(victim).get()).isNotNull());
    assertThat(refused).containsExactly(victims.get(1).getMetadata().getUid());
    cluster.rules.allowDisruptions(2);
    budget(2);
    evict(victims);
    assertThat(victims).allSatisfy(victim -> assertThat(cluster.client.resource(victim).get()).isNull());
    assertThat(refused).hasSize(1);
  }

  @Test
  void aPodThatServesNobodyTakesNothingOffADisruptionBudget() {
    List<Pod> victims = List.of(served("ready", "True"), served("unready", "False"));
    budget(1);
    evict(victims);
    assertThat(refused).isEmpty();
  }

  @Test
  void podsOfOtherLabelsTakeNothingOffADisruptionBudget() {
    List<Pod> victims = List.of(served("first", "True"), cluster.pod("other"));
    budget(1);
    evict(victims);
    assertThat(refused).isEmpty();
  }

  @Test
  void whereDisruptionBudgetsCannotBeReadEachEvictionIsJudgedByItself() {
    List<Pod> victims = List.of(served("first", "True"), served("second", "True"));
    cluster.rules.fail(request -> request.getPath().contains("poddisruptionbudgets") ? Fault.NOT_FOUND : Fault.NONE);
    evict(victims);
    assertThat(victims).allSatisfy(victim -> assertThat(cluster.client.resource(victim).get()).isNull());
  }

  @Test
  void podsThatSeveralDisruptionBudgetsSelectKeepNobodyElseFromBeingEvicted() {
    for (String name : List.of("bad-0", "bad-1", "bad-2")) {
      cluster.rules.protectBySeveral(name);
      evict(List.of(cluster.pod(name)));
    }
    assertThat(refused).hasSize(3);
    evict(List.of(cluster.pod("good")));
    assertThat(cluster.client.pods().inNamespace("default").withName("good").get()).isNull();
    assertThat(refused).hasSize(3);
    assertThat(notSent).isEmpty();
  }

  @Test
  void aVictimWhoseEvictionWasNotSentForOthersKeepFailingIsNotRefused() {
    cluster.rules.fail(request -> request.getPath().endsWith("/eviction") ? Fault.BROKEN : Fault.NONE);
    List.of("bad-0", "bad-1", "bad-2").forEach(name -> evict(List.of(cluster.pod(name))));
    cluster.rules.fail(request -> Fault.NONE);
    int before = refused.size();
    Pod good = cluster.pod("good");
    evict(List.of(good));
    assertThat(notSent).contains(good.getMetadata().getUid());
    assertThat(refused).hasSize(before);
  }

  @Test
  void nobodyIsEvenTriedForAPodThatIsGoneBeforeItIsItsTurn() {
    AtomicInteger evictions = countEvictions();
    standing = _ -> Nomination.Standing.ENDED;
    evict(List.of(cluster.pod("victim")));
    assertThat(evictions).hasValue(0);
    assertThat(notSent).as("there is nobody to look for room for").isEmpty();
  }

  /** By when somebody is evicted the pod may have got another place: each trial takes a while. */
  @Test
  void nobodyGoesForAPodThatIsGoneWhileItIsTriedWhetherTheyMay() {
    Pod victim = cluster.pod("victim");
    AtomicInteger evictions = countEvictions();
    standing = _ -> evictions.get() == 0 ? Nomination.Standing.KEPT : Nomination.Standing.ENDED;
    evict(List.of(victim));
    assertThat(evictions).as("the trial").hasPositiveValue();
    assertThat(cluster.client.resource(victim).get()).isNotNull();
    assertThat(notes()).isEmpty();
  }

  @Test
  void nobodyGoesForAPodThatIsGettingAnotherPlaceAndRoomIsLookedForAgainInCaseThatFails() {
    Pod victim = cluster.pod("victim");
    AtomicInteger evictions = countEvictions();
    standing = _ -> Nomination.Standing.SUSPENDED;
    evict(List.of(victim));
    assertThat(evictions).hasValue(0);
    assertThat(notSent).containsExactly(victim.getMetadata().getUid());
  }

  @Test
  void whereOneOfAGangIsGoneRoomIsLookedForAgainForTheOthers() {
    Pod victim = cluster.pod("victim");
    standing =
        nomination -> nomination.pod().uid().equals("uid-other")
            ? Nomination.Standing.KEPT
            : Nomination.Standing.ENDED;
    evict(Map.of(preemptor("gone"), nomination("gone", List.of(victim(victim))), preemptor("other"),
        nomination("other", List.of())));
    assertThat(cluster.client.resource(victim).get()).isNotNull();
    assertThat(notSent).as("the victim that the gang awaits").containsExactly(victim.getMetadata().getUid());
  }

  private AtomicInteger countEvictions() {
    AtomicInteger evictions = new AtomicInteger();
    cluster.rules.fail(request -> {
      if (request.getPath().endsWith("/eviction")) {
        evictions.incrementAndGet();
      }
      return Fault.NONE;
    });
    return evictions;
  }

  private Pod served(String name, String ready) {
    Pod pod = new PodBuilder().withNewMetadata().withName(name).withNamespace("default").addToLabels("app", "served")
        .endMetadata().withNewSpec().endSpec().withNewStatus()
        .addNewCondition().withType("Ready").withStatus(ready).endCondition().endStatus().build();
    cluster.rules.put("/api/v1/namespaces/default/pods", List.of(pod));
    return pod;
  }

  private void budget(int disruptionsAllowed) {
    PodDisruptionBudget budget = new PodDisruptionBudgetBuilder().withNewMetadata().withName("served")
        .withNamespace("default").endMetadata().withNewSpec().withNewSelector().addToMatchLabels("app", "served")
        .endSelector().endSpec().withNewStatus().withDisruptionsAllowed(disruptionsAllowed).endStatus().build();
    cluster.client.resource(budget).delete();
    cluster.rules.put("/apis/policy/v1/namespaces/default/poddisruptionbudgets", List.of(budget));
  }

  private void evict(String uid) {
    evict(List.of(new PodBuilder().withNewMetadata().withName("victim").withNamespace("default").withUid(uid)
        .endMetadata().build()));
  }

  private void evict(List<Pod> pods) {
    List<Victim> victims = pods.stream().map(EvictionTest::victim).toList();
    evict(Map.of(preemptor("p"), nomination("p", victims)));
  }

  private static Victim victim(Pod pod) {
    return new Victim(pod.getMetadata().getUid(), pod.getMetadata().getNamespace(), pod.getMetadata().getName(), 1, "");
  }

  @Test
  void whoseVictimGoesSlowlyKeepsNobodyElseWaiting() {
    CountDownLatch answers = new CountDownLatch(1);
    KubernetesClient client = cluster.controllersClient(request -> {
      if (request.uri().getPath().endsWith("/pods/slow/eviction")) {
        SchedulingGateTest.awaitOpen(answers);
      }
    });
    Pod slow = cluster.pod("slow");
    Pod quick = cluster.pod("quick");
    try (Evictor evictor = evictor(client)) {
      evictor.evict(Map.of(preemptor("one"), nomination("one", List.of(victim(slow)))));
      evictor.evict(Map.of(preemptor("other"), nomination("other", List.of(victim(quick)))));
      Cluster.eventually().until(() -> cluster.client.resource(quick).get() == null);
      assertThat(cluster.client.resource(slow).get()).isNotNull();
      answers.countDown();
    } finally {
      answers.countDown();
    }
    assertThat(cluster.client.resource(slow).get()).isNull();
  }

  private static Pod preemptor(String name) {
    return new PodBuilder().withNewMetadata().withName(name).withNamespace("default").withUid("uid-" + name)
        .endMetadata().build();
  }

  private static Nomination nomination(String preemptor, List<Victim> victims) {
    return new Nomination(new Nomination.Preemptor("uid-" + preemptor, "default", 10),
        new Nomination.Place("node-0", List.of(), PodRequests.of(new PodBuilder().withNewSpec().endSpec().build())),
        victims, new Nomination.Grounds.Priority(),
        new Nomination.Awaited(victims.stream().map(Victim::uid).collect(Collectors.toSet()), Set.of(), Instant.MAX));
  }

  private void evict(Map<Pod, Nomination> nominations) {
    try (Evictor evictor = evictor(cluster.controllersClient())) {
      evictor.evict(nominations);
    }
  }

  private Evictor evictor(KubernetesClient client) {
    return new Evictor(client, edge,
        new PodEvents(client, edge, Clock.systemUTC(), "test"), listener,
        nomination -> standing.apply(nomination));
  }

  private List<String> notes() {
    return cluster.client.resources(Event.class).inNamespace("default").list().getItems().stream()
        .filter(event -> "Preempted".equals(event.getReason())).map(Event::getNote).toList();
  }
}
