package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.cel.common.types.SimpleType;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.extensions.CelExtensions;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelRuntimeFactory;
import dev.partita.admission.convert.ClaimTemplate;
import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicyBinding;
import io.fabric8.kubernetes.api.model.resource.v1.ExactDeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

  /** A pod may ask for a class of one model by Kubernetes' own extended resource, and is converted. */
  @ParameterizedTest
  @ValueSource(strings = {"gpu.partita.dev", "whole.gpu.partita.dev", "mig.gpu.partita.dev", "h200.gpu.partita.dev",
    "shared.mig.gpu.partita.dev", "h200.opaque.gpu.partita.dev"})
  void theControllerMayMakeTheTemplatesOfPodsThatAskForAClassOfPartitas(String name) throws Exception {
    assertThat(mayMake(template(name))).isTrue();
  }

  @Test
  void theControllerMayMakeNoTemplateForAnotherDriversDevices() throws Exception {
    ResourceClaimTemplate template = template("gpu.partita.dev");
    ExactDeviceRequest asked = template.getSpec().getSpec().getDevices().getRequests().getFirst().getExactly();
    asked.setDeviceClassName("gpu.nvidia.com");
    assertThat(mayMake(template)).isFalse();
    asked.setDeviceClassName("xgpu.partita.dev");
    assertThat(mayMake(template)).isFalse();
  }

  private static ResourceClaimTemplate template(String className) {
    ResourceClaimTemplate template = new ClaimTemplate(
        new GpuRequest(1, new GpuRequest.Portion.OfClass(className), CardChoice.ANY, ShareOptions.NONE)).object();
    template.getMetadata().setLabels(Map.of(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER));
    return template;
  }

  /** Whether the policy lets the controller make the template: its expression, evaluated. */
  private static boolean mayMake(ResourceClaimTemplate template) throws Exception {
    ValidatingAdmissionPolicy policy = policies(Map.of()).stream()
        .filter(each -> each.getMetadata().getName().equals("partita-own-templates")).findFirst().orElseThrow();
    var compiler = CelCompilerFactory.standardCelCompilerBuilder().addLibraries(CelExtensions.optional())
        .setStandardMacros(CelStandardMacro.STANDARD_MACROS).addVar("variables", SimpleType.DYN)
        .addVar("request", SimpleType.DYN).build();
    var runtime = CelRuntimeFactory.standardCelRuntimeBuilder().addLibraries(CelExtensions.optional()).build();
    Object object = new ObjectMapper().convertValue(template, Object.class);
    return (boolean) runtime
        .createProgram(compiler.compile(policy.getSpec().getValidations().getFirst().getExpression()).getAst())
        .eval(Map.of("request", Map.of("operation", "CREATE"), "variables", Map.of("template", object)));
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
