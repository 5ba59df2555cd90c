package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import dev.partita.controller.inventory.DeviceTaintRule;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ExactDeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Users, kube-scheduler, kube-controller-manager, nodes' plugins and whoever breaks things, who do by chance what they
 * may do at any time.
 */
final class RandomLoad {
  private static final long H200 = 140 * GpuNodes.GIB;
  private static final long A100 = 80 * GpuNodes.GIB;

  /** Where kube-scheduler allocates. */
  private static final String SCHEDULERS = "node-4";

  /** Bytes of each of a node's cards. */
  private static final Map<String, Long> MEMORY =
      Map.of("node-0", H200, "node-1", A100, "node-2", H200, "node-3", H200, SCHEDULERS, H200);
  private static final Map<String, Integer> CARDS =
      Map.of("node-0", 2, "node-1", 3, "node-2", 2, "node-3", 2, SCHEDULERS, 2);

  private static final List<String> NAMESPACES = List.of("a", "b");
  private static final long QUOTA = 500 * GpuNodes.GIB;
  private static final Duration SETTLED = Duration.ofSeconds(3);
  private static final int MANY = 24;
  private static final String GANG = Driver.GANG_ANNOTATION;
  private static final String GANG_SIZE = Driver.GANG_SIZE_ANNOTATION;
  private static final List<ServerRules.Fault> FAULTS = List.of(ServerRules.Fault.CONFLICT,
      ServerRules.Fault.TOO_MANY, ServerRules.Fault.BROKEN, ServerRules.Fault.ANSWER_LOST);
  private static final PatchContext JSON = PatchContext.of(PatchType.JSON);
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final Cluster cluster;
  private final Random random;
  private final Random chance; // of what the API server does, in its own thread
  private final boolean oneLeads;
  private final Map<String, Map.Entry<Set<String>, String>> reserved = new HashMap<>(); // by the claim's UID
  private final Set<String> vetoed = new TreeSet<>(); // UIDs of claims that kube-scheduler found no fit for
  private final List<Leader> leaders = new ArrayList<>();
  private final Map<String, Integer> done = new HashMap<>();
  private int number;

  private record Leader(String identity, DraController controller) {}

  RandomLoad(Cluster cluster, long seed) {
    this.cluster = cluster;
    this.random = new Random(seed);
    this.chance = new Random(~seed);
    this.oneLeads = seed % 3 != 0;
  }

  void begin() {
    NAMESPACES.forEach(name -> cluster.client
        .resource(new NamespaceBuilder().withNewMetadata().withName(name).addToLabels("team", name).endMetadata()
            .build())
        .create());
    MEMORY.forEach((name, memory) -> addNode(name));
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("of-a");
    quota.setSpec(quota(QUOTA));
    cluster.client.resource(quota).create();
    startController();
  }

