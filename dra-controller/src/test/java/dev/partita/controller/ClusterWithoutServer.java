package dev.partita.controller;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.Driver;
import dev.partita.api.device.CapacityName;
import dev.partita.api.node.GpuNode;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.claim.AllocationStatus;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.claim.PodOrder;
import dev.partita.controller.classes.ClassPlan;
import dev.partita.controller.decide.PodDecider;
import dev.partita.controller.decide.PodDecisions;
import dev.partita.controller.gang.GangKey;
import dev.partita.controller.gang.PodGroupPolicy;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.nodes.PodRequests;
import dev.partita.controller.preempt.Priorities;
import dev.partita.controller.proposal.OthersProposals;
import dev.partita.controller.quota.QuotaWorld;
import dev.partita.controller.state.ClaimLedger;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Vetoes;
import dev.partita.controller.watch.AllocatedDevices;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.Heartbeat;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClassBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A cluster's objects, and what is decided about them, in memory. Nothing is written, and nobody is told of it.
 *
 * <p>Tables write a node as name and number of cards ({@code a:2}), a pod that runs as name, priority, card and GiB
 * ({@code x 1 a/0 60}), one that waits as name, priority and GiB ({@code p 10 60}, {@code p 10 whole}); pods without a
 * namespace ({@code b/p}) are in {@code default}.
 */
public final class ClusterWithoutServer implements ClusterObjects {
  private static final long CARD = 140 * GpuNodes.GIB;

  public final Vetoes vetoes = new Vetoes();
  public final HeldClock clock = new HeldClock(Instant.parse("2026-01-01T00:00:00Z"));
  public final Priorities priorities = new Priorities();
  public final SchedulerState state =
      new SchedulerState(
          this,
          new ClaimLedger(
              uid -> PodClaims.mayUse(podByUid(uid)), uid -> podByUid(uid) != null,
              new OthersProposals(claim -> Optional.empty(), clock)));
  public final PodDecisions decisions =
      new PodDecisions(
          new PodDecider(this, state, vetoes, DecisionBudget.endless(), new Heartbeat("the test")), state, clock);
  private final List<GpuNode> gpuNodes = new ArrayList<>();
  private final Map<String, Node> nodes = new TreeMap<>();
  private final Map<String, Namespace> namespaces = new TreeMap<>();
  private final Map<ObjectKey, Pod> pods = new LinkedHashMap<>();
  private final Map<ObjectKey, ResourceClaim> claims = new LinkedHashMap<>();
  private final SortedMap<String, GpuQuotaSpec> quotas = new TreeMap<>();

  public static ObjectKey key(String name) {
    String[] parts = name.split("/", -1);
    return parts.length == 1 ? new ObjectKey("default", name) : new ObjectKey(parts[0], parts[1]);
  }

  /** Nodes as tables write them, separated by blanks. */
  public void nodes(String nodes) {
    for (String node : nodes.split(" ", -1)) {
      String[] parts = node.split(":", -1);
      node(parts[0], Integer.parseInt(parts[1]));
    }
  }

  /** Pods that run, as tables write them, separated by commas. */
  public void running(String pods) {
    for (String pod : pods.split(", ", -1)) {
      String[] words = pod.split(" ", -1);
      String[] card = words[2].split("/", -1);
      running(key(words[0]), Integer.parseInt(words[1]), new CardKey(card[0], Integer.parseInt(card[1])),
          gib(words[3]));
    }
  }

  /** Guarantees to namespaces: each as its name, GiB that are guaranteed, and GiB that it may borrow. */
  public void guarantees(String quotas) {
    for (String quota : quotas.split(", ", -1)) {
      String[] words = quota.split(" ", -1);
      guarantee(words[0], words[1] + "Gi", words[2] + "Gi");
    }
  }

  /** A pod that waits, as tables write it. */
  public Pod waiting(String pod) {
    String[] words = pod.split(" ", -1);
    return waiting(key(words[0]), Integer.parseInt(words[1]), gib(words[2]));
  }

  /** Pods of one gang that wait, as tables write them, separated by commas. */
  public List<Pod> gang(String pods) {
    List<Pod> gang = new ArrayList<>();
    for (String one : pods.split(", ", -1)) {
      Pod pod =
          new PodBuilder(waiting(one)).editMetadata().addToAnnotations(Driver.GANG_ANNOTATION, "train").endMetadata()
              .build();
      put(pod);
      gang.add(pod);
    }
    return gang;
  }

