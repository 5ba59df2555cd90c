package dev.partita.controller.uninstall;

import dev.partita.api.Driver;
import dev.partita.controller.claim.AllocationGate;
import dev.partita.controller.claim.PodClaims;
import dev.partita.controller.commit.GatePatch;
import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Listable;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Ends the controllers and removes what they made in the API. Helm removes what the chart made, and does not know of
 * the rest. GpuNodes and GpuQuotas stay, for administrators write them, too.
 *
 * @param namespace of the chart's release
 * @param deployment name of the controllers' Deployment
 * @param patience for the controllers to end
 * @param say gets a line for each thing that was done
 */
record Removal(KubernetesClient client, String namespace, String deployment, Duration patience, Consumer<String> say) {
  /** Pods use claims: nothing was removed. */
  static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    RefusedException(String message) {
      super(message);
    }
  }

  /**
   * Removes it all, or nothing where pods use claims. Looks for such pods once more after the controllers have ended:
   * until then they may allocate. Where it fails controllers are started again, for the chart stays installed then.
   */
  void run() throws RefusedException {
    refuseInUse();
    Optional<Deployment> controllers =
        Optional.ofNullable(client.apps().deployments().inNamespace(namespace).withName(deployment).get());
    int replicas =
        controllers.map(its -> Objects.requireNonNullElse(its.getSpec().getReplicas(), 1)).orElse(0);
    try {
      controllers.ifPresent(this::end);
      refuseInUse();
      remove();
    } catch (RefusedException | RuntimeException failure) {
      if (replicas > 0) {
        scaleBack(replicas, failure);
      }
      throw failure;
    }
  }

  private void scaleBack(int replicas, Exception failure) {
    try {
      scale(replicas);
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
      say.accept("the controllers are still ended: scale Deployment " + deployment + " to " + replicas);
    }
  }

  private void remove() {
    long gates =
        count(client.pods().inAnyNamespace(), ClusterView.PAGE, pod -> AllocationGate.isOn(pod) && removeGate(pod));
    tell(gates, "scheduling gate", "of pods that waited for the controller: kube-scheduler says now why they wait");
    tell(count(client.resources(ResourceClaimTemplate.class).inAnyNamespace()
        .withLabel(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER), ClusterView.PAGE, this::delete),
        "ResourceClaimTemplate", "of converted pods");
    tell(count(client.resources(ResourceSlice.class), ClusterView.PAGE_OF_SLICES,
        slice -> Driver.NAME.equals(slice.getSpec().getDriver()) && delete(slice)), "ResourceSlice", "");
    tell(count(client.resources(DeviceClass.class)
        .withLabel(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER), ClusterView.PAGE, this::delete),
        "DeviceClass", "");
    client.leases().inNamespace(namespace).withName(deployment).delete();
  }

  private void refuseInUse() throws RefusedException {
    List<ResourceClaim> used = new ArrayList<>();
    count(client.resources(ResourceClaim.class).inAnyNamespace(), ClusterView.PAGE,
        claim -> !ClaimsInUse.among(List.of(claim)).isEmpty() && used.add(claim));
    ClaimsInUse inUse = ClaimsInUse.among(used);
    if (!inUse.isEmpty()) {
      throw new RefusedException(inUse.refusal());
    }
  }

  /** Ends them and waits for their pods, which would make anew what is removed. */
  private void end(Deployment controllers) {
    scale(0);
    Map<String, String> labels = controllers.getSpec().getSelector().getMatchLabels();
    client.pods().inNamespace(namespace).withLabels(labels)
        .informOnCondition(pods -> pods.stream().allMatch(PodClaims::hasEnded))
        .completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS).join();
    List<Pod> left = client.pods().inNamespace(namespace).withLabels(labels).list().getItems().stream()
        .filter(pod -> !PodClaims.hasEnded(pod)).toList();
    if (!left.isEmpty()) {
      throw new IllegalStateException("the controllers have not ended within " + patience.toSeconds() + " s: pod "
          + left.getFirst().getMetadata().getName());
    }
    say.accept("ended the controllers");
  }

  private void scale(int replicas) {
    client.apps().deployments().inNamespace(namespace).withName(deployment).subresource("scale")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"replicas\":" + replicas + "}}");
  }

  /** False if the pod is gone. */
  private boolean removeGate(Pod pod) {
    Optional<Pod> now = new GatePatch(client, new ApiEdge(() -> true)).removed(pod);
    if (now.filter(AllocationGate::isOn).isPresent()) {
      throw new IllegalStateException("other writes to pod " + ObjectKey.of(pod)
          + " came before the removal of its scheduling gate every time; try again");
    }
    return now.isPresent();
  }

  private boolean delete(HasMetadata object) {
    client.resource(object).delete();
    return true;
  }

  /** With how many of them it was done. One answer with all of a large cluster's would not fit into the memory. */
  private static <T extends HasMetadata> long count(
      Listable<? extends KubernetesResourceList<T>> all,
      long page,
      Predicate<T> done) {
    long count = 0;
    @Nullable String next = null;
    do {
      KubernetesResourceList<T> some = all.list(new ListOptionsBuilder().withLimit(page).withContinue(next).build());
      count += some.getItems().stream().filter(done).count();
      next = some.getMetadata() == null ? null : some.getMetadata().getContinue();
    } while (next != null && !next.isEmpty());
    return count;
  }

  private void tell(long count, String what, String which) {
    if (count > 0) {
      say.accept(("removed " + count + " " + what + plural(what, count) + " " + which).strip());
    }
  }

  private static String plural(String what, long count) {
    return count == 1 ? "" : what.endsWith("s") ? "es" : "s";
  }
}
