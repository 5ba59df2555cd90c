package dev.partita.controller.web.view;

/** What one viewer may see, by the cluster's RBAC. */
public interface Sight {
  /** Whether all GpuNodes: cards, their health, and how much of them is taken. */
  boolean nodes();

  /** Whether all GpuQuotas. */
  boolean quotas();

  /** Whether the ResourceClaims of a namespace. */
  boolean claimsOf(String namespace);

  /** Whether the pods of a namespace. */
  boolean podsOf(String namespace);
}
