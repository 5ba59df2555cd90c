package dev.partita.controller;

import dev.partita.api.Driver;
import dev.partita.controller.gang.PodGroup;
import dev.partita.controller.gang.PodGroupPolicy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/** Users of a cluster, who make and delete pods and claims and ask for other sizes. */
final class RandomUsers {
  static final List<String> NAMESPACES = List.of("a", "b");

  /** The class of another driver's devices. */
  static final String FOREIGN = "nic";

  private static final String GANG = Driver.GANG_ANNOTATION;
  private static final String GANG_SIZE = Driver.GANG_SIZE_ANNOTATION;
  /** Keeps a pod that is deleted as long as its containers run. */
  private static final String GRACE = "example.com/grace";

  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final LoadedCluster load;
  private final Cluster cluster;
  private final Random random;
  private int number; // of the last pod that was made

  RandomUsers(LoadedCluster load) {
    this.load = load;
    this.cluster = load.cluster;
    this.random = load.random;
  }

  void makePod(int claims) {
    load.did("pod of " + claims + (claims == 1 ? " claim" : " claims"));
    number++;
    pod("p" + number, IntStream.range(0, claims).mapToObj(each -> create(
        each == 0 ? ask("c" + number + "-0") : share("c" + number + "-" + each), namespace())).toList(), Map.of());
  }

  /** A pod that has a device of another driver as well. */
  void makePodOfTwoDrivers() {
    load.did("pod of two drivers");
    number++;
    String namespace = namespace();
    List<ResourceClaim> there = load.claims().stream().filter(RandomUsers::isForeign)
        .filter(claim -> claim.getMetadata().getNamespace().equals(namespace)).toList();
    ResourceClaim foreign = random.nextBoolean() && !there.isEmpty()
        ? load.any(there).orElseThrow()
        : create(new ClaimForm("n" + number, FOREIGN), namespace);
    pod("p" + number, List.of(create(ask("c" + number), namespace), foreign), Map.of());
  }

  static boolean isForeign(ResourceClaim claim) {
    return FOREIGN.equals(claim.getSpec().getDevices().getRequests().getFirst().getExactly().getDeviceClassName());
  }

  void makePodOfAClaimThatIsThere() {
    load.any(load.claims().stream().filter(claim -> claim.getMetadata().getDeletionTimestamp() == null).toList())
        .ifPresent(claim -> {
          load.did("pod of a claim that is there");
          number++;
          pod("p" + number,
              random.nextInt(3) > 0
                  ? List.of(claim)
                  : List.of(claim, create(share("c" + number), claim.getMetadata().getNamespace())),
              Map.of());
        });
  }

  /** A pod with all cards of a node. */
  void makePodOfNode(String node) {
    String name = "all-" + node;
    pod(name, List.of(create(new ClaimForm(name, "whole.gpu.partita.dev")
        .count(Objects.requireNonNull(RandomNodes.CARDS.get(node)))
        .selector("device.attributes[\"gpu.partita.dev\"].uuid.startsWith(\"GPU-" + node + "\")"), "b")), Map.of());
  }

  void deletePod() {
    load.any(load.pods()).ifPresent(pod -> {
      load.did("delete a pod");
      LoadedCluster.attempt(() -> cluster.client.resource(pod).delete());
    });
  }

  void endPod() {
    load.any(load.pods().stream().filter(LoadedCluster::isBound).toList()).ifPresent(pod -> {
      load.did("end a pod");
      LoadedCluster.attempt(() -> cluster.client.resource(new PodBuilder(pod).editOrNewStatus()
          .withPhase(random.nextBoolean() ? "Succeeded" : "Failed").endStatus().build()).updateStatus());
    });
  }

  void deleteClaim() {
    load.any(load.claims()).ifPresent(claim -> {
      load.did("delete a claim");
      LoadedCluster.attempt(() -> cluster.client.resource(claim).delete());
    });
  }

  private String namespace() {
    return load.any(NAMESPACES).orElseThrow();
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
    pod(name, claims, annotations, Optional.empty());
  }

