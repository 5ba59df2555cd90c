package dev.partita.controller;

import dev.partita.api.Driver;
import dev.partita.controller.claim.AllocationStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ExactDeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** kube-scheduler, and kube-controller-manager's part in ResourceClaims, as far as they deal with claims here. */
final class PlayedKubernetes {
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final LoadedCluster load;
  private final Cluster cluster;
  private final Random random;
  private final Consumer<String> tookBack;

  /** @param tookBack is told the UID of a claim whose allocation kube-scheduler took back */
  PlayedKubernetes(LoadedCluster load, Consumer<String> tookBack) {
    this.load = load;
    this.cluster = load.cluster;
    this.random = load.random;
    this.tookBack = tookBack;
  }

  /** Looks at pods that may be scheduled. */
  void schedule(boolean oddly) {
    Map<String, ResourceClaim> claims = load.byName();
    Set<String> open = cluster.client.nodes().list().getItems().stream()
        .filter(node -> !Boolean.TRUE.equals(node.getSpec().getUnschedulable()))
        .map(node -> node.getMetadata().getName()).collect(Collectors.toSet());
    for (Pod pod : load.pods()) {
      if (LoadedCluster.isBound(pod) || LoadedCluster.hasEnded(pod) || LoadedCluster.isGoing(pod)
          || !pod.getSpec().getSchedulingGates().isEmpty()) {
        continue;
      }
      List<@Nullable ResourceClaim> its = new ArrayList<>();
      LoadedCluster.claimNames(pod).forEach(name -> its.add(claims.get(pod.getMetadata().getNamespace() + "/" + name)));
      if (its.size() == 1 && its.getFirst() != null && !RandomUsers.isForeign(its.getFirst())) {
        LoadedCluster.attempt(() -> allocateOnOwnNode(Objects.requireNonNull(its.getFirst()), pod));
      }
      allocateForeign(its, open);
      if (its.contains(null) || its.stream().anyMatch(claim -> AllocatedCards.results(claim).isEmpty()
          || claim.getMetadata().getDeletionTimestamp() != null)) {
        continue;
      }
      Set<String> nodes = its.stream().flatMap(claim -> AllocatedCards.results(claim).stream())
          .map(result -> result.getPool().substring(0, result.getPool().indexOf('/'))).collect(Collectors.toSet());
      if (nodes.size() > 1 || !open.containsAll(nodes) || !hasRoom(nodes.iterator().next(), pod)
          || (oddly && random.nextInt(3) == 0)) {
        load.did("no fit");
        its.forEach(claim -> takeBack(claim, pod));
      } else {
        load.did("bind");
        LoadedCluster.attempt(() -> {
          its.forEach(claim -> reserve(claim, pod));
          cluster.client.pods().inNamespace(pod.getMetadata().getNamespace()).withName(pod.getMetadata().getName())
              .patch(MERGE, "{\"spec\": {\"nodeName\": \"" + nodes.iterator().next() + "\"}}");
        });
      }
    }
  }

  private boolean hasRoom(String node, Pod pod) {
    return load.pods().stream().filter(other -> node.equals(other.getSpec().getNodeName()))
        .filter(other -> !LoadedCluster.hasEnded(other)).mapToInt(LoadedCluster::cpus).sum()
        + LoadedCluster.cpus(pod) <= RandomNodes.CPUS;
  }

