package dev.partita.controller.inventory;

import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Singular;
import io.fabric8.kubernetes.model.annotation.Version;

/**
 * A {@link DeviceTaintRule} as Kubernetes 1.36 serves it, if the feature gate {@code DRADeviceTaintRules} is on and
 * {@code --runtime-config} has this version. Its fields are those of {@code v1}.
 */
@Group("resource.k8s.io")
@Version("v1beta2")
@Kind("DeviceTaintRule")
@Plural("devicetaintrules")
@Singular("devicetaintrule")
public final class DeviceTaintRuleV1Beta2 extends DeviceTaintRule {
  private static final long serialVersionUID = 1L;
}