  private static String gib(String amount) {
    return amount.equals("whole") ? amount : amount + "Gi";
  }

  /** Cards have 140 GiB. */
  public void node(String name, int cards) {
    node(new NodeBuilder().withNewMetadata().withName(name).endMetadata().build(), cards);
  }

  public void node(Node node, int cards) {
    add(node, GpuNodes.ready(node.getMetadata().getName(), cards, "NVIDIA H200", CARD));
  }

  /** One on which kube-scheduler allocates. */
  public void nodeOfScheduler(String name, int cards) {
    add(
        new NodeBuilder().withNewMetadata().withName(name).endMetadata().build(),
        GpuNodes.leftToScheduler(name, cards, "NVIDIA H200", CARD));
  }

  /** One whose plugin reports that. */
  public void node(GpuNode gpuNode) {
    add(new NodeBuilder().withNewMetadata().withName(gpuNode.getMetadata().getName()).endMetadata().build(), gpuNode);
  }

  private void add(Node node, GpuNode gpuNode) {
    nodes.put(node.getMetadata().getName(), node);
    gpuNodes.add(gpuNode);
    state.inventoryChanged(state.inventory().refreshed(gpuNodes));
    countQuotas();
  }

  /** Guarantees a namespace memory, and lets it borrow so much more. */
  public void guarantee(String namespace, String guaranteed, String burst) {
    namespaces.put(
        namespace,
        new NamespaceBuilder().withNewMetadata().withName(namespace).addToLabels("name", namespace).endMetadata()
            .build());
    quotas.put(
        "of-" + namespace,
        new GpuQuotaSpec(
            new LabelSelectorBuilder().addToMatchLabels("name", namespace).build(),
            List.of(new GpuQuotaSpec.Limit("", List.of(), null, memory(guaranteed), memory(burst)))));
    countQuotas();
  }

  private static Amounts memory(String quantity) {
    return new Amounts(new Quantity(quantity), null, null, null);
  }

  private void countQuotas() {
    Map<String, Map<String, String>> labels = new TreeMap<>();
    namespaces.forEach((name, namespace) -> labels.put(name, namespace.getMetadata().getLabels()));
    state.claims().quotas().refresh(new QuotaWorld(quotas, labels, Map.of(), state.inventory()));
  }

  /** Adds a pod, or replaces it. */
  public void put(Pod pod) {
    pods.put(ObjectKey.of(pod), pod);
    priorities.put(pod.getMetadata().getUid(), PodOrder.priority(pod));
    if (PodClaims.takesRoom(pod)) {
      state.loads().put(pod.getMetadata().getUid(), pod.getSpec().getNodeName(), PodRequests.of(pod));
    }
  }

  /** The pod is gone. */
  public void remove(ObjectKey pod) {
    Optional.ofNullable(pods.remove(pod)).map(gone -> gone.getMetadata().getUid()).ifPresent(uid -> {
      priorities.remove(uid);
      state.loads().remove(uid);
    });
  }

  /** Adds a claim, or replaces it. */
  public void put(ResourceClaim claim) {
    claims.put(ObjectKey.of(claim), claim);
    state.claims().observe(claim.getMetadata().getUid(), claim);
  }

  /** A claim on a share of so much memory; on a whole card, if that is {@code whole}. */
  public static ResourceClaim claim(ObjectKey key, String memory) {
    ClaimForm form = new ClaimForm(key.name(), memory.equals("whole") ? Driver.WHOLE_CLASS : Driver.SHARE_CLASS);
    if (!memory.equals("whole")) {
      form.capacity(Map.of("memory", memory));
    }
    return new ResourceClaimBuilder(form.claim()).editMetadata().withNamespace(key.namespace())
        .withUid("claim of " + key).withResourceVersion("1").endMetadata().build();
  }