  /** Gives another driver's devices to those of the claims that ask for them, once the others have theirs. */
  private void allocateForeign(List<@Nullable ResourceClaim> claims, Set<String> open) {
    if (open.isEmpty() || claims.stream().anyMatch(claim -> claim == null
        || claim.getMetadata().getDeletionTimestamp() != null
        || (AllocatedCards.results(claim).isEmpty() && !RandomUsers.isForeign(claim)))) {
      return;
    }
    Optional<String> node = claims.stream().flatMap(claim -> AllocatedCards.results(claim).stream())
        .map(result -> result.getPool().substring(0, result.getPool().indexOf('/'))).findFirst()
        .or(() -> load.any(open.stream().sorted().toList()));
    for (int i = 0; i < claims.size(); i++) {
      ResourceClaim claim = Objects.requireNonNull(claims.get(i));
      if (AllocatedCards.results(claim).isEmpty()) {
        load.did("allocate another driver's device");
        int at = i;
        LoadedCluster.attempt(() -> claims.set(at, cluster.client.resource(new ResourceClaimBuilder(claim)
            .editOrNewStatus().withNewAllocation().withNodeSelector(AllocationStatus.onlyOn(node.orElseThrow()))
            .withNewDevices().addNewResult().withRequest("gpu")
            .withDriver("nic.example.com").withPool(node.orElseThrow() + "/nic").withDevice("nic-0").endResult()
            .endDevices().endAllocation().endStatus().build()).updateStatus()));
      }
    }
  }

  /** Gives the pod a share of a card of a node on which kube-scheduler allocates. */
  private void allocateOnOwnNode(ResourceClaim claim, Pod pod) {
    ExactDeviceRequest request = claim.getSpec().getDevices().getRequests().getFirst().getExactly();
    if (!AllocatedCards.results(claim).isEmpty() || claim.getMetadata().getDeletionTimestamp() != null
        || claim.getMetadata().getNamespace().equals("a") // whose quota admission would hold kube-scheduler to
        || request.getCapacity() == null || !claim.getSpec().getDevices().getConfig().isEmpty()
        || (request.getCount() != null && request.getCount() > 1)) {
      return;
    }
    Set<String> offered = cluster.slices().stream()
        .filter(slice -> Driver.NAME.equals(slice.getSpec().getDriver()))
        .flatMap(slice -> slice.getSpec().getDevices().stream()
            .filter(device -> device.getTaints() == null || device.getTaints().isEmpty())
            .map(device -> slice.getSpec().getPool().getName() + "/" + device.getName()))
        .collect(Collectors.toSet());
    Map<String, Quantity> asked = request.getCapacity().getRequests();
    Map<String, List<AllocatedCards.Part>> allocated = AllocatedCards.of(load.claims()).cards();
    for (String node : List.of(RandomNodes.SCHEDULERS, RandomNodes.SWITCHED)) {
      for (int card = 0; card < 2; card++) {
        List<AllocatedCards.Part> parts = allocated.getOrDefault(node + "/gpu/gpu-" + card, List.of());
        long memory = parts.stream().mapToLong(AllocatedCards.Part::memory).sum();
        long cores = parts.stream().mapToLong(AllocatedCards.Part::cores).sum();
        if (offered.contains(node + "/gpu/gpu-" + card + "-shared") && hasRoom(node, pod)
            && parts.stream().allMatch(part -> part.way() == AllocatedCards.Way.SHARE)
            && memory + Objects.requireNonNull(asked.get("memory")).getNumericalAmount().longValueExact()
                <= RandomNodes.H200
            && cores + Objects.requireNonNull(asked.get("cores")).getNumericalAmount().longValueExact() <= 100) {
          load.did("allocate on " + node);
          allocate(claim, pod, node, card, asked);
          return;
        }
      }
    }
  }

  private void allocate(ResourceClaim claim, Pod pod, String node, int card, Map<String, Quantity> asked) {
    ResourceClaim kept = cluster.client.resource(new ResourceClaimBuilder(claim).editMetadata()
        .withFinalizers("resource.kubernetes.io/delete-protection").endMetadata().build()).update();
    cluster.client.resource(new ResourceClaimBuilder(kept).editOrNewStatus().withNewAllocation().withNewDevices()
        .addNewResult().withRequest("gpu").withDriver(Driver.NAME).withPool(node + "/gpu")
        .withDevice("gpu-" + card + "-shared")
        .withShareID(new UUID(random.nextLong(), random.nextLong()).toString())
        .withConsumedCapacity(asked).endResult().endDevices().endAllocation()
        .addNewReservedFor(null, pod.getMetadata().getName(), "pods", pod.getMetadata().getUid()).endStatus()
        .build()).updateStatus();
  }

