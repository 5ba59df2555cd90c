package dev.partita.controller.whatif;

import dev.partita.controller.gang.PodGroups;
import dev.partita.controller.gang.PodGroupPolicy;
import dev.partita.controller.gang.PodGroup;
import dev.partita.controller.gang.GangKey;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.watch.ClusterObjects;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The objects of a snapshot, and those that are made for a question. */
final class SnapshotObjects implements ClusterObjects {
  private final Map<String, Node> nodes;
  private final Map<String, Namespace> namespaces;
  private final Map<String, DeviceClass> classes;
  private final Set<String> published;
  private final PodGroups groups;
  private final Map<ObjectKey, ResourceClaim> claims = new LinkedHashMap<>();
  private final Map<ObjectKey, Pod> pods = new LinkedHashMap<>();
  private final Map<String, Pod> podsByUid = new HashMap<>();
  private final Map<ObjectKey, List<Pod>> podsByClaim = new HashMap<>();
  private final Map<GangKey, List<Pod>> podsByGang = new HashMap<>();

  SnapshotObjects(ClusterSnapshot snapshot) {
    nodes = byName(snapshot.cluster().nodes());
    namespaces = byName(snapshot.cluster().namespaces());
    classes = byName(snapshot.cluster().deviceClasses());
    published = snapshot.cluster().published();
    groups = groups(snapshot.cluster().podGroups());
    snapshot.claims().forEach(this::put);
    snapshot.pods().forEach(this::put);
  }

  private static <T extends HasMetadata> Map<String, T> byName(Collection<T> objects) {
    Map<String, T> byName = new HashMap<>();
    objects.forEach(object -> byName.put(object.getMetadata().getName(), object));
    return byName;
  }

  private static PodGroups groups(Optional<List<PodGroup>> served) {
    if (served.isEmpty()) {
      return _ -> new PodGroupPolicy.NoGang();
    }
    Map<ObjectKey, PodGroupPolicy> policies = new HashMap<>();
    served.get().forEach(group -> policies.put(ObjectKey.of(group), group.policy()));
    return group -> policies.getOrDefault(new ObjectKey(group.namespace(), group.name()), new PodGroupPolicy.Missing());
  }

  /** Adds the claim, or replaces the one of its name. */
  void put(ResourceClaim claim) {
    claims.put(ObjectKey.of(claim), claim);
  }

  /** Adds the pod. */
  void put(Pod pod) {
    pods.put(ObjectKey.of(pod), pod);
    podsByUid.put(pod.getMetadata().getUid(), pod);
    PodClaims.of(pod).orElse(List.of())
        .forEach(claim -> podsByClaim.computeIfAbsent(claim, _ -> new ArrayList<>()).add(pod));
    gangOf(pod).ifPresent(gang -> podsByGang.computeIfAbsent(gang, _ -> new ArrayList<>()).add(pod));
  }

  /** Takes away a pod and its claim. */
  void remove(Pod pod, ResourceClaim claim) {
    pods.remove(ObjectKey.of(pod));
    podsByUid.remove(pod.getMetadata().getUid());
    podsByClaim.remove(ObjectKey.of(claim));
    gangOf(pod).map(podsByGang::get).ifPresent(others -> others.remove(pod));
    claims.remove(ObjectKey.of(claim));
  }

  Collection<Pod> pods() {
    return List.copyOf(pods.values());
  }

  Collection<ResourceClaim> claims() {
    return List.copyOf(claims.values());
  }

  @Override
  public @Nullable Node node(String name) {
    return nodes.get(name);
  }

  @Override
  public boolean isPublished(String node) {
    return published.contains(node);
  }

  @Override
  public boolean isOfferedToScheduler(String node) {
    return false; // of a node that changes hands the answer is for the time after that
  }

  @Override
  public @Nullable Namespace namespace(String name) {
    return namespaces.get(name);
  }

  @Override
  public @Nullable DeviceClass deviceClass(String name) {
    return classes.get(name);
  }

  @Override
  public @Nullable Pod pod(ObjectKey key) {
    return pods.get(key);
  }

  @Override
  public @Nullable Pod podByUid(String uid) {
    return podsByUid.get(uid);
  }

  @Override
  public List<Pod> podsOf(ObjectKey claim) {
    return podsByClaim.getOrDefault(claim, List.of());
  }

  @Override
  public PodGroupPolicy policy(GangKey.OfPodGroup group) {
    return groups.policy(group);
  }

  @Override
  public List<Pod> podsOfGang(GangKey gang) {
    return podsByGang.getOrDefault(gang, List.of());
  }

  @Override
  public @Nullable ResourceClaim claim(ObjectKey key) {
    return claims.get(key);
  }

  @Override
  public List<ResourceClaim> claimsOn(String node) {
    return claims.values().stream()
        .filter(claim -> AllocatedClaim.taken(claim).stream().anyMatch(taken -> taken.card().node().equals(node)))
        .toList();
  }
}
