package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.serving.access.FaultyApiServer.Fault;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A random load on controllers: users, nodes, Kubernetes and whoever breaks things do by chance what they may do at any
 * time; and what must hold meanwhile, and when nothing is done any more.
 */
final class RandomLoad {
  private static final long QUOTA = 500 * GpuNodes.GIB;
  private static final long CORES = 600;
  private static final long CARDS = 10;
  private static final long CLAIMS = 8;
  private static final ControllerSettings.Election QUICK = new ControllerSettings.Election("default", "lease",
      Duration.ofSeconds(3), Duration.ofSeconds(2), Duration.ofMillis(200));
  private static final Duration SETTLED = Duration.ofSeconds(3);
  private static final Duration SPARED = Duration.ofSeconds(31); // whoever may not be evicted is spared for so long
  private static final int MANY = 24;
  private static final List<Fault> FAULTS = List.of(Fault.CONFLICT,
      Fault.TOO_MANY, Fault.BROKEN, Fault.ANSWER_LOST, Fault.LATE);

  private final Cluster cluster;
  private final LoadedCluster load;
  private final RandomUsers users;
  private final RandomNodes nodes;
  private final PlayedKubernetes kubernetes;
  private final Random random;
  private final Random chance; // of what the API server does, in its own thread
  private final boolean oneLeads;
  private final boolean leased;
  private final Map<String, Map.Entry<Set<String>, String>> reserved = new HashMap<>(); // by the claim's UID
  private final Set<String> vetoed = new TreeSet<>(); // UIDs of claims that kube-scheduler found no fit for
  private final List<Leader> leaders = new ArrayList<>();
  private volatile long evictionFailed = System.nanoTime() - SPARED.toNanos();
  private int started; // controllers so far

  private record Leader(String identity, DraController controller) {}

  RandomLoad(Cluster cluster, long seed) {
    this.cluster = cluster;
    this.random = new Random(seed);
    this.chance = new Random(~seed);
    this.leased = seed % 4 == 2;
    this.oneLeads = seed % 3 != 0 && !leased;
    this.load = new LoadedCluster(cluster, random);
    this.users = new RandomUsers(load);
    this.nodes = new RandomNodes(load);
    this.kubernetes = new PlayedKubernetes(load, uid -> {
      reserved.remove(uid);
      vetoed.add(uid);
    });
  }

