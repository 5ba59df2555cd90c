package dev.partita.controller.watch;

import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gives the objects that decisions about pods go by, as far as they are known. What is not known is null or missing.
 */
public interface ClusterObjects {
  @Nullable
  Node node(String name);

  /** Whether there is a slice of our driver's for that node. */
  boolean isPublished(String node);

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

  /**
   * Pods of a gang.
   *
   * @param gang its namespace and name
   */
  List<Pod> podsOfGang(ObjectKey gang);

  @Nullable
  ResourceClaim claim(ObjectKey key);

  /** Claims that have devices of ours on that node, or for which some are proposed. */
  List<ResourceClaim> claimsOn(String node);
}
