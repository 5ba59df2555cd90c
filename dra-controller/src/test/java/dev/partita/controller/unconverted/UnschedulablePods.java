package dev.partita.controller.unconverted;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Map;

/** Pods that kube-scheduler has found no node for. */
public final class UnschedulablePods {
  private UnschedulablePods() {}

  /** One with one container. */
  public static Pod pod(String namespace, String name, Map<String, String> labels, Map<String, Quantity> limits) {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName(name)
        .withLabels(labels)
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("main")
        .withNewResources()
        .withLimits(limits)
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .addNewCondition()
        .withType("PodScheduled")
        .withStatus("False")
        .withReason("Unschedulable")
        .endCondition()
        .endStatus()
        .build();
  }
}