  void begin() {
    RandomUsers.NAMESPACES.forEach(name -> cluster.client
        .resource(new NamespaceBuilder().withNewMetadata().withName(name).addToLabels("team", name).endMetadata()
            .build())
        .create());
    cluster.client.resource(new DeviceClassBuilder().withNewMetadata().withName(RandomUsers.FOREIGN).endMetadata()
        .withNewSpec().endSpec().build()).create();
    nodes.addAll();
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("of-a");
    quota.setSpec(quota(QUOTA));
    cluster.client.resource(quota).create();
    GpuQuota borrowing = new GpuQuota();
    borrowing.getMetadata().setName("of-b");
    borrowing.setSpec(new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("team", "b").build(),
        List.of(new GpuQuotaSpec.Limit("", List.of(), null,
            new Amounts(new Quantity("200Gi"), 300L, null, null),
            new Amounts(new Quantity("2000Gi"), 2000L, null, null)))));
    cluster.client.resource(borrowing).create();
    startController();
    if (leased) {
      startController();
    }
  }

  private static GpuQuotaSpec quota(long bytes) {
    Amounts half = new Amounts(new Quantity(Long.toString(bytes / 2)), null, null, null);
    Amounts others = new Amounts(null, CORES / 2, CARDS / 2, CLAIMS / 2);
    return new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
        List.of(new GpuQuotaSpec.Limit("", List.of(), null, half, half),
            new GpuQuotaSpec.Limit("others", List.of(), null, others, others)));
  }

  /** What was done, for whoever reads of a failure. */
  @Override
  public String toString() {
    return load + (oneLeads ? ", one leads" : ", two lead");
  }

  void step() {
    int what = random.nextInt(load.pods().size() > MANY ? 28 : 0, 100);
    if (what < 11) {
      users.makePod(1);
    } else if (what < 14) {
      users.makePod(2);
    } else if (what < 18) {
      users.makePodOfTwoDrivers();
    } else if (what < 22) {
      users.makePodOfAClaimThatIsThere();
    } else if (what < 28) {
      users.makeGang();
    } else if (what < 32) {
      users.changeGang();
    } else if (what < 41) {
      users.deletePod();
    } else if (what < 46) {
      users.endPod();
    } else if (what < 48) {
      users.deleteClaim();
    } else if (what < 66) {
      kubernetes.schedule(random.nextInt(8) == 0);
    } else if (what < 78) {
      kubernetes.manageClaims();
      kubernetes.endPodsThatGo(false);
    } else if (what < 84) {
      users.resize();
    } else if (what < 88) {
      nodes.putSizesIntoForce();
    } else if (what < 91) {
      load.did("change of quota");
      setQuota(random.nextBoolean() ? QUOTA : QUOTA / 4);
    } else if (what < 95) {
      nodes.change();
    } else if (what < 97) {
      delayAKind();
    } else if (what < 99) {
      failSomeRequests();
    } else if (random.nextInt(2) == 0) {
      load.did("another controller");
      anotherController();
    }
  }

  private void delayAKind() {
    load.did("late watch");
    cluster.rules.tellAll();
    load.any(List.of("Pod", "ResourceClaim", "ResourceClaim", "")).ifPresent(cluster.rules::delayKind);
  }

  private void failSomeRequests() {
    load.did("failing requests");
    int share = random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(20);
    cluster.rules.fail(request -> request.getPath().contains("watch=true") || chance.nextInt(100) >= share
        ? Fault.NONE
        : fault(request.getPath()));
  }

  private Fault fault(String path) {
    if (path.endsWith("/eviction")) {
      evictionFailed = System.nanoTime();
    }
    return FAULTS.get(chance.nextInt(FAULTS.size()));
  }

  private void setQuota(long bytes) {
    LoadedCluster.attempt(() -> {
      GpuQuota quota = cluster.client.resources(GpuQuota.class).withName("of-a").get();
      quota.setSpec(quota(bytes));
      cluster.client.resource(quota).update();
    });
  }

  /** One starts; of those that were there one at most goes on leading, and some die without giving anything back. */
  private void anotherController() {
    cluster.rules.tellAll();
    if (leased && random.nextInt(3) > 0) {
      cluster.rules.reconnectAll();
      load.any(leaders).filter(leader -> random.nextInt(3) > 0)
          .ifPresent(leader -> cluster.rules.cutOff(leader.identity()));
      return;
    }
    if (oneLeads) {
      nodes.addMissing(); // a controller that starts meanwhile knows no size of a card that claims have there
    }
    int stay = oneLeads ? 0 : 1;
    while (leaders.size() > stay) {
      endOldest(random.nextBoolean());
    }
    startController();
  }

  private void endOldest(boolean abruptly) {
    Leader oldest = leaders.removeFirst();
    if (abruptly) {
      cluster.rules.cutOff(oldest.identity());
    }
    cluster.stop(oldest.controller());
  }

  private void startController() {
    cluster.rules.fail(request -> Fault.NONE); // it would not start
    String identity = "controller-" + ++started;
    leaders.add(new Leader(identity, cluster.start(identity, leased ? Optional.of(QUICK) : Optional.empty())));
  }

  /** Looks at what the API server holds now. */
  void check() {
    List<ResourceClaim> claims = load.claims();
    AllocatedCards allocated = AllocatedCards.of(claims);
    allocated.areAllocatedOnce(RandomNodes.MEMORY);
    if (oneLeads) {
      assertThat(allocated.memoryOf("a", RandomNodes.MEMORY)).as("of namespace a, counted by its quota: " + allocated)
          .isLessThanOrEqualTo(QUOTA);
      List<AllocatedCards.Part> ofA = allocated.cards().values().stream().flatMap(List::stream)
          .filter(part -> part.claim().startsWith("a/")).toList();
      assertThat(ofA).as("cards of namespace a").hasSizeLessThanOrEqualTo((int) CARDS);
      assertThat(ofA.stream().map(AllocatedCards.Part::claim).distinct()).as("claims of namespace a")
          .hasSizeLessThanOrEqualTo((int) CLAIMS);
    }
    for (ResourceClaim claim : claims) {
      Set<String> pods = LoadedCluster.users(claim);
      String allocation = AllocatedCards.results(claim).toString();
      Map.@Nullable Entry<Set<String>, String> before = reserved.get(claim.getMetadata().getUid());
      if (before != null && pods.stream().anyMatch(before.getKey()::contains)) {
        assertThat(allocation).as("of claim " + LoadedCluster.name(claim) + ", which is reserved")
            .isEqualTo(before.getValue());
      }
      reserved.put(claim.getMetadata().getUid(), Map.entry(pods, allocation));
      assertThat(pods.isEmpty() || !AllocatedCards.results(claim).isEmpty())
          .as("claim " + LoadedCluster.name(claim) + " is reserved and has nothing").isTrue();
    }
  }

  /** Everything that was broken is mended. */
  private void mend() {
    oneIsLeft();
    cluster.rules.protectNobody();
    nodes.mend();
    setQuota(QUOTA);
  }

  private void oneIsLeft() {
    cluster.rules.tellAll();
    cluster.rules.fail(request -> Fault.NONE);
    while (leaders.size() > 1) {
      endOldest(true);
    }
    cluster.rules.reconnectAll();
    Cluster.eventually().until(() -> leaders.getFirst().controller().leads());
  }

  /** What goes on by itself, in order. */
  private void goOn() {
    kubernetes.endPodsThatGo(true);
    kubernetes.schedule(false);
    kubernetes.manageClaims();
    nodes.putSizesIntoForce();
    check();
  }

  /**
   * Nothing is done for a while. What another controller, which looks at everything anew, then finds to be allocated
   * has been forgotten.
   */
  void nobodyIsForgotten() {
    oneIsLeft();
    Set<String> _ = settled();
    if (random.nextInt(5) == 0) {
      setQuota(QUOTA);
    } else {
      nodes.mendOneKind(); // and no other change follows that would help pods as well
    }
    Set<String> before = settled();
    List<String> left = load.pods().stream().filter(pod -> !LoadedCluster.isBound(pod))
        .map(pod -> pod.getMetadata().getName()).toList();
    String standing = standing();
    nothingIsHalfDone();
    endOldest(false);
    startController();
    Set<String> after = settled();
    after.removeAll(before);
    after.removeIf(uid -> vetoed.contains(uid));
    assertThat(after).as("of " + left + " forgotten: " + standing).isEmpty();
  }

  /** What is allocated is used, nothing is about to be allocated, and the quota counts what there is. */
  private void nothingIsHalfDone() {
    Cluster.eventually().atMost(Duration.ofSeconds(70)).untilAsserted(() -> {
      goOn();
      List<ResourceClaim> claims = load.claims();
      assertThat(claims.stream().filter(claim -> AllocatedCards.results(claim).isEmpty()
          && claim.getMetadata().getAnnotations().containsKey(Driver.PROPOSAL_ANNOTATION)).map(LoadedCluster::name)
          .filter(name -> !load.isOfAPodThatLacksAClaim(name)))
          .as("claims that are about to be allocated").isEmpty();
      assertThat(claims.stream()
          .filter(claim -> !AllocatedCards.results(claim).isEmpty() && LoadedCluster.users(claim).isEmpty())
          .map(LoadedCluster::name).filter(name -> !load.isOfAPodThatLacksAClaim(name)))
          .as("claims that nobody uses").isEmpty();
      Map<String, ResourceClaim> byName = load.byName();
      List<Pod> pods = load.pods();
      assertThat(pods.stream().filter(pod -> !LoadedCluster.isGoing(pod) && RandomUsers.gangOf(pod).isEmpty())
          .filter(pod -> !pod.getSpec().getSchedulingGates().isEmpty())
          .filter(pod -> LoadedCluster.claimNames(pod).stream()
              .map(name -> byName.get(pod.getMetadata().getNamespace() + "/" + name))
              .allMatch(claim -> claim != null && !AllocatedCards.results(claim).isEmpty()))
          .map(pod -> pod.getMetadata().getName())).as("pods with a gate that have all").isEmpty();
      AllocatedCards allocated = AllocatedCards.of(claims);
      if (allocated.cards().values().stream().flatMap(List::stream)
          .noneMatch(part -> part.way() == AllocatedCards.Way.INSTANCE)) {
        GpuQuotaStatus status = cluster.client.resources(GpuQuota.class).withName("of-a").get().getStatus();
        Quantity used = status == null || status.used() == null ? null : status.used().memory();
        assertThat(used == null ? 0 : used.getNumericalAmount().longValueExact())
            .as("counted by the quota, of " + allocated)
            .isEqualTo(allocated.memoryOf("a", RandomNodes.MEMORY));
      }
    });
  }

  /** UIDs of claims that are allocated, once that changes no more. */
  private Set<String> settled() {
    AtomicReference<Set<String>> last = new AtomicReference<>(Set.of());
    AtomicLong since = new AtomicLong(System.nanoTime());
    Cluster.eventually().atMost(Duration.ofMinutes(2)).until(() -> {
      goOn();
      Set<String> now = load.claims().stream().filter(claim -> !AllocatedCards.results(claim).isEmpty())
          .map(claim -> claim.getMetadata().getUid()).collect(Collectors.toCollection(TreeSet::new));
      if (!now.equals(last.getAndSet(now))) {
        since.set(System.nanoTime());
      }
      return System.nanoTime() - since.get() > SETTLED.toNanos()
          && System.nanoTime() - evictionFailed > SPARED.toNanos();
    });
    return new TreeSet<>(last.get());
  }

  /** Each pod is served once those before it are gone. */
  void drain() {
    mend();
    for (List<Pod> left = load.pods(); !left.isEmpty(); left = load.pods()) {
      Cluster.eventually().until(() -> {
        users.deleteHopeless();
        goOn();
        List<Pod> pods = load.pods();
        return pods.isEmpty() || pods.stream().anyMatch(LoadedCluster::isBound);
      });
      load.pods().stream().filter(LoadedCluster::isBound)
          .forEach(pod -> LoadedCluster.attempt(() -> cluster.client.resource(pod).delete()));
    }
  }

  /** A pod gets all cards of each node, and when that has gone nothing is left. */
  void takeAll() {
    RandomNodes.MEMORY.keySet().stream().filter(node -> !node.equals(RandomNodes.SCHEDULERS)).sorted()
        .forEach(users::makePodOfNode);
    Cluster.eventually().until(() -> {
      goOn();
      return load.pods().stream().allMatch(LoadedCluster::isBound);
    });
    load.pods().forEach(pod -> LoadedCluster.attempt(() -> cluster.client.resource(pod).delete()));
    Cluster.eventually().until(() -> {
      goOn();
      return load.claims().isEmpty();
    });
  }

  /** Who waits, and what for. */
  String standing() {
    return load.standing();
  }
}