  private void pod(
      String name,
      List<ResourceClaim> claims,
      Map<String, String> annotations,
      Optional<String> podGroup) {
    String namespace = claims.getFirst().getMetadata().getNamespace();
    PodBuilder pod = new PodBuilder().withNewMetadata().withName(name).withNamespace(namespace)
        .withAnnotations(annotations).endMetadata().withNewSpec().withPriority(random.nextInt(3))
        .addNewContainer().withName("main").withNewResources()
        .addToRequests("cpu", new Quantity(Integer.toString(random.nextInt(3) * random.nextInt(3)))).endResources()
        .endContainer().endSpec();
    podGroup.ifPresent(group -> pod.editSpec().withNewSchedulingGroup(group).endSpec());
    if (random.nextInt(4) == 0) {
      pod.editMetadata().addToFinalizers(GRACE).endMetadata();
    }
    if (random.nextInt(8) == 0) {
      pod.editSpec().withPreemptionPolicy("Never").endSpec();
    }
    if (random.nextInt(5) > 0) {
      pod.editSpec().addNewSchedulingGate(Driver.ALLOCATION_GATE).endSpec();
    }
    for (ResourceClaim claim : claims) {
      String its = claim.getMetadata().getName();
      if (claim.getMetadata().getNamespace().equals(namespace)) {
        pod.editSpec().addNewResourceClaim().withName(its).withResourceClaimName(its).endResourceClaim().endSpec();
      }
    }
    LoadedCluster.attempt(() -> cluster.client.resource(pod.build()).create());
    if (random.nextInt(8) == 0) {
      cluster.rules.protect(name);
    }
  }

  void makeGang() {
    load.did("gang");
    number++;
    String namespace = namespace();
    int size = 2 + random.nextInt(3);
    String gang = "g" + number;
    makeMembers(namespace, gang, 0, size + random.nextInt(4) / 3, size, random.nextInt(2) == 0);
  }

  private void makeMembers(String namespace, String gang, int from, int to, int size, boolean byPodGroup) {
    ClaimForm form = share("unused");
    int claims = 1 + random.nextInt(3) / 2;
    boolean shared = random.nextInt(6) == 0;
    if (byPodGroup && from == 0 && random.nextInt(4) > 0) {
      LoadedCluster
          .attempt(() -> cluster.client.resource(PodGroupsOfTests.gang(namespace, gang, size)).create());
    }
    for (int i = from; i < to; i++) {
      List<ResourceClaim> its = new ArrayList<>();
      for (int each = 0; each < claims; each++) {
        String name = gang + "-" + i + "-" + each;
        its.add(createOrGet(new ResourceClaimBuilder(form.claim()).editMetadata().withName(name)
            .withNamespace(namespace).endMetadata().build()));
      }
      if (shared) {
        its.add(createOrGet(new ResourceClaimBuilder(new ClaimForm("unused", FOREIGN).claim()).editMetadata()
            .withName(gang + "-nic-" + i).withNamespace(namespace).endMetadata().build()));
      }
      pod(gang + "-" + i, its,
          byPodGroup ? Map.of() : Map.of(GANG, gang, GANG_SIZE, Integer.toString(size)),
          byPodGroup ? Optional.of(gang) : Optional.empty());
    }
    if (byPodGroup && from == 0) {
      LoadedCluster
          .attempt(() -> cluster.client.resource(PodGroupsOfTests.gang(namespace, gang, size)).create());
    }
  }

  private ResourceClaim createOrGet(ResourceClaim claim) {
    ResourceClaim there = cluster.client.resource(claim).get();
    return there == null ? cluster.client.resource(claim).create() : there;
  }