  private void addNode(String name) {
    long memory = Objects.requireNonNull(MEMORY.get(name));
    if (name.equals("node-3")) {
      GpuNodeSpec all = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller,
          List.of(GpuNodeSpec.PublishedMode.Whole, GpuNodeSpec.PublishedMode.Shared, GpuNodeSpec.PublishedMode.Mig),
          null);
      cluster.add(GpuNodes.ready(name, all, GpuNodes.migCards(name, 2)));
      return;
    }
    if (name.equals(SCHEDULERS)) {
      cluster.add(GpuNodes.leftToScheduler(name, 2, "NVIDIA H200", memory));
      return;
    }
    cluster.add(GpuNodes.ready(name, Objects.requireNonNull(CARDS.get(name)),
        memory == H200 ? "NVIDIA H200" : "NVIDIA A100-SXM4-80GB", memory));
  }

  private static GpuQuotaSpec quota(long bytes) {
    Amounts half = new Amounts(new Quantity(Long.toString(bytes / 2)), null, null, null);
    return new GpuQuotaSpec(new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
        List.of(new GpuQuotaSpec.Limit("", List.of(), null, half, half)));
  }

  /** What was done, for whoever reads of a failure. */
  @Override
  public String toString() {
    return done + (oneLeads ? ", one leads" : ", two lead");
  }

  void step() {
    number++;
    int what = random.nextInt(pods().size() > MANY ? 28 : 0, 100);
    if (what < 14) {
      did("pod");
      pod("p" + number, List.of(claim("c" + number)), Map.of());
    } else if (what < 17) {
      did("pod of two claims");
      pod("p" + number, List.of(claim("c" + number), claim("d" + number)), Map.of());
    } else if (what < 22) {
      any(claims().stream().filter(claim -> claim.getMetadata().getDeletionTimestamp() == null).toList())
          .ifPresent(claim -> {
            did("pod of a claim that is there");
            pod("p" + number, List.of(claim), Map.of());
          });
    } else if (what < 28) {
      did("gang");
      gang();
    } else if (what < 42) {
      any(pods()).ifPresent(pod -> {
        did("delete a pod");
        attempt(() -> cluster.client.resource(pod).delete());
      });
    } else if (what < 46) {
      any(pods().stream().filter(pod -> isBound(pod)).toList()).ifPresent(pod -> {
        did("end a pod");
        attempt(() -> cluster.client.resource(new PodBuilder(pod).editOrNewStatus()
            .withPhase(random.nextBoolean() ? "Succeeded" : "Failed").endStatus().build()).updateStatus());
      });
    } else if (what < 48) {
      any(claims()).ifPresent(claim -> {
        did("delete a claim");
        attempt(() -> cluster.client.resource(claim).delete());
      });
    } else if (what < 66) {
      schedule(random.nextInt(8) == 0);
    } else if (what < 78) {
      manageClaims();
    } else if (what < 84) {
      resize();
    } else if (what < 88) {
      putSizesIntoForce();
    } else if (what < 91) {
      did("change of quota");
      setQuota(random.nextBoolean() ? QUOTA : QUOTA / 4);
    } else if (what < 95) {
      changeNode();
    } else if (what < 97) {
      did("late watch");
      cluster.rules.tellAll();
      any(List.of("Pod", "ResourceClaim", "ResourceClaim", "")).ifPresent(cluster.rules::delayKind);
    } else if (what < 99) {
      did("failing requests");
      int share = random.nextInt(4) == 0 ? 0 : 1 + random.nextInt(20);
      cluster.rules.fail(request -> request.getPath().contains("watch=true") || chance.nextInt(100) >= share
          ? ServerRules.Fault.NONE
          : FAULTS.get(chance.nextInt(FAULTS.size())));
    } else if (random.nextInt(2) == 0) {
      did("another controller");
      anotherController();
    }
  }

  private void did(String what) {
    done.merge(what, 1, Integer::sum);
  }

  private <T> Optional<T> any(List<T> of) {
    return of.isEmpty() ? Optional.empty() : Optional.of(of.get(random.nextInt(of.size())));
  }

  /** Others may have changed it or taken it away. */
  private static void attempt(Runnable request) {
    try {
      request.run();
    } catch (KubernetesClientException e) {
      if (e.getCode() != 409 && e.getCode() != 404) {
        throw e;
      }
    }
  }

  // Users

  private List<Pod> pods() {
    return cluster.client.pods().inAnyNamespace().list().getItems().stream()
        .sorted(Comparator.comparing(pod -> pod.getMetadata().getName())).toList();
  }

  private List<ResourceClaim> claims() {
    return cluster.client.resources(ResourceClaim.class).inAnyNamespace().list().getItems().stream()
        .sorted(Comparator.comparing(claim -> claim.getMetadata().getName())).toList();
  }

  private String namespace() {
    return any(NAMESPACES).orElseThrow();
  }

  private ResourceClaim claim(String name) {
    return create(ask(name), namespace());
  }

  private ResourceClaim create(ClaimForm form, String namespace) {
    return cluster.client
        .resource(new ResourceClaimBuilder(form.claim()).editMetadata().withNamespace(namespace).endMetadata().build())
        .create();
  }

  private ClaimForm ask(String name) {
    return switch (random.nextInt(14)) {
      case 0 -> new ClaimForm(name, "whole.gpu.partita.dev").count(1 + random.nextInt(2));
      case 1 -> new ClaimForm(name, "gpu.partita.dev").capacity(Map.of("memory", "20Gi", "cores", "40")).count(2);
      case 2 -> new ClaimForm(name, "gpu.partita.dev").config(Map.of("sharing", Map.of("strategy", "TimeSlicing")));
      case 3 -> new ClaimForm(name, "gpu.partita.dev").capacity(Map.of("memory", "8Gi"))
          .config(Map.of("placement", Map.of("exclusive", true)));
      case 5 -> new ClaimForm(name, "mig.gpu.partita.dev")
          .selector(
              "device.attributes[\"gpu.partita.dev\"].profile == \"" + (random.nextBoolean() ? "1g.18gb" : "3g.71gb")
                  + "\"")
          .count(1 + random.nextInt(2));
      case 4 -> share(name).config(Map.of("sharing", Map.of("strategy", "MPS")));
      default -> share(name);
    };
  }

  private ClaimForm share(String name) {
    return new ClaimForm(name, "gpu.partita.dev").capacity(
        Map.of("memory", (1 + random.nextInt(60)) + "Gi", "cores", Integer.toString(5 * random.nextInt(1, 15))));
  }

  private void pod(String name, List<ResourceClaim> claims, Map<String, String> annotations) {
    String namespace = claims.getFirst().getMetadata().getNamespace();
    PodBuilder pod = new PodBuilder().withNewMetadata().withName(name).withNamespace(namespace)
        .withAnnotations(annotations).endMetadata().withNewSpec().withPriority(random.nextInt(3)).endSpec();
    if (random.nextInt(5) > 0) {
      pod.editSpec().addNewSchedulingGate(Driver.ALLOCATION_GATE).endSpec();
    }
    for (ResourceClaim claim : claims) {
      String its = claim.getMetadata().getName();
      if (claim.getMetadata().getNamespace().equals(namespace)) {
        pod.editSpec().addNewResourceClaim().withName(its).withResourceClaimName(its).endResourceClaim().endSpec();
      }
    }
    cluster.client.resource(pod.build()).create();
  }

  private void gang() {
    String namespace = namespace();
    int size = 2 + random.nextInt(3);
    ClaimForm form = share("unused");
    String gang = "g" + number;
    for (int i = 0; i < size; i++) {
      String name = gang + "-" + i;
      ResourceClaim claim = cluster.client.resource(new ResourceClaimBuilder(form.claim()).editMetadata()
          .withName(name).withNamespace(namespace).endMetadata().build()).create();
      pod(name, List.of(claim), Map.of(GANG, gang, GANG_SIZE, Integer.toString(size)));
    }
  }

  private void resize() {
    any(claims().stream().filter(claim -> !SoldCards.results(claim).isEmpty()).toList()).ifPresent(claim -> {
      did("resize");
      String size = "memory=" + (1 + random.nextInt(60)) + "Gi,cores=" + 5 * random.nextInt(1, 15);
      attempt(() -> cluster.client.resource(claim).patch(MERGE,
          "{\"metadata\": {\"annotations\": {\"" + Driver.RESIZE_ANNOTATION + "\": \"" + size + "\"}}}"));
    });
  }

  // kube-scheduler

  private static boolean isBound(Pod pod) {
    return pod.getSpec().getNodeName() != null && !pod.getSpec().getNodeName().isEmpty();
  }

  private static boolean hasEnded(Pod pod) {
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return "Succeeded".equals(phase) || "Failed".equals(phase);
  }

  /** Looks at pods that may be scheduled. */
  private void schedule(boolean oddly) {
    Map<String, ResourceClaim> claims = byName();
    Set<String> open = cluster.client.nodes().list().getItems().stream()
        .filter(node -> !Boolean.TRUE.equals(node.getSpec().getUnschedulable()))
        .map(node -> node.getMetadata().getName()).collect(Collectors.toSet());
    for (Pod pod : pods()) {
      if (isBound(pod) || hasEnded(pod) || !pod.getSpec().getSchedulingGates().isEmpty()) {
        continue;
      }
      List<@Nullable ResourceClaim> its = new ArrayList<>();
      claimNames(pod).forEach(name -> its.add(claims.get(pod.getMetadata().getNamespace() + "/" + name)));
      if (its.size() == 1 && its.getFirst() != null) {
        attempt(() -> allocateOnOwnNode(Objects.requireNonNull(its.getFirst()), pod));
      }
      if (its.contains(null) || its.stream().anyMatch(claim -> SoldCards.results(claim).isEmpty()
          || claim.getMetadata().getDeletionTimestamp() != null)) {
        continue;
      }
      Set<String> nodes = its.stream().flatMap(claim -> SoldCards.results(claim).stream())
          .map(result -> result.getPool().substring(0, result.getPool().indexOf('/'))).collect(Collectors.toSet());
      if (nodes.size() > 1 || !open.containsAll(nodes) || (oddly && random.nextInt(3) == 0)) {
        did("no fit");
        its.forEach(claim -> takeBack(claim, pod));
      } else {
        did("bind");
        attempt(() -> {
          its.forEach(claim -> reserve(claim, pod));
          cluster.client.pods().inNamespace(pod.getMetadata().getNamespace()).withName(pod.getMetadata().getName())
              .patch(MERGE, "{\"spec\": {\"nodeName\": \"" + nodes.iterator().next() + "\"}}");
        });
      }
    }
  }

  /** Gives the pod a share of a card of the node on which kube-scheduler allocates. */
  private void allocateOnOwnNode(ResourceClaim claim, Pod pod) {
    ExactDeviceRequest request = claim.getSpec().getDevices().getRequests().getFirst().getExactly();
    if (!SoldCards.results(claim).isEmpty() || claim.getMetadata().getDeletionTimestamp() != null
        || claim.getMetadata().getNamespace().equals("a") // whose quota admission would hold kube-scheduler to
        || request.getCapacity() == null || !claim.getSpec().getDevices().getConfig().isEmpty()
        || (request.getCount() != null && request.getCount() > 1) || cluster.slices().stream()
            .noneMatch(slice -> SCHEDULERS.equals(slice.getSpec().getNodeName()))) {
      return;
    }
    Map<String, Quantity> asked = request.getCapacity().getRequests();
    Map<String, List<SoldCards.Part>> sold = SoldCards.of(claims()).cards();
    for (int card = 0; card < 2; card++) {
      List<SoldCards.Part> parts = sold.getOrDefault(SCHEDULERS + "/gpu/gpu-" + card, List.of());
      long memory = parts.stream().mapToLong(SoldCards.Part::memory).sum();
      long cores = parts.stream().mapToLong(SoldCards.Part::cores).sum();
      if (memory + Objects.requireNonNull(asked.get("memory")).getNumericalAmount().longValueExact() <= H200
          && cores + Objects.requireNonNull(asked.get("cores")).getNumericalAmount().longValueExact() <= 100) {
        did("allocate on the scheduler's node");
        ResourceClaim kept = cluster.client.resource(new ResourceClaimBuilder(claim).editMetadata()
            .withFinalizers("resource.kubernetes.io/delete-protection").endMetadata().build()).update();
        cluster.client.resource(new ResourceClaimBuilder(kept).editOrNewStatus().withNewAllocation().withNewDevices()
            .addNewResult().withRequest("gpu").withDriver(Driver.NAME).withPool(SCHEDULERS + "/gpu")
            .withDevice("gpu-" + card + "-shared").withShareID(new UUID(number, random.nextLong()).toString())
            .withConsumedCapacity(asked).endResult().endDevices().endAllocation()
            .addNewReservedFor(null, pod.getMetadata().getName(), "pods", pod.getMetadata().getUid()).endStatus()
            .build()).updateStatus();
        return;
      }
    }
  }

  private static List<String> claimNames(Pod pod) {
    return pod.getSpec().getResourceClaims().stream().map(PodResourceClaim::getResourceClaimName).toList();
  }

  private Map<String, ResourceClaim> byName() {
    return claims().stream().collect(Collectors.toMap(RandomLoad::name, claim -> claim));
  }

  private static String name(ResourceClaim claim) {
    return claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName();
  }

  private void reserve(ResourceClaim claim, Pod pod) {
    if (!users(claim).contains(pod.getMetadata().getUid())) {
      cluster.client.resource(new ResourceClaimBuilder(claim).editStatus()
          .addNewReservedFor(null, pod.getMetadata().getName(), "pods", pod.getMetadata().getUid()).endStatus()
          .build()).updateStatus();
    }
  }

  private void takeBack(ResourceClaim claim, Pod pod) {
    if (Set.of(pod.getMetadata().getUid()).containsAll(users(claim))) {
      attempt(() -> {
        cluster.client.resource(free(claim)).updateStatus();
        reserved.remove(claim.getMetadata().getUid());
        vetoed.add(claim.getMetadata().getUid());
      });
    }
  }

  private static ResourceClaim free(ResourceClaim claim) {
    return new ResourceClaimBuilder(claim).editStatus().withAllocation(null).withReservedFor(List.of())
        .withDevices(List.of()).endStatus().build();
  }

  private static Set<String> users(ResourceClaim claim) {
    return claim.getStatus() == null
        ? Set.of()
        : claim.getStatus().getReservedFor().stream().map(ResourceClaimConsumerReference::getUid)
            .collect(Collectors.toSet());
  }

  // kube-controller-manager

  /** Ends the reservations of pods that are over, deallocates what nobody uses, deletes what no pod names. */
  private void manageClaims() {
    did("manage claims");
    List<Pod> pods = pods();
    Set<String> alive = pods.stream().filter(pod -> !hasEnded(pod)).map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
    Set<String> named = pods.stream().flatMap(pod -> claimNames(pod).stream()
        .map(claim -> pod.getMetadata().getNamespace() + "/" + claim)).collect(Collectors.toSet());
    for (ResourceClaim claim : claims()) {
      Set<String> users = users(claim);
      boolean ends = claim.getMetadata().getDeletionTimestamp() != null;
      if (!alive.containsAll(users) || (ends && users.isEmpty())) {
        attempt(() -> manage(claim, alive));
      } else if (!named.contains(name(claim)) && !ends && random.nextInt(3) > 0) {
        attempt(() -> cluster.client.resource(claim).delete());
      }
    }
    pods.stream().filter(RandomLoad::hasEnded).filter(pod -> random.nextBoolean())
        .forEach(pod -> attempt(() -> cluster.client.resource(pod).delete()));
  }

  private void manage(ResourceClaim claim, Set<String> alive) {
    List<ResourceClaimConsumerReference> valid = claim.getStatus() == null
        ? List.of()
        : claim.getStatus().getReservedFor().stream().filter(user -> alive.contains(user.getUid())).toList();
    ResourceClaim now = claim;
    if (claim.getStatus() != null
        && (claim.getStatus().getAllocation() != null || !claim.getStatus().getReservedFor().isEmpty())) {
      now = cluster.client.resource(valid.isEmpty()
          ? free(claim)
          : new ResourceClaimBuilder(claim).editStatus().withReservedFor(valid).endStatus().build()).updateStatus();
    }
    if (valid.isEmpty() && !now.getMetadata().getFinalizers().isEmpty()) {
      cluster.client.resource(new ResourceClaimBuilder(now).editMetadata().withFinalizers(List.of()).endMetadata()
          .build()).update();
    }
  }

  // Nodes

  /** Plugins report that granted sizes are in force. */
  private void putSizesIntoForce() {
    for (ResourceClaim claim : claims()) {
      String granted = claim.getMetadata().getAnnotations().getOrDefault(Driver.GRANTED_SIZES_ANNOTATION, "");
      List<AllocatedDeviceStatus> statuses = new ArrayList<>();
      for (DeviceRequestAllocationResult result : SoldCards.results(claim)) {
        for (String one : granted.split(";", -1)) {
          if (result.getShareID() != null && one.contains(result.getShareID())) {
            statuses.add(new AllocatedDeviceStatusBuilder().withDriver(Driver.NAME).withPool(result.getPool())
                .withDevice(result.getDevice()).withShareID(result.getShareID())
                .withData(new RawExtension(Map.of(DeviceStatusData.SIZE_IN_FORCE.key(),
                    one.substring(one.indexOf(':') + 1))))
                .build());
          }
        }
      }
      if (!statuses.isEmpty()) {
        did("size in force");
        attempt(() -> cluster.client.resource(
            new ResourceClaimBuilder(claim).editStatus().withDevices(statuses).endStatus().build()).updateStatus());
      }
    }
  }

  private void changeNode() {
    String node = any(MEMORY.keySet().stream().filter(name -> !name.equals(SCHEDULERS)).sorted().toList())
        .orElseThrow();
    switch (random.nextInt(5)) {
      case 0 -> {
        did("a node that is ready or not");
        setReady(node, random.nextBoolean());
      }
      case 1 -> {
        did("a card that is cordoned or not");
        setCordoned(node, random.nextBoolean());
      }
      case 2 -> {
        did("a node that is unschedulable or not");
        setUnschedulable(node, random.nextBoolean());
      }
      case 3 -> {
        did("a rule that taints devices, or none");
        setTainted(node, random.nextBoolean());
      }
      default -> {
        did("a node that comes or goes");
        if (cluster.client.resources(GpuNode.class).withName(node).get() == null) {
          addNode(node);
        } else {
          removeNode(node);
        }
      }
    }
  }

  private void setReady(String node, boolean ready) {
    attempt(() -> cluster.client.resources(GpuNode.class).withName(node).subresource("status").patch(JSON,
        "[{\"op\": \"replace\", \"path\": \"/status/conditions/0/status\", \"value\": \""
            + (ready ? "True" : "False") + "\"}]"));
  }

  private void setCordoned(String node, boolean cordoned) {
    attempt(() -> cluster.client.resources(GpuNode.class).withName(node).patch(JSON,
        "[{\"op\": \"add\", \"path\": \"/spec/cordoned\", \"value\": [" + (cordoned ? "\"GPU-" + node + "-0\"" : "")
            + "]}]"));
  }

  private void setUnschedulable(String node, boolean unschedulable) {
    attempt(() -> cluster.client.nodes().withName(node).patch(MERGE,
        "{\"spec\": {\"unschedulable\": " + unschedulable + "}}"));
  }

  private void setTainted(String node, boolean tainted) {
    var rule = cluster.client.resources(DeviceTaintRule.class).withName(node);
    if (tainted && rule.get() == null) {
      cluster.client
          .resource(new TaintRuleBuilder(node).driver(Driver.NAME).pool(node + "/gpu").device("gpu-1-shared")
              .taint("example.com/away", null))
          .create();
    } else if (!tainted) {
      rule.delete();
    }
  }

  /** The node's pods go with it. */
  private void removeNode(String node) {
    cluster.client.resources(GpuNode.class).withName(node).delete();
    cluster.client.nodes().withName(node).delete();
    pods().stream().filter(pod -> node.equals(pod.getSpec().getNodeName()))
        .forEach(pod -> attempt(() -> cluster.client.resource(pod).delete()));
  }

  private void setQuota(long bytes) {
    attempt(() -> {
      GpuQuota quota = cluster.client.resources(GpuQuota.class).withName("of-a").get();
      quota.setSpec(quota(bytes));
      cluster.client.resource(quota).update();
    });
  }

  // Controllers

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
    cluster.rules.fail(request -> ServerRules.Fault.NONE); // it would not start
    String identity = "controller-" + number;
    leaders.add(new Leader(identity, cluster.start(identity)));
  }

  // What must hold

  /** Looks at what the API server holds now. */
  void check() {
    List<ResourceClaim> claims = claims();
    SoldCards sold = SoldCards.of(claims);
    sold.areSoldOnce(MEMORY);
    if (oneLeads) {
      assertThat(sold.memoryOf("a", MEMORY)).as("of namespace a, counted by its quota: " + sold)
          .isLessThanOrEqualTo(QUOTA);
    }
    for (ResourceClaim claim : claims) {
      Set<String> users = users(claim);
      String allocation = SoldCards.results(claim).toString();
      Map.@Nullable Entry<Set<String>, String> before = reserved.get(claim.getMetadata().getUid());
      if (before != null && users.stream().anyMatch(before.getKey()::contains)) {
        assertThat(allocation).as("of claim " + name(claim) + ", which is reserved").isEqualTo(before.getValue());
      }
      reserved.put(claim.getMetadata().getUid(), Map.entry(users, allocation));
      assertThat(users.isEmpty() || !SoldCards.results(claim).isEmpty())
          .as("claim " + name(claim) + " is reserved and has nothing").isTrue();
    }
  }

  /** Everything that was broken is mended. */
  private void mend() {
    cluster.rules.tellAll();
    cluster.rules.fail(request -> ServerRules.Fault.NONE);
    while (leaders.size() > 1) {
      endOldest(true);
    }
    for (String node : MEMORY.keySet()) {
      if (cluster.client.resources(GpuNode.class).withName(node).get() == null) {
        addNode(node);
      }
      setReady(node, true);
      setCordoned(node, false);
      setUnschedulable(node, false);
      setTainted(node, false);
    }
    setQuota(QUOTA);
  }

  /** What goes on by itself, in order. */
  private void goOn() {
    schedule(false);
    manageClaims();
    putSizesIntoForce();
    check();
  }

  /** Whether a pod can never be served, as those whose claim goes, or whose gang is not complete. */
  private boolean isHopeless(Pod pod, List<Pod> pods, Map<String, ResourceClaim> claims) {
    String gang = pod.getMetadata().getAnnotations().get(GANG);
    long members = pods.stream().filter(other -> gang != null && gang.equals(other.getMetadata().getAnnotations()
        .get(GANG))).count();
    return hasEnded(pod)
        || (gang != null && members < Integer.parseInt(pod.getMetadata().getAnnotations().get(GANG_SIZE)))
        || claimNames(pod).stream().map(name -> claims.get(pod.getMetadata().getNamespace() + "/" + name))
            .anyMatch(claim -> claim == null || claim.getMetadata().getDeletionTimestamp() != null);
  }

  private void deleteHopeless() {
    List<Pod> pods = pods();
    Map<String, ResourceClaim> claims = byName();
    pods.stream().filter(pod -> isHopeless(pod, pods, claims))
        .forEach(pod -> attempt(() -> cluster.client.resource(pod).delete()));
  }

  /**
   * Nothing is done for a while. What another controller, which looks at everything anew, then finds to be allocated
   * has been forgotten.
   */
  void nobodyIsForgotten() {
    cluster.rules.tellAll();
    cluster.rules.fail(request -> ServerRules.Fault.NONE);
    while (leaders.size() > 1) {
      endOldest(true);
    }
    Set<String> _ = settled();
    mendOne();
    Set<String> before = settled();
    List<String> left = pods().stream().filter(pod -> !isBound(pod)).map(pod -> pod.getMetadata().getName()).toList();
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
      List<ResourceClaim> claims = claims();
      assertThat(claims).as("claims that are about to be allocated").noneMatch(
          claim -> SoldCards.results(claim).isEmpty()
              && claim.getMetadata().getAnnotations().containsKey(Driver.PROPOSAL_ANNOTATION)
              && !vetoed.contains(claim.getMetadata().getUid()));
      assertThat(claims).as("claims that nobody uses").noneMatch(
          claim -> !SoldCards.results(claim).isEmpty() && users(claim).isEmpty());
      SoldCards sold = SoldCards.of(claims);
      if (sold.cards().values().stream().flatMap(List::stream)
          .noneMatch(part -> part.way() == SoldCards.Way.INSTANCE)) {
        GpuQuotaStatus status = cluster.client.resources(GpuQuota.class).withName("of-a").get().getStatus();
        Quantity used = status == null || status.used() == null ? null : status.used().memory();
        assertThat(used == null ? 0 : used.getNumericalAmount().longValueExact()).as("counted by the quota, of " + sold)
            .isEqualTo(sold.memoryOf("a", MEMORY));
      }
    });
  }

  /** One kind of change that pods may have waited for: no other one follows that would help them as well. */
  private void mendOne() {
    int kind = random.nextInt(5);
    for (String node : MEMORY.keySet()) {
      switch (kind) {
        case 0 -> setReady(node, true);
        case 1 -> setCordoned(node, false);
        case 2 -> setUnschedulable(node, false);
        case 3 -> setTainted(node, false);
        default -> setQuota(QUOTA);
      }
    }
  }

  /** UIDs of claims that are allocated, once that changes no more. */
  private Set<String> settled() {
    AtomicReference<Set<String>> last = new AtomicReference<>(Set.of());
    AtomicLong since = new AtomicLong(System.nanoTime());
    Cluster.eventually().atMost(Duration.ofMinutes(2)).until(() -> {
      goOn();
      Set<String> now = claims().stream().filter(claim -> !SoldCards.results(claim).isEmpty())
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
    for (List<Pod> left = pods(); !left.isEmpty(); left = pods()) {
      Cluster.eventually().until(() -> {
        deleteHopeless();
        goOn();
        List<Pod> pods = pods();
        return pods.isEmpty() || pods.stream().anyMatch(RandomLoad::isBound);
      });
      pods().stream().filter(RandomLoad::isBound)
          .forEach(pod -> attempt(() -> cluster.client.resource(pod).delete()));
    }
  }

  /** A pod gets all cards of each node, and when that has gone nothing is left. */
  void takeAll() {
    Set<String> nodes = new TreeSet<>(MEMORY.keySet());
    nodes.remove(SCHEDULERS);
    for (String node : nodes) {
      pod("all-" + node, List.of(create(new ClaimForm("all-" + node, "whole.gpu.partita.dev")
          .count(Objects.requireNonNull(CARDS.get(node)))
          .selector("device.attributes[\"gpu.partita.dev\"].uuid.startsWith(\"GPU-" + node + "\")"), "b")), Map.of());
    }
    Cluster.eventually().until(() -> {
      goOn();
      return pods().stream().allMatch(RandomLoad::isBound);
    });
    pods().forEach(pod -> attempt(() -> cluster.client.resource(pod).delete()));
    Cluster.eventually().until(() -> {
      goOn();
      return claims().isEmpty();
    });
  }

  /** Who waits, and what for. */
  String standing() {
    StringBuilder words = new StringBuilder();
    pods().forEach(pod -> words.append("\npod ").append(pod.getMetadata().getNamespace()).append('/')
        .append(pod.getMetadata().getName()).append(" claims ").append(claimNames(pod)).append(" node ")
        .append(pod.getSpec().getNodeName()).append(" gates ").append(pod.getSpec().getSchedulingGates().size())
        .append(' ').append(pod.getMetadata().getAnnotations()).append(' ').append(pod.getStatus() == null
            ? ""
            : pod.getStatus().getPhase() + " " + pod.getStatus().getConditions()));
    claims().forEach(claim -> words.append("\nclaim ").append(name(claim)).append(" ends ")
        .append(claim.getMetadata().getDeletionTimestamp()).append(' ').append(claim.getMetadata().getFinalizers())
        .append(' ').append(claim.getMetadata().getAnnotations()).append(' ').append(users(claim)).append(' ')
        .append(SoldCards.results(claim)));
    cluster.client.resources(GpuNode.class).list().getItems().forEach(node -> words.append("\nGpuNode ")
        .append(node.getMetadata().getName()).append(' ').append(node.getSpec()).append(' ')
        .append(node.getStatus() == null ? "" : node.getStatus().conditions()));
    cluster.client.nodes().list().getItems().forEach(
        node -> words.append("\nNode ").append(node.getMetadata().getName()).append(' ').append(node.getSpec()));
    return words.toString();
  }
}
