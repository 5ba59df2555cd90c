package dev.partita.e2e.cluster;

import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResultBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.concurrent.ExecutorService;

/**
 * How fast the API server takes the writes that an allocation needs when nobody decides anything and no pod is to be
 * scheduled: for another driver's claims that no pod names.
 */
public final class ApiServerPace {
  private static final String DRIVER = "pace.example.com";

  private ApiServerPace() {}

  /**
   * Makes as many claims, and writes to each first metadata, then the allocation.
   *
   * @param example an allocation as the controller writes it
   * @return seconds that the writes took
   */
  public static double seconds(Workspace workspace, int claims, AllocationResult example, ExecutorService threads)
      throws Exception {
    AllocationResult allocation = ofOther(example);
    Parallel.run(threads, claims, i -> workspace.create(
        "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: pace-%d}, spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: %s}}]}}}"
            .formatted(i, DRIVER)));
    long start = System.nanoTime();
    Parallel.run(threads, claims, i -> write(workspace.client(), workspace.namespace(), "pace-" + i, allocation));
    return (System.nanoTime() - start) / 1e9;
  }

  private static void write(KubernetesClient client, String namespace, String name, AllocationResult allocation) {
    ResourceClaim noted =
        client.resources(ResourceClaim.class).inNamespace(namespace).withName(name)
            .patch(PatchContext.of(PatchType.JSON),
                "[{\"op\": \"add\", \"path\": \"/metadata/annotations\", \"value\": {\"pace.example.com/note\": \"x\"}}]");
    client.resource(new ResourceClaimBuilder(noted).withNewStatus().withAllocation(allocation).endStatus().build())
        .updateStatus();
  }

  private static AllocationResult ofOther(AllocationResult allocation) {
    return new AllocationResultBuilder(allocation)
        .editDevices()
        .withConfig()
        .editMatchingResult(result -> true)
        .withDriver(DRIVER)
        .endResult()
        .endDevices()
        .build();
  }
}
