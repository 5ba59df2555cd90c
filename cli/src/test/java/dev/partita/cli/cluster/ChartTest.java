package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import dev.partita.admission.dialect.Dialect;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ChartTest {
  private static final KubernetesSerialization YAML = new KubernetesSerialization();
  private static final Helm CHART = new Helm(Path.of("../deploy/helm/partita"));

  @Test
  void lintsStrictly() {
    LintResult result = CHART.lint().strict().call();
    assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
  }

  @Test
  void aValueThatIsMisspeltOrMalformedIsRefused() {
    assertThatThrownBy(() -> rendered(Map.of("simulaton.enabled", true))).hasMessageContaining("simulaton");
    assertThatThrownBy(() -> rendered(Map.of("simulation.gpus", "h200 x4"))).hasMessageContaining("gpus");
    assertThatThrownBy(() -> rendered(Map.of("driver.root", "relative"))).hasMessageContaining("root");
  }

  @Test
  void theSimulatorIsMentionedOnlyWhereCardsAreSimulated() {
    assertThat(text(Map.of())).doesNotContainIgnoringCase("simulat");
    PodSpec pod = plugin(Map.of("simulation.enabled", true, "simulation.gpus", "t4x2,a100x1"));
    assertThat(pod.getInitContainers()).singleElement().satisfies(laysOut -> assertThat(laysOut.getArgs()).contains("t4x2,a100x1"));
    assertThat(environment(pod))
        .containsEntry("PARTITA_DRIVER_ROOT_ON_HOST", "/var/lib/partita/simulator")
        .containsEntry("PARTITA_EXTRA_DRIVER_MOUNTS", "/etc/partita-simulator:ro,/run/partita-simulator:rw");
  }

  @Test
  void onlyRealCardsMakeThePluginPrivileged() {
    assertThat(privileged(Map.of())).isTrue();
    assertThat(privileged(Map.of("plugin.runtimeClassName", "nvidia"))).isFalse();
    assertThat(privileged(Map.of("plugin.privileged", false))).isFalse();
    assertThat(privileged(Map.of("simulation.enabled", true))).isFalse();
  }

  @Test
  void thePluginSeesTheDriverRootReadOnlyAndItsOwnFoldersUnderTheirOwnPaths() {
    PodSpec pod = plugin(Map.of());
    Map<String, String> host =
        pod.getVolumes().stream()
            .filter(volume -> volume.getHostPath() != null)
            .collect(java.util.stream.Collectors.toMap(v -> v.getName(), v -> v.getHostPath().getPath()));
    assertThat(pod.getContainers().getFirst().getVolumeMounts())
        .filteredOn(mount -> host.containsKey(mount.getName()))
        .allSatisfy(
            mount -> {
              if (mount.getName().equals("driver-root")) {
                assertThat(mount.getReadOnly()).isTrue();
              } else {
                assertThat(mount.getMountPath()).isEqualTo(host.get(mount.getName()));
              }
            });
  }

  @Test
  void cardsAreCutOnlyWhereThatIsAllowedAndSimulatedOnesByWritingIntoTheDriverRoot() {
    assertThat(plugin(Map.of()).getContainers().getFirst().getEnv()).noneMatch(env -> env.getName().equals("PARTITA_MIG"));
    PodSpec real = plugin(Map.of("plugin.mig", true));
    PodSpec simulated = plugin(Map.of("plugin.mig", true, "simulation.enabled", true));
    assertThat(real.getContainers().getFirst().getEnv()).anyMatch(env -> env.getName().equals("PARTITA_MIG") && env.getValue().equals("true"));
    assertThat(driverRootIsReadOnly(real)).isTrue();
    assertThat(driverRootIsReadOnly(simulated)).isFalse();
  }

  private static boolean driverRootIsReadOnly(PodSpec pod) {
    return pod.getContainers().getFirst().getVolumeMounts().stream().filter(mount -> mount.getName().equals("driver-root")).allMatch(mount -> Boolean.TRUE.equals(mount.getReadOnly()));
  }

  @Test
  void noRoleHasAWildcardOrReadsSecrets() {
    assertThat(roles())
        .isNotEmpty()
        .flatExtracting(ClusterRole::getRules)
        .allSatisfy(
            rule -> {
              assertThat(rule.getVerbs()).doesNotContain("*", "impersonate", "escalate", "bind");
              assertThat(rule.getResources()).doesNotContain("*", "secrets", "configmaps");
            });
  }

  @Test
  void theControllerReadsOneSecretAndMakesNone() {
    assertThat(rendered(Map.of()).filter(Role.class::isInstance).map(Role.class::cast).flatMap(role -> role.getRules().stream()))
        .filteredOn(rule -> rule.getResources().contains("secrets"))
        .singleElement()
        .satisfies(
            rule -> {
              assertThat(rule.getResourceNames()).containsExactly("partita-webhook-certificate");
              assertThat(rule.getVerbs()).containsExactly("get", "list", "watch", "update");
            });
    assertThat(roles().flatMap(role -> role.getRules().stream()))
        .filteredOn(rule -> rule.getResources().contains("mutatingwebhookconfigurations"))
        .singleElement()
        .satisfies(rule -> assertThat(rule.getResourceNames()).containsExactly("partita-webhook"));
  }

  @Test
  void webhooksHoldUpNobodyAndSeeNeitherPartitasPodsNorTheSystems() {
    List<MutatingWebhook> pods = mutating(Map.of()).getWebhooks();
    assertThat(pods)
        .singleElement()
        .satisfies(
            webhook -> {
              assertThat(webhook.getFailurePolicy()).isEqualTo("Ignore");
              assertThat(webhook.getSideEffects()).isEqualTo("None");
              assertThat(webhook.getReinvocationPolicy()).isEqualTo("IfNeeded");
              assertThat(webhook.getTimeoutSeconds()).isLessThanOrEqualTo(5);
              assertThat(webhook.getMatchConditions()).isNotEmpty();
              assertThat(webhook.getNamespaceSelector().getMatchExpressions().getFirst().getValues()).containsExactly("partita-system", "kube-system");
              assertThat(webhook.getClientConfig().getCaBundle()).as("the controller's to fill in").isNull();
            });
    assertThat(validating(Map.of()).getWebhooks())
        .hasSize(3)
        .allSatisfy(
            webhook -> {
              assertThat(webhook.getFailurePolicy()).isEqualTo("Ignore");
              assertThat(webhook.getSideEffects()).isEqualTo("None");
              assertThat(webhook.getMatchConditions()).isNotEmpty();
            });
    assertThat(mutating(Map.of("webhook.pods.failurePolicy", "Fail")).getWebhooks().getFirst().getFailurePolicy()).isEqualTo("Fail");
    assertThatThrownBy(() -> rendered(Map.of("webhook.pods.failurePolicy", "Sometimes"))).hasMessageContaining("failurePolicy");
  }

  /** Every resource that a dialect knows must bring the pod to the webhook, and nothing that is no GPU's. */
  @Test
  void podsAreSentByTheResourcesOfEveryDialect() {
    String expression = mutating(Map.of()).getWebhooks().getFirst().getMatchConditions().getFirst().getExpression();
    Matcher literal = Pattern.compile("matches\\(\"([^\"]+)\"\\)").matcher(expression);
    assertThat(literal.find()).isTrue();
    Pattern sent = Pattern.compile(literal.group(1));
    for (Dialect dialect : Dialect.values()) {
      assertThat(dialect.reader().resources()).allSatisfy(name -> assertThat(sent.matcher(name).find()).as(name).isTrue());
    }
    assertThat(List.of("nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared")).allSatisfy(name -> assertThat(sent.matcher(name).find()).as(name).isTrue());
    assertThat(List.of("cpu", "memory", "ephemeral-storage", "amd.com/gpu", "rdma/nvidia.com/gpu", "xnvidia.com/gpu", "nvidia0com/gpu"))
        .allSatisfy(name -> assertThat(sent.matcher(name).find()).as(name).isFalse());
  }

  @Test
  void theServiceLeadsToTheControllersPort() {
    io.fabric8.kubernetes.api.model.Service service =
        rendered(Map.of()).filter(io.fabric8.kubernetes.api.model.Service.class::isInstance).map(io.fabric8.kubernetes.api.model.Service.class::cast).findFirst().orElseThrow();
    Container container = controller(Map.of("webhook.port", 9443)).getContainers().getFirst();
    assertThat(container.getPorts()).anySatisfy(port -> {
      assertThat(port.getName()).isEqualTo(service.getSpec().getPorts().getFirst().getTargetPort().getStrVal());
      assertThat(port.getContainerPort()).isEqualTo(9443);
    });
    assertThat(environment(controller(Map.of("webhook.port", 9443)))).containsEntry("PARTITA_WEBHOOK_PORT", "9443");
  }

  @Test
  void withoutWebhooksNothingIsLeftOfThem() {
    assertThat(text(Map.of("webhook.enabled", false))).doesNotContainIgnoringCase("webhook").doesNotContain("secrets");
    assertThat(text(Map.of("webhook.pods.enabled", false))).doesNotContain("MutatingWebhookConfiguration\n").contains("ValidatingWebhookConfiguration");
  }

  @Test
  void withCertManagerTheControllerWritesNeitherTheSecretNorTheConfigurations() {
    String text = text(Map.of("webhook.certManager.enabled", true));
    assertThat(text)
        .contains("kind: Issuer", "secretName: partita-webhook-certificate", "dnsNames: [partita-webhook.partita-system.svc]")
        .contains("cert-manager.io/inject-ca-from: partita-system/partita-webhook")
        .doesNotContain("kind: Secret\n")
        .doesNotContain("validatingwebhookconfigurations]");
    assertThat(text(Map.of("webhook.certManager.enabled", true, "webhook.certManager.issuerRef.name", "corporate")))
        .contains("name: corporate")
        .doesNotContain("kind: Issuer\nmetadata");
  }

  @Test
  void thePluginMayNeitherAllocateNorPublish() {
    List<PolicyRule> rules =
        roles().filter(role -> role.getMetadata().getName().endsWith("plugin")).flatMap(role -> role.getRules().stream()).toList();
    assertThat(rules).flatExtracting(PolicyRule::getResources).doesNotContain("resourceclaims/binding", "resourceslices", "deviceclasses");
    assertThat(rules)
        .filteredOn(rule -> rule.getResources().contains("resourceclaims/driver"))
        .singleElement()
        .satisfies(
            rule -> {
              assertThat(rule.getResourceNames()).containsExactly("gpu.partita.dev");
              assertThat(rule.getVerbs()).containsExactly("associated-node:patch");
            });
  }

  @Test
  void whatTheControllerMayPatchOfPodsIsHeldByAPolicyEach() {
    List<String> patched =
        roles()
            .filter(role -> role.getMetadata().getName().endsWith("dra-controller"))
            .flatMap(role -> role.getRules().stream())
            .filter(rule -> rule.getApiGroups().equals(List.of("")) && !java.util.Collections.disjoint(rule.getVerbs(), List.of("patch", "update")))
            .flatMap(rule -> rule.getResources().stream())
            .toList();
    assertThat(patched).containsExactlyInAnyOrder("pods", "pods/status");
    List<String> held =
        rendered(Map.of())
            .filter(ValidatingAdmissionPolicy.class::isInstance)
            .map(ValidatingAdmissionPolicy.class::cast)
            .filter(policy -> "Fail".equals(policy.getSpec().getFailurePolicy()))
            .filter(policy -> policy.getSpec().getMatchConditions().stream().anyMatch(c -> c.getExpression().contains(":partita-system:partita-dra-controller")))
            .flatMap(policy -> policy.getSpec().getMatchConstraints().getResourceRules().stream())
            .flatMap(rule -> rule.getResources().stream())
            .toList();
    assertThat(held).containsAll(patched);
  }

  @Test
  void containersAreConfinedAndBounded() {
    PodSpec controller = controller(Map.of());
    assertThat(controller.getSecurityContext().getRunAsNonRoot()).isTrue();
    PodSpec plugin = plugin(Map.of("simulation.enabled", true));
    assertThat(Stream.of(controller.getContainers(), plugin.getContainers(), plugin.getInitContainers()).flatMap(List::stream))
        .allSatisfy(
            container -> {
              assertThat(container.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
              assertThat(container.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
              assertThat(container.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
            });
    assertThat(Stream.of(controller, plugin).map(PodSpec::getContainers).flatMap(List::stream))
        .allSatisfy(container -> assertThat(container.getResources().getLimits()).containsKey("memory"));
  }

  @Test
  void thePluginSeesTheNodesProcessesAndMayEndThemOnlyWhereThatIsAskedFor() {
    assertThat(plugin(Map.of()).getHostPID()).isTrue();
    assertThat(plugin(Map.of("plugin.hostPID", false)).getHostPID()).isFalse();
    assertThat(environment(plugin(Map.of()))).containsEntry("PARTITA_ON_EXCESS", "report");
    PodSpec killing = plugin(Map.of("simulation.enabled", true, "plugin.onExcess", "kill"));
    assertThat(environment(killing)).containsEntry("PARTITA_ON_EXCESS", "kill");
    assertThat(killing.getContainers().getFirst().getSecurityContext().getCapabilities().getAdd()).containsExactly("KILL");
    assertThat(plugin(Map.of("simulation.enabled", true)).getContainers().getFirst().getSecurityContext().getCapabilities().getAdd()).isEmpty();
    assertThatThrownBy(() -> rendered(Map.of("plugin.onExcess", "evict"))).hasMessageContaining("onExcess");
  }

  private static boolean privileged(Map<String, Object> values) {
    return Boolean.TRUE.equals(plugin(values).getContainers().getFirst().getSecurityContext().getPrivileged());
  }

  private static Map<String, String> environment(PodSpec pod) {
    Container container = pod.getContainers().getFirst();
    return container.getEnv().stream()
        .filter(variable -> variable.getValue() != null)
        .collect(java.util.stream.Collectors.toMap(v -> v.getName(), v -> v.getValue()));
  }

  private static PodSpec controller(Map<String, Object> values) {
    return rendered(values).filter(Deployment.class::isInstance).map(Deployment.class::cast).findFirst().orElseThrow().getSpec().getTemplate().getSpec();
  }

  private static MutatingWebhookConfiguration mutating(Map<String, Object> values) {
    return rendered(values).filter(MutatingWebhookConfiguration.class::isInstance).map(MutatingWebhookConfiguration.class::cast).findFirst().orElseThrow();
  }

  private static ValidatingWebhookConfiguration validating(Map<String, Object> values) {
    return rendered(values).filter(ValidatingWebhookConfiguration.class::isInstance).map(ValidatingWebhookConfiguration.class::cast).findFirst().orElseThrow();
  }

  private static PodSpec plugin(Map<String, Object> values) {
    return rendered(values).filter(DaemonSet.class::isInstance).map(DaemonSet.class::cast).findFirst().orElseThrow().getSpec().getTemplate().getSpec();
  }

  private static Stream<ClusterRole> roles() {
    return rendered(Map.of()).filter(ClusterRole.class::isInstance).map(ClusterRole.class::cast);
  }

  private static Stream<HasMetadata> rendered(Map<String, Object> values) {
    return Stream.of(text(values).split("(?m)^---$"))
        .filter(document -> document.contains("kind:"))
        .map(document -> (HasMetadata) YAML.unmarshal(document));
  }

  private static String text(Map<String, Object> values) {
    TemplateCommand template = CHART.template().withName("partita").withNamespace("partita-system").withKubeVersion("1.36.3").skipCrds();
    values.forEach(template::set);
    return template.call();
  }
}
