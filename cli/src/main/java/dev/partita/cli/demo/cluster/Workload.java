package dev.partita.cli.demo.cluster;

import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.device.CapacityName;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;

/**
 * A pod that asks for a share of a card.
 *
 * @param name of the pod, its container and its claim template
 * @param deviceClass what kind of card
 * @param memory such as {@code 8Gi}
 * @param cores percent of a card
 */
public record Workload(String name, String deviceClass, String memory, int cores) {
  public static final Workload TRAINER = new Workload("trainer", Driver.classOfModel("h200"), "64Gi", 50);
  public static final Workload NOTEBOOK = new Workload("notebook", Driver.SHARE_CLASS, "8Gi", 25);
  public static final Workload SERVER = new Workload("inference", Driver.classOfModel("l40s"), "24Gi", 50);
  public static final Workload LATECOMER = new Workload("finetune", Driver.SHARE_CLASS, "100Gi", 50);

  static final String CLAIM = "gpu";

  public long memoryBytes() {
    return Bytes.of(memory);
  }

  /** What it asks for, for people. */
  public String wish() {
    String card = deviceClass.equals(Driver.SHARE_CLASS)
        ? "any card"
        : "an " + deviceClass.substring(0, deviceClass.indexOf('.'));
    return "%-10s %7s and %d %% of %-8s".formatted(name, Bytes.words(memoryBytes()), cores, card);
  }

  ResourceClaimTemplate template() {
    return new ResourceClaimTemplateBuilder()
        .withNewMetadata()
        .withNamespace("default")
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withNewSpec()
        .withNewDevices()
        .addNewRequest()
        .withName(CLAIM)
        .withNewExactly()
        .withDeviceClassName(deviceClass)
        .withNewCapacity()
        .addToRequests(CapacityName.MEMORY, new Quantity(memory))
        .addToRequests(CapacityName.CORES, new Quantity(Integer.toString(cores)))
        .endCapacity()
        .endExactly()
        .endRequest()
        .endDevices()
        .endSpec()
        .endSpec()
        .build();
  }

  Pod pod() {
    return new PodBuilder()
        .withNewMetadata()
        .withNamespace("default")
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withSchedulerName("default-scheduler")
        .addNewResourceClaim()
        .withName(CLAIM)
        .withResourceClaimTemplateName(name)
        .endResourceClaim()
        .addNewContainer()
        .withName(name)
        .withImage("partita-demo")
        .withNewResources()
        .addNewClaim()
        .withName(CLAIM)
        .endClaim()
        .endResources()
        .endContainer()
        .endSpec()
        .withNewStatus()
        .withPhase("Pending")
        .endStatus()
        .build();
  }
}
