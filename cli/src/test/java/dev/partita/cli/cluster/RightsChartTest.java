package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RightsChartTest {
  @Test
  void noRoleHasAWildcardOrReadsSecrets() {
    assertThat(Chart.roles())
        .isNotEmpty()
        .flatExtracting(ClusterRole::getRules)
        .allSatisfy(
            rule -> {
              assertThat(rule.getVerbs()).doesNotContain("*", "impersonate", "escalate", "bind");
              assertThat(rule.getResources()).doesNotContain("*", "secrets", "configmaps");
            });
  }

  /** The controller's own tests note what it asks for; all of them have run before these where the whole is built. */
  @Test
  void theControllerHasTheRightsThatItsTestsUseAndNoOthers() throws IOException {
    assertThat(granted("partita-dra-controller"))
        .containsExactlyInAnyOrderElementsOf(used("dra-controller", UsedRights.Besides.BINDING));
  }

  /** Likewise. */
  @Test
  void thePluginHasTheRightsThatItsTestsUseAndNoOthers() throws IOException {
    assertThat(granted("partita-kubelet-plugin"))
        .containsExactlyInAnyOrderElementsOf(used("kubelet-plugin", UsedRights.Besides.DRIVER_ON_NODE));
  }

  /** The row of a right names its group, its resources and its verbs; what stands in brackets is for people. */
  @Test
  void theControllersPageListsItsRights() throws IOException {
    String page = Files.readString(Path.of("..", "dra-controller", "README.md"));
    List<String> rows = page.substring(page.indexOf("| group | resource | verbs |")).lines().skip(2)
        .takeWhile(line -> line.startsWith("|")).toList();
    assertThat(rows.stream().flatMap(RightsChartTest::told).toList())
        .containsExactlyInAnyOrderElementsOf(granted("partita-dra-controller"));
  }

  private static Stream<String> told(String row) {
    String[] cells = row.replaceAll("\\([^)]*\\)", "").split("\\|", -1);
    String group = cells[1].strip().startsWith("`") ? words("`([a-z0-9.]+)`", cells[1]).getFirst() : "";
    return words("`([a-z0-9/]+)`", cells[2].split(", only ", 2)[0]).stream()
        .flatMap(resource -> words("\\b(get|list|watch|create|update|patch|delete)\\b", cells[3]).stream()
            .map(verb -> group + "/" + resource + " " + verb));
  }

  private static List<String> words(String pattern, String text) {
    return Pattern.compile(pattern).matcher(text).results().map(found -> found.group(1)).toList();
  }

  private static Set<String> used(String module, UsedRights.Besides also) throws IOException {
    Path requests = Path.of("..", module, "target", "requests-sent.txt");
    assumeTrue(Files.exists(requests), "its tests have not all run here: mvn -pl " + module + ",cli -am test");
    return UsedRights.of(requests, also);
  }

  private static List<String> granted(String name) {
    return Stream.concat(
        Chart.roles().filter(role -> isNamed(role, name)).map(ClusterRole::getRules),
        Chart.rendered(Map.of())
            .filter(Role.class::isInstance)
            .map(Role.class::cast)
            .filter(role -> isNamed(role, name))
            .map(Role::getRules))
        .flatMap(List::stream)
        .flatMap(RightsChartTest::rights)
        .distinct()
        .toList();
  }

  private static boolean isNamed(HasMetadata role, String name) {
    return role.getMetadata().getName().equals(name);
  }

  /** One by one, as in {@code resource.k8s.io/resourceclaims patch}. */
  private static Stream<String> rights(PolicyRule rule) {
    return rule.getApiGroups().stream()
        .flatMap(group -> rule.getResources().stream().map(resource -> group + "/" + resource))
        .flatMap(resource -> rule.getVerbs().stream().map(verb -> resource + " " + verb));
  }

  @Test
  void theControllerReadsOneSecretAndMakesNone() {
    assertThat(Chart.rendered(Map.of()).filter(Role.class::isInstance).map(Role.class::cast)
        .flatMap(role -> role.getRules().stream()))
        .filteredOn(rule -> rule.getResources().contains("secrets"))
        .singleElement()
        .satisfies(
            rule -> {
              assertThat(rule.getResourceNames()).containsExactly("partita-webhook-certificate");
              assertThat(rule.getVerbs()).containsExactly("get", "list", "watch", "update");
            });
    assertThat(Chart.roles().flatMap(role -> role.getRules().stream()))
        .filteredOn(rule -> rule.getResources().contains("mutatingwebhookconfigurations"))
        .singleElement()
        .satisfies(rule -> assertThat(rule.getResourceNames()).containsExactly("partita-webhook"));
  }

  /** Data in the chart would replace what the controller has stored. */
  @Test
  void theControllerMayPatchOneConfigMapWhichTheChartMakesEmpty() {
    assertThat(Chart.rendered(Map.of()).filter(Role.class::isInstance).map(Role.class::cast)
        .flatMap(role -> role.getRules().stream()))
        .filteredOn(rule -> rule.getResources().contains("configmaps"))
        .singleElement()
        .satisfies(
            rule -> {
              assertThat(rule.getResourceNames()).containsExactly("partita-history");
              assertThat(rule.getVerbs()).containsExactly("get", "patch");
            });
    assertThat(Chart.rendered(Map.of()).filter(ConfigMap.class::isInstance).map(ConfigMap.class::cast))
        .filteredOn(object -> object.getMetadata().getName().equals("partita-history"))
        .singleElement()
        .satisfies(object -> assertThat(object.getData()).isNullOrEmpty())
        .satisfies(object -> assertThat(object.getBinaryData()).isNullOrEmpty());
  }

  @Test
  void thePluginMayNeitherAllocateNorPublish() {
    List<PolicyRule> rules =
        Chart.roles().filter(role -> role.getMetadata().getName().endsWith("plugin"))
            .flatMap(role -> role.getRules().stream()).toList();
    assertThat(rules).flatExtracting(PolicyRule::getResources).doesNotContain("resourceclaims/binding",
        "resourceslices", "deviceclasses");
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
        Chart.roles()
            .filter(role -> role.getMetadata().getName().endsWith("dra-controller"))
            .flatMap(role -> role.getRules().stream())
            .filter(rule -> rule.getApiGroups().equals(List.of(""))
                && !java.util.Collections.disjoint(rule.getVerbs(), List.of("patch", "update")))
            .flatMap(rule -> rule.getResources().stream())
            .toList();
    assertThat(patched).containsExactlyInAnyOrder("pods", "pods/status");
    List<String> held =
        Chart.rendered(Map.of())
            .filter(ValidatingAdmissionPolicy.class::isInstance)
            .map(ValidatingAdmissionPolicy.class::cast)
            .filter(policy -> "Fail".equals(policy.getSpec().getFailurePolicy()))
            .filter(policy -> policy.getSpec().getMatchConditions().stream()
                .anyMatch(c -> c.getExpression().contains(":partita-system:partita-dra-controller")))
            .flatMap(policy -> policy.getSpec().getMatchConstraints().getResourceRules().stream())
            .flatMap(rule -> rule.getResources().stream())
            .toList();
    assertThat(held).containsAll(patched);
  }
}