  /** A gang is to have another size, gets more pods, or is made anew by the same name. */
  void changeGang() {
    load.any(load.pods().stream().filter(pod -> !gangOf(pod).isEmpty()).toList()).ifPresent(pod -> {
      String namespace = pod.getMetadata().getNamespace();
      String gang = gangOf(pod);
      boolean byPodGroup = pod.getSpec().getSchedulingGroup() != null;
      List<Pod> members = load.pods().stream().filter(other -> gangOf(other).equals(gang)).toList();
      int size = Math.max(1, members.size() - 1 + random.nextInt(3));
      var group = cluster.client.resources(PodGroup.class).inNamespace(namespace).withName(gang);
      switch (random.nextInt(4)) {
        case 0 -> {
          load.did("another size of a gang");
          if (byPodGroup) {
            LoadedCluster.attempt(() -> group.patch(MERGE,
                "{\"spec\": {\"schedulingPolicy\": {\"gang\": {\"minCount\": " + size + "}}}}"));
          } else {
            members.forEach(member -> LoadedCluster.attempt(() -> cluster.client.resource(member).patch(MERGE,
                "{\"metadata\": {\"annotations\": {\"" + GANG_SIZE + "\": \"" + size + "\"}}}")));
          }
        }
        case 1 -> {
          load.did("a PodGroup that goes or comes");
          if (byPodGroup) {
            if (group.get() == null) {
              LoadedCluster
                  .attempt(() -> cluster.client.resource(PodGroupsOfTests.gang(namespace, gang, size)).create());
            } else {
              LoadedCluster.attempt(group::delete);
            }
          }
        }
        case 2 -> {
          load.did("more pods of a gang");
          number++;
          makeMembers(namespace, gang, 10 + number, 11 + number, sizeOf(pod), byPodGroup);
        }
        default -> {
          load.did("a gang anew");
          members.forEach(member -> LoadedCluster.attempt(() -> cluster.client.resource(member).delete()));
          if (byPodGroup) {
            LoadedCluster.attempt(group::delete);
          }
          makeMembers(namespace, gang, 0, size, size, byPodGroup);
        }
      }
    });
  }

  static String gangOf(Pod pod) {
    return pod.getSpec().getSchedulingGroup() != null
        ? pod.getSpec().getSchedulingGroup().getPodGroupName()
        : pod.getMetadata().getAnnotations().getOrDefault(GANG, "");
  }

  /** How many pods its gang must have; more than there can be, if there is no such PodGroup. */
  private int sizeOf(Pod pod) {
    if (pod.getSpec().getSchedulingGroup() == null) {
      return Integer.parseInt(pod.getMetadata().getAnnotations().get(GANG_SIZE));
    }
    PodGroup group = cluster.client.resources(PodGroup.class).inNamespace(pod.getMetadata().getNamespace())
        .withName(gangOf(pod)).get();
    return group != null && group.policy() instanceof PodGroupPolicy.AllAtOnce(int minCount) ? minCount : 1000;
  }

  void resize() {
    load.any(
        load.claims().stream().filter(claim -> !AllocatedCards.results(claim).isEmpty() && !isForeign(claim)).toList())
        .ifPresent(claim -> {
          load.did("resize");
          String size = "memory=" + (1 + random.nextInt(60)) + "Gi,cores=" + 5 * random.nextInt(1, 15);
          LoadedCluster.attempt(() -> cluster.client.resource(claim).patch(MERGE,
              "{\"metadata\": {\"annotations\": {\"" + Driver.RESIZE_ANNOTATION + "\": \"" + size + "\"}}}"));
        });
  }

  /** Whether a pod can never be served, as those whose claim goes, or whose gang is not complete. */
  boolean isHopeless(Pod pod, List<Pod> pods, Map<String, ResourceClaim> claims) {
    String gang = gangOf(pod);
    List<Pod> members = pods.stream().filter(other -> !gang.isEmpty() && gang.equals(gangOf(other))
        && !LoadedCluster.isGoing(other) && !LoadedCluster.hasEnded(other)).toList();
    return LoadedCluster.hasEnded(pod)
        || (!gang.isEmpty() && (members.size() < sizeOf(pod)
            || members.stream().anyMatch(other -> sizeOf(other) != sizeOf(pod))))
        || LoadedCluster.claimNames(pod).stream().map(name -> claims.get(pod.getMetadata().getNamespace() + "/" + name))
            .anyMatch(claim -> claim == null || claim.getMetadata().getDeletionTimestamp() != null);
  }

  void deleteHopeless() {
    List<Pod> pods = load.pods();
    Map<String, ResourceClaim> claims = load.byName();
    pods.stream().filter(pod -> isHopeless(pod, pods, claims))
        .forEach(pod -> LoadedCluster.attempt(() -> cluster.client.resource(pod).delete()));
  }
}
