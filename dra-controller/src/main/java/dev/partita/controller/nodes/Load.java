package dev.partita.controller.nodes;

import java.util.Optional;

/**
 * What the pods on one node request together.
 *
 * @param sum of all pods that are, or are about to be, there
 */
public record Load(PodRequests sum) {
  public static final Load NONE = new Load(PodRequests.NONE);

  Optional<String> refusal(PodRequests pod, PodRequests allocatable) {
    if (pod.milliCpu() > 0 && pod.milliCpu() > allocatable.milliCpu() - sum.milliCpu()) {
      return Optional.of("too little CPU is free on the node");
    }
    if (pod.memory() > 0 && pod.memory() > allocatable.memory() - sum.memory()) {
      return Optional.of("too little memory is free on the node");
    }
    return pod.pods() > allocatable.pods() - sum.pods()
        ? Optional.of("the node has as many pods as it may")
        : Optional.empty();
  }
}
