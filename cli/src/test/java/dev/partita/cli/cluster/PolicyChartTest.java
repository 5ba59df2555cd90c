package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** ValidatingAdmissionPolicies guard: nothing of them may depend on whether something of ours runs. */
class PolicyChartTest {
  private static final List<String> AGAINST_TENANTS =
      List.of("partita-proposals", "partita-granted-sizes", "partita-delete-protection", "partita-tolerations",
          "partita-allocations", "partita-no-mps");

  @Test
  void everyPolicyFailsClosedAndDenies() {
    List<ValidatingAdmissionPolicy> policies = policies(Map.of());
    assertThat(policies).allSatisfy(policy -> assertThat(policy.getSpec().getFailurePolicy()).isEqualTo("Fail"));
    assertThat(bindings(Map.of()))
        .allSatisfy(binding -> assertThat(binding.getSpec().getValidationActions()).containsExactly("Deny"))
        .allSatisfy(binding -> assertThat(binding.getSpec().getMatchResources()).as("everywhere").isNull())
        .extracting(binding -> binding.getSpec().getPolicyName())
        .containsExactlyInAnyOrderElementsOf(names(policies));
  }

  @Test
  void whatHoldsTenantsDoesSoWithoutWebhooksToo() {
    assertThat(names(policies(Map.of("webhook.enabled", false)))).containsAll(AGAINST_TENANTS);
  }

  @Test
  void mpsIsRefusedUnlessAnAdministratorAllowsIt() {
    List<String> bound = names(bindings(Map.of()));
    assertThat(bound).contains("partita-no-mps");
    bound = bound.stream().filter(name -> !name.equals("partita-no-mps")).toList();
    assertThat(names(bindings(Map.of("plugin.mps", true)))).containsExactlyElementsOf(bound);
  }

  /** An object is seen by a policy in the version that its rule names, whatever version a request has. */
  @Test
  void whatHoldsTenantsSeesEveryVersionOfTheApi() {
    assertThat(policies(Map.of()))
        .filteredOn(policy -> AGAINST_TENANTS.contains(policy.getMetadata().getName()))
        .hasSize(AGAINST_TENANTS.size())
        .extracting(policy -> policy.getSpec().getMatchConstraints())
        .allSatisfy(matched -> assertThat(matched.getMatchPolicy()).as("Equivalent by default").isNull())
        .allSatisfy(matched -> assertThat(matched.getNamespaceSelector()).isNull())
        .allSatisfy(matched -> assertThat(matched.getExcludeResourceRules()).isEmpty());
  }

  private static List<ValidatingAdmissionPolicy> policies(Map<String, Object> values) {
    return Chart.rendered(values)
        .filter(ValidatingAdmissionPolicy.class::isInstance)
        .map(ValidatingAdmissionPolicy.class::cast)
        .toList();
  }

  private static List<ValidatingAdmissionPolicyBinding> bindings(Map<String, Object> values) {
    return Chart.rendered(values)
        .filter(ValidatingAdmissionPolicyBinding.class::isInstance)
        .map(ValidatingAdmissionPolicyBinding.class::cast)
        .toList();
  }

  private static List<String> names(List<? extends HasMetadata> objects) {
    return objects.stream().map(object -> object.getMetadata().getName()).toList();
  }
}
