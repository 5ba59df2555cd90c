package dev.partita.controller.gang;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * Names pods that kube-scheduler schedules together: those that name it as their scheduling group (KEP-4671, KEP-5832).
 * API servers serve it as {@code scheduling.k8s.io/v1beta1} since Kubernetes 1.37, if the feature gate
 * {@code GenericWorkload} is on. The client's library knows an older version only.
 */
@Group("scheduling.k8s.io")
@Version("v1beta1")
@Kind("PodGroup")
@Plural("podgroups")
@Singular("podgroup")
public class PodGroup extends CustomResource<PodGroup.Spec, Void> implements Namespaced {
  private static final long serialVersionUID = 1L;

  /** What is wanted of its pods. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Spec(@Nullable SchedulingPolicy schedulingPolicy) {}

  /**
   * How they are scheduled.
   *
   * @param gang null if it is another policy
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record SchedulingPolicy(@Nullable GangPolicy gang) {}

  /** All of its pods at once, or none: at least {@code minCount} of them. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  public record GangPolicy(int minCount) {}

  /** What it says of a gang. */
  public PodGroupPolicy policy() {
    @Nullable Spec its = getSpec();
    @Nullable SchedulingPolicy policy = its == null ? null : its.schedulingPolicy();
    @Nullable GangPolicy gang = policy == null ? null : policy.gang();
    return gang == null ? new PodGroupPolicy.NoGang() : new PodGroupPolicy.AllAtOnce(gang.minCount());
  }
}
