package dev.partita.controller.inventory;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;
import org.jspecify.annotations.Nullable;

/**
 * Kubernetes' own kind by which an administrator puts a taint on devices that a driver publishes (KEP-5055); it is
 * cluster-scoped. API servers serve it as {@code resource.k8s.io/v1} since Kubernetes 1.37, and before that as
 * {@link DeviceTaintRuleV1Beta2}. The client's library knows older versions only.
 */
@Group("resource.k8s.io")
@Version("v1")
@Kind("DeviceTaintRule")
@Plural("devicetaintrules")
@Singular("devicetaintrule")
public class DeviceTaintRule extends CustomResource<DeviceTaintRule.Spec, Void> {
  private static final long serialVersionUID = 1L;

  /**
   * Which devices get which taint.
   *
   * @param deviceSelector null for every device of every driver: the API's own words say none, but kube-scheduler, by
   *        its tracker of ResourceSlices, keeps such a rule for all
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Spec(@Nullable Selector deviceSelector, @Nullable Taint taint) {}

  /**
   * Which devices: those of which all that is given holds.
   *
   * @param driver name of a driver; null for any
   * @param pool name of a pool; null for any
   * @param device name of a device; null for any
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Selector(@Nullable String driver, @Nullable String pool, @Nullable String device) {}

  /**
   * A taint.
   *
   * @param effect {@code NoSchedule}, {@code NoExecute} or {@code None}
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Taint(@Nullable String key, @Nullable String value, @Nullable String effect) {}
}
