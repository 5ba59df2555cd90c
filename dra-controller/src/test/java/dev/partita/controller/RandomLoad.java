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
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
  private static final Duration SETTLED = Duration.ofSeconds(3);
  private static final int MANY = 24;
  private static final List<Fault> FAULTS = List.of(Fault.CONFLICT,
      Fault.TOO_MANY, Fault.BROKEN, Fault.ANSWER_LOST);

  private final Cluster cluster;
  private final LoadedCluster load;
  private final RandomUsers users;
  private final RandomNodes nodes;
  private final PlayedKubernetes kubernetes;
  private final Random random;
  private final Random chance; // of what the API server does, in its own thread
  private final boolean oneLeads;
  private final Map<String, Map.Entry<Set<String>, String>> reserved = new HashMap<>(); // by the claim's UID
  private final Set<String> vetoed = new TreeSet<>(); // UIDs of claims that kube-scheduler found no fit for
  private final List<Leader> leaders = new ArrayList<>();
  private int started; // controllers so far

  private record Leader(String identity, DraController controller) {}

  RandomLoad(Cluster cluster, long seed) {
    this.cluster = cluster;
    this.random = new Random(seed);
    this.chance = new Random(~seed);
    this.oneLeads = seed % 3 != 0;
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
    nodes.addAll();
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("of-a");
    quota.setSpec(quota(QUOTA));
    cluster.client.resource(quota).create();
    startController();
  }

  private static GpuQuotaSpec quota(long bytes) {
    Amounts half = new Amounts(new Quantity(Long.toString(bytes / 2)), null, null, null);
    return new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
        List.of(new GpuQuotaSpec.Limit("", List.of(), null, half, half)));
  }

  /** What was done, for whoever reads of a failure. */
  @Override
  public String toString() {
    return load + (oneLeads ? ", one leads" : ", two lead");
  }

  void step() {
    int what = random.nextInt(load.pods().size() > MANY ? 28 : 0, 100);
    if (what < 14) {
      users.makePod(1);
    } else if (what < 17) {
      users.makePod(2);
    } else if (what < 22) {
      users.makePodOfAClaimThatIsThere();
    } else if (what < 28) {
      users.makeGang();
    } else if (what < 42) {
      users.deletePod();
    } else if (what < 46) {
      users.endPod();
    } else if (what < 48) {
      users.deleteClaim();
    } else if (what < 66) {
      kubernetes.schedule(random.nextInt(8) == 0);
    } else if (what < 78) {
      kubernetes.manageClaims();
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
        : FAULTS.get(chance.nextInt(FAULTS.size())));
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
    leaders.add(new Leader(identity, cluster.start(identity)));
  }

  /** Looks at what the API server holds now. */
  void check() {
    List<ResourceClaim> claims = load.claims();
    SoldCards sold = SoldCards.of(claims);
    sold.areSoldOnce(RandomNodes.MEMORY);
    if (oneLeads) {
      assertThat(sold.memoryOf("a", RandomNodes.MEMORY)).as("of namespace a, counted by its quota: " + sold)
          .isLessThanOrEqualTo(QUOTA);
    }
    for (ResourceClaim claim : claims) {
      Set<String> pods = LoadedCluster.users(claim);
      String allocation = SoldCards.results(claim).toString();
      Map.@Nullable Entry<Set<String>, String> before = reserved.get(claim.getMetadata().getUid());
      if (before != null && pods.stream().anyMatch(before.getKey()::contains)) {
        assertThat(allocation).as("of claim " + LoadedCluster.name(claim) + ", which is reserved")
            .isEqualTo(before.getValue());
      }
      reserved.put(claim.getMetadata().getUid(), Map.entry(pods, allocation));
      assertThat(pods.isEmpty() || !SoldCards.results(claim).isEmpty())
          .as("claim " + LoadedCluster.name(claim) + " is reserved and has nothing").isTrue();
    }
  }

  /** Everything that was broken is mended. */
  private void mend() {
    cluster.rules.tellAll();
    cluster.rules.fail(request -> Fault.NONE);
    while (leaders.size() > 1) {
      endOldest(true);
    }
    nodes.mend();
    setQuota(QUOTA);
  }

  /** What goes on by itself, in order. */
  private void goOn() {
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
    cluster.rules.tellAll();
    cluster.rules.fail(request -> Fault.NONE);
    while (leaders.size() > 1) {
      endOldest(true);
    }
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
      assertThat(claims).as("claims that are about to be allocated").noneMatch(
          claim -> SoldCards.results(claim).isEmpty()
              && claim.getMetadata().getAnnotations().containsKey(Driver.PROPOSAL_ANNOTATION));
      assertThat(claims).as("claims that nobody uses").noneMatch(
          claim -> !SoldCards.results(claim).isEmpty() && LoadedCluster.users(claim).isEmpty());
      SoldCards sold = SoldCards.of(claims);
      if (sold.cards().values().stream().flatMap(List::stream)
          .noneMatch(part -> part.way() == SoldCards.Way.INSTANCE)) {
        GpuQuotaStatus status = cluster.client.resources(GpuQuota.class).withName("of-a").get().getStatus();
        Quantity used = status == null || status.used() == null ? null : status.used().memory();
        assertThat(used == null ? 0 : used.getNumericalAmount().longValueExact()).as("counted by the quota, of " + sold)
            .isEqualTo(sold.memoryOf("a", RandomNodes.MEMORY));
      }
    });
  }

  /** UIDs of claims that are allocated, once that changes no more. */
  private Set<String> settled() {
    AtomicReference<Set<String>> last = new AtomicReference<>(Set.of());
    AtomicLong since = new AtomicLong(System.nanoTime());
    Cluster.eventually().atMost(Duration.ofMinutes(2)).until(() -> {
      goOn();
      Set<String> now = load.claims().stream().filter(claim -> !SoldCards.results(claim).isEmpty())
          .map(claim -> claim.getMetadata().getUid()).collect(Collectors.toCollection(TreeSet::new));
      if (!now.equals(last.getAndSet(now))) {
        since.set(System.nanoTime());
      }
      return System.nanoTime() - since.get() > SETTLED.toNanos();
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