  private void reserve(ResourceClaim claim, Pod pod) {
    if (!LoadedCluster.users(claim).contains(pod.getMetadata().getUid())) {
      cluster.client.resource(new ResourceClaimBuilder(claim).editStatus()
          .addNewReservedFor(null, pod.getMetadata().getName(), "pods", pod.getMetadata().getUid()).endStatus()
          .build()).updateStatus();
    }
  }

  private void takeBack(ResourceClaim claim, Pod pod) {
    if (Set.of(pod.getMetadata().getUid()).containsAll(LoadedCluster.users(claim))) {
      LoadedCluster.attempt(() -> {
        cluster.client.resource(LoadedCluster.free(claim)).updateStatus();
        tookBack.accept(claim.getMetadata().getUid());
      });
    }
  }

  /** Ends the reservations of pods that are over, deallocates what nobody uses, deletes what no pod names. */
  void manageClaims() {
    load.did("manage claims");
    List<Pod> pods = load.pods();
    Set<String> alive = pods.stream().filter(pod -> !LoadedCluster.hasEnded(pod)).map(pod -> pod.getMetadata().getUid())
        .collect(Collectors.toSet());
    Set<String> named = pods.stream().flatMap(pod -> LoadedCluster.claimNames(pod).stream()
        .map(claim -> pod.getMetadata().getNamespace() + "/" + claim)).collect(Collectors.toSet());
    for (ResourceClaim claim : load.claims()) {
      Set<String> users = LoadedCluster.users(claim);
      boolean ends = claim.getMetadata().getDeletionTimestamp() != null;
      if (!alive.containsAll(users) || (ends && users.isEmpty())) {
        LoadedCluster.attempt(() -> manage(claim, alive));
      } else if (!named.contains(LoadedCluster.name(claim)) && !ends && random.nextInt(3) > 0) {
        LoadedCluster.attempt(() -> cluster.client.resource(claim).delete());
      }
    }
    pods.stream().filter(LoadedCluster::hasEnded).filter(pod -> random.nextBoolean())
        .forEach(pod -> LoadedCluster.attempt(() -> cluster.client.resource(pod).delete()));
  }

  /** What kubelet does when the containers of a pod that goes have ended. */
  void endPodsThatGo(boolean all) {
    load.pods().stream().filter(LoadedCluster::isGoing).filter(pod -> all || random.nextBoolean())
        .forEach(pod -> LoadedCluster.attempt(() -> cluster.client.pods().inNamespace(pod.getMetadata().getNamespace())
            .withName(pod.getMetadata().getName()).patch(MERGE, "{\"metadata\": {\"finalizers\": null}}")));
  }

  private void manage(ResourceClaim claim, Set<String> alive) {
    List<ResourceClaimConsumerReference> valid = claim.getStatus() == null
        ? List.of()
        : claim.getStatus().getReservedFor().stream().filter(user -> alive.contains(user.getUid())).toList();
    ResourceClaim now = claim;
    if (claim.getStatus() != null
        && (claim.getStatus().getAllocation() != null || !claim.getStatus().getReservedFor().isEmpty())) {
      now = cluster.client.resource(valid.isEmpty()
          ? LoadedCluster.free(claim)
          : new ResourceClaimBuilder(claim).editStatus().withReservedFor(valid).endStatus().build()).updateStatus();
    }
    if (valid.isEmpty() && !now.getMetadata().getFinalizers().isEmpty()) {
      cluster.client.resource(new ResourceClaimBuilder(now).editMetadata().withFinalizers(List.of()).endMetadata()
          .build()).update();
    }
  }
}
