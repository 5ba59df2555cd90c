package dev.partita.controller;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;

/** Users of a cluster, who make and delete pods and claims and ask for other sizes. */
final class RandomUsers {
  static final List<String> NAMESPACES = List.of("a", "b");

  private static final String GANG = Driver.GANG_ANNOTATION;
  private static final String GANG_SIZE = Driver.GANG_SIZE_ANNOTATION;
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
    pod("p" + number, IntStream.range(0, claims).mapToObj(each -> claim("c" + number + "-" + each)).toList(), Map.of());
  }

  void makePodOfAClaimThatIsThere() {
    load.any(load.claims().stream().filter(claim -> claim.getMetadata().getDeletionTimestamp() == null).toList())
        .ifPresent(claim -> {
          load.did("pod of a claim that is there");
          number++;
          pod("p" + number, List.of(claim), Map.of());
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

  void makeGang() {
    load.did("gang");
    number++;
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

  void resize() {
    load.any(load.claims().stream().filter(claim -> !SoldCards.results(claim).isEmpty()).toList()).ifPresent(claim -> {
      load.did("resize");
      String size = "memory=" + (1 + random.nextInt(60)) + "Gi,cores=" + 5 * random.nextInt(1, 15);
      LoadedCluster.attempt(() -> cluster.client.resource(claim).patch(MERGE,
          "{\"metadata\": {\"annotations\": {\"" + Driver.RESIZE_ANNOTATION + "\": \"" + size + "\"}}}"));
    });
  }

  /** Whether a pod can never be served, as those whose claim goes, or whose gang is not complete. */
  private static boolean isHopeless(Pod pod, List<Pod> pods, Map<String, ResourceClaim> claims) {
    String gang = pod.getMetadata().getAnnotations().get(GANG);
    long members = pods.stream().filter(other -> gang != null && gang.equals(other.getMetadata().getAnnotations()
        .get(GANG))).count();
    return LoadedCluster.hasEnded(pod)
        || (gang != null && members < Integer.parseInt(pod.getMetadata().getAnnotations().get(GANG_SIZE)))
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
