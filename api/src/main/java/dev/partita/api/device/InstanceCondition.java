package dev.partita.api.device;

/**
 * Conditions of a device that is a MIG instance which is made once it is allocated: by them kube-scheduler learns
 * whether it may bind the pod (KEP-5007). The constants are spelt as in ResourceSlices and in the claim's status.
 */
public enum InstanceCondition {
  /** The instance is there: the pod may be bound. */
  InstanceMade,
  /** The instance cannot be made: kube-scheduler takes the allocation back and looks for another place. */
  InstanceFailed
}