  /** The same claim, allocated and reserved for these pods. */
  public static ResourceClaim allocated(ResourceClaim claim, CardKey card, String memory, List<Pod> users) {
    boolean isWhole = memory.equals("whole");
    DeviceMode mode = isWhole ? DeviceMode.WHOLE : DeviceMode.SHARED;
    DeviceRequestAllocationResultBuilder result =
        new DeviceRequestAllocationResultBuilder().withRequest("gpu").withDriver(Driver.NAME)
            .withPool(Driver.poolOf(card.node())).withDevice(DeviceName.of(card.index(), mode).toString());
    if (!isWhole) {
      result.withShareID("share").withConsumedCapacity(
          Map.of(CapacityName.MEMORY, new Quantity(memory), CapacityName.CORES, new Quantity("0")));
    }
    ResourceClaimBuilder allocated =
        new ResourceClaimBuilder(claim).withNewStatus().withNewAllocation().withNewDevices()
            .withResults(result.build()).endDevices().withNodeSelector(AllocationStatus.onlyOn(card.node()))
            .endAllocation().endStatus();
    for (Pod user : users) {
      allocated.editStatus()
          .addNewReservedFor("", user.getMetadata().getName(), "pods", user.getMetadata().getUid()).endStatus();
    }
    return allocated.build();
  }

  /** A pod with a claim of its own name; its UID is its name with its namespace. */
  public static PodBuilder pod(ObjectKey key, int priority) {
    return new PodBuilder()
        .withNewMetadata().withName(key.name()).withNamespace(key.namespace()).withUid(key.toString())
        .withCreationTimestamp("2026-01-01T00:00:00Z").endMetadata()
        .withNewSpec().withPriority(priority)
        .addNewResourceClaim().withName("gpu").withResourceClaimName(key.name()).endResourceClaim()
        .endSpec();
  }

  /** Adds a pod that runs and uses what it has of the card. */
  public void running(ObjectKey key, int priority, CardKey card, String memory) {
    Pod pod = pod(key, priority).editSpec().withNodeName(card.node()).endSpec().build();
    put(pod);
    put(allocated(claim(key, memory), card, memory, List.of(pod)));
  }

  /** Adds a pod that has nothing yet. */
  public Pod waiting(ObjectKey key, int priority, String memory) {
    Pod pod = pod(key, priority).build();
    put(claim(key, memory));
    put(pod);
    return pod;
  }

  /** What counts as taken, in words. */
  public String taken() {
    List<String> lines = new ArrayList<>();
    claims.values().forEach(
        claim -> lines.add(ObjectKey.of(claim) + ": " + state.claims().bookings(claim.getMetadata().getUid())
            + (state.claims().isAssumed(claim.getMetadata().getUid()) ? " assumed" : "")));
    nodes.keySet()
        .forEach(name -> lines.add(name + ": " + state.loads().of(name) + " " + state.claims().capacities().of(name)));
    lines.add(state.claims().quotas().statuses().toString());
    return String.join("\n", lines);
  }

  @Override
  public @Nullable Node node(String name) {
    return nodes.get(name);
  }

  @Override
  public boolean isPublished(String node) {
    return nodes.containsKey(node);
  }

  @Override
  public boolean isOfferedToScheduler(String node) {
    return false;
  }

  @Override
  public @Nullable Namespace namespace(String name) {
    return namespaces.get(name);
  }

  @Override
  public @Nullable DeviceClass deviceClass(String name) {
    return Optional.ofNullable(ClassPlan.of(state.inventory()).get(name))
        .map(selectors -> new DeviceClassBuilder().withNewMetadata().withName(name).endMetadata()
            .withNewSpec().withSelectors(selectors).endSpec().build())
        .orElse(null);
  }

  @Override
  public @Nullable Pod pod(ObjectKey key) {
    return pods.get(key);
  }

  @Override
  public @Nullable Pod podByUid(String uid) {
    return pods.values().stream().filter(pod -> pod.getMetadata().getUid().equals(uid)).findFirst().orElse(null);
  }

  @Override
  public List<Pod> podsOf(ObjectKey claim) {
    return pods.values().stream().filter(pod -> PodClaims.of(pod).orElse(List.of()).contains(claim)).toList();
  }

  @Override
  public List<Pod> podsOfGang(GangKey gang) {
    return pods.values().stream().filter(pod -> gangOf(pod).equals(Optional.of(gang))).toList();
  }

  @Override
  public PodGroupPolicy policy(GangKey.OfPodGroup group) {
    return new PodGroupPolicy.NoGang();
  }

  @Override
  public @Nullable ResourceClaim claim(ObjectKey key) {
    return claims.get(key);
  }

  @Override
  public List<ResourceClaim> claimsOn(String node) {
    return claims.values().stream()
        .filter(claim -> AllocatedDevices.of(claim).stream()
            .anyMatch(result -> Driver.nodeOfPool(result.getPool()).filter(node::equals).isPresent()))
        .toList();
  }
}
