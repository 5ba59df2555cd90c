package dev.partita.controller.edge;

import java.util.Locale;

/** What a write to the API server is for, as metrics name it. */
public enum WriteKind {
  /** What a claim is about to be allocated, as its annotation. */
  PROPOSAL,
  /** A claim's allocation. */
  ALLOCATION,
  /** An allocation or a proposal is taken back. */
  RELEASE,
  /** A pod's scheduling gate is taken off. */
  GATE,
  /** What becomes of a size that a claim's owner asks for. */
  RESIZE,
  /** Whether a pod could be evicted. */
  EVICTION_TRIAL,
  /** A pod is evicted. */
  EVICTION,
  /** A ResourceSlice. */
  SLICE,
  /** A DeviceClass. */
  DEVICE_CLASS,
  /** The status of a GpuNode. */
  GPUNODE_STATUS,
  /** The status of a GpuQuota. */
  QUOTA_STATUS,
  /** A ResourceClaimTemplate. */
  TEMPLATE,
  /** A pod's condition. */
  POD_CONDITION,
  /** An event. */
  EVENT,
  /** The webhooks' certificate, and who is to trust it. */
  CERTIFICATE,
  /** The samples of the last day. */
  HISTORY;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
