package dev.partita.api.device;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;

/**
 * Conditions of a device that is a MIG instance which is made once it is allocated: by them kube-scheduler learns
 * whether it may bind the pod (KEP-5007). The constants are spelt as in ResourceSlices and in the claim's status.
 */
public enum InstanceCondition {
  /** The instance is there: the pod may be bound. */
  InstanceMade,
  /** The instance cannot be made: kube-scheduler takes the allocation back and looks for another place. */
  InstanceFailed;

  /** Whether kube-scheduler waits for the device, or did, before it binds a pod. */
  public static boolean areAwaited(DeviceRequestAllocationResult device) {
    return Driver.NAME.equals(device.getDriver()) && device.getBindingConditions() != null
        && device.getBindingConditions().contains(InstanceMade.name());
  }
}
