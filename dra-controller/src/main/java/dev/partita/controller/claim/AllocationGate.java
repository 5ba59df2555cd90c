package dev.partita.controller.claim;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSchedulingGate;
import java.util.List;
import java.util.Objects;

/** The gate that keeps kube-scheduler from looking at a pod before the controller is done with its claims. */
public final class AllocationGate {
  private AllocationGate() {}

  public static boolean isOn(Pod pod) {
    return index(pod) >= 0;
  }

  /** The pod's other gates: somebody else keeps kube-scheduler from looking at it, such as a queue of jobs. */
  public static List<String> others(Pod pod) {
    return Objects.requireNonNullElse(pod.getSpec().getSchedulingGates(), List.<PodSchedulingGate>of()).stream()
        .map(PodSchedulingGate::getName).filter(name -> !Driver.ALLOCATION_GATE.equals(name)).toList();
  }

  /** Where it stands among the pod's scheduling gates; -1 if it is none of them. */
  public static int index(Pod pod) {
    List<PodSchedulingGate> gates = Objects.requireNonNullElse(pod.getSpec().getSchedulingGates(), List.of());
    for (int i = 0; i < gates.size(); i++) {
      if (Driver.ALLOCATION_GATE.equals(gates.get(i).getName())) {
        return i;
      }
    }
    return -1;
  }
}
