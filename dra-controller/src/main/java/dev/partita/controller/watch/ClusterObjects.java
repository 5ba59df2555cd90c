package dev.partita.controller.watch;

import dev.partita.controller.gang.Gang;
import dev.partita.controller.gang.GangKey;
import dev.partita.controller.gang.PodGroups;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Gives the objects that decisions about pods go by, as far as they are known. What is not known is null or missing.
 */
public interface ClusterObjects extends PodGroups {
  @Nullable
  Node node(String name);

  /** Whether there is a slice of our driver's for that node. */
  boolean isPublished(String node);

  /** Whether kube-scheduler may allocate a device of those slices to a claim that tolerates no taint. */
  boolean isOfferedToScheduler(String node);

  @Nullable
  Namespace namespace(String name);

  @Nullable
  DeviceClass deviceClass(String name);

  @Nullable
  Pod pod(ObjectKey key);

  @Nullable
  Pod podByUid(String uid);

  /** Pods that refer to the claim. */
  List<Pod> podsOf(ObjectKey claim);

  List<Pod> podsOfGang(GangKey gang);

  /** The pod's gang; empty if it belongs to none. */
  default Optional<GangKey> gangOf(Pod pod) {
    return Gang.of(pod, this);
  }

  @Nullable
  ResourceClaim claim(ObjectKey key);

  /** Claims that have devices of ours on that node, or for which some are proposed. */
  List<ResourceClaim> claimsOn(String node);
}
