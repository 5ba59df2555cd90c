package dev.partita.controller;

import dev.partita.api.node.GpuNode;
import dev.partita.controller.gang.PodGroup;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/** A cluster under a random load: what is there, and what chance says. */
final class LoadedCluster {
  final Cluster cluster;
  final Random random;
  private final Map<String, Integer> done = new HashMap<>();

  LoadedCluster(Cluster cluster, Random random) {
    this.cluster = cluster;
    this.random = random;
  }

  /** What was done so far, and how often, for whoever reads of a failure. */
  @Override
  public String toString() {
    return done.toString();
  }

  void did(String what) {
    done.merge(what, 1, Integer::sum);
  }

  <T> Optional<T> any(List<T> of) {
    return of.isEmpty() ? Optional.empty() : Optional.of(of.get(random.nextInt(of.size())));
  }

  /** Others may have changed it or taken it away. */
  static void attempt(Runnable request) {
    try {
      request.run();
    } catch (KubernetesClientException e) {
      if (e.getCode() != 409 && e.getCode() != 404) {
        throw e;
      }
    }
  }

  List<Pod> pods() {
    return cluster.client.pods().inAnyNamespace().list().getItems().stream()
        .sorted(Comparator.comparing(pod -> pod.getMetadata().getName())).toList();
  }

  List<ResourceClaim> claims() {
    return cluster.client.resources(ResourceClaim.class).inAnyNamespace().list().getItems().stream()
        .sorted(Comparator.comparing(claim -> claim.getMetadata().getName())).toList();
  }

  static List<String> claimNames(Pod pod) {
    return pod.getSpec().getResourceClaims().stream().map(PodResourceClaim::getResourceClaimName).toList();
  }

  Map<String, ResourceClaim> byName() {
    return claims().stream().collect(Collectors.toMap(LoadedCluster::name, claim -> claim));
  }

  static String name(ResourceClaim claim) {
    return claim.getMetadata().getNamespace() + "/" + claim.getMetadata().getName();
  }

  static boolean isBound(Pod pod) {
    return pod.getSpec().getNodeName() != null && !pod.getSpec().getNodeName().isEmpty();
  }

  /** Whether a pod that names the claim names one that is not there, too. */
  boolean isOfAPodThatLacksAClaim(String claim) {
    Set<String> there = byName().keySet();
    return pods().stream().map(pod -> claimNames(pod).stream()
        .map(name -> pod.getMetadata().getNamespace() + "/" + name).collect(Collectors.toSet()))
        .anyMatch(names -> names.contains(claim) && !there.containsAll(names));
  }

  static boolean isGoing(Pod pod) {
    return pod.getMetadata().getDeletionTimestamp() != null;
  }

  /** Whole CPUs that the pod requests. */
  static int cpus(Pod pod) {
    return pod.getSpec().getContainers().stream().mapToInt(
        container -> Objects.requireNonNull(container.getResources().getRequests().get("cpu")).getNumericalAmount()
            .intValueExact())
        .sum();
  }

  static boolean hasEnded(Pod pod) {
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return "Succeeded".equals(phase) || "Failed".equals(phase);
  }

  static ResourceClaim free(ResourceClaim claim) {
    return new ResourceClaimBuilder(claim).editStatus().withAllocation(null).withReservedFor(List.of())
        .withDevices(List.of()).endStatus().build();
  }

  static Set<String> users(ResourceClaim claim) {
    return claim.getStatus() == null
        ? Set.of()
        : claim.getStatus().getReservedFor().stream().map(ResourceClaimConsumerReference::getUid)
            .collect(Collectors.toSet());
  }

  /** Who waits, and what for. */
  String standing() {
    StringBuilder words = new StringBuilder();
    pods().forEach(pod -> words.append("\npod ").append(pod.getMetadata().getNamespace()).append('/')
        .append(pod.getMetadata().getName()).append(" claims ").append(claimNames(pod)).append(" node ")
        .append(pod.getSpec().getNodeName()).append(" gates ").append(pod.getSpec().getSchedulingGates().size())
        .append(" priority ")
        .append(pod.getSpec().getPriority()).append(" cpus ").append(cpus(pod)).append(" ends ")
        .append(pod.getMetadata().getDeletionTimestamp()).append(" group ")
        .append(pod.getSpec().getSchedulingGroup() == null
            ? ""
            : pod.getSpec().getSchedulingGroup().getPodGroupName())
        .append(' ').append(pod.getMetadata().getAnnotations()).append(' ').append(pod.getStatus() == null
            ? ""
            : pod.getStatus().getPhase() + " " + pod.getStatus().getConditions()));
    claims().forEach(claim -> words.append("\nclaim ").append(name(claim)).append(" ends ")
        .append(claim.getMetadata().getDeletionTimestamp()).append(' ').append(claim.getMetadata().getFinalizers())
        .append(' ').append(claim.getMetadata().getAnnotations()).append(' ').append(users(claim)).append(' ')
        .append(AllocatedCards.results(claim)));
    cluster.client.resources(GpuNode.class).list().getItems().forEach(node -> words.append("\nGpuNode ")
        .append(node.getMetadata().getName()).append(' ').append(node.getSpec()).append(' ')
        .append(node.getStatus() == null ? "" : node.getStatus().conditions()));
    cluster.client.resources(PodGroup.class).inAnyNamespace().list().getItems().forEach(group -> words
        .append("\nPodGroup ").append(group.getMetadata().getNamespace()).append('/')
        .append(group.getMetadata().getName()).append(' ').append(group.getSpec()));
    cluster.client.nodes().list().getItems().forEach(
        node -> words.append("\nNode ").append(node.getMetadata().getName()).append(' ').append(node.getSpec()));
    return words.toString();
  }
}
