package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WebChartTest {
  private static final Map<String, Object> OFF = Map.of("web.enabled", false);

  @Test
  void thePageIsNoPortOfThePod() {
    var controller = Chart.controller(Map.of()).getContainers().getFirst();
    assertThat(Chart.environment(Chart.controller(Map.of()))).containsEntry("PARTITA_WEB_PORT", "8083");
    assertThat(controller.getPorts()).as("it is on the loopback address").noneMatch(
        port -> port.getContainerPort().equals(8083));
  }

  @Test
  void theViewerMayListWhatThePageShowsAndNothingElse() {
    ClusterRole viewer =
        Chart.roles().filter(role -> role.getMetadata().getName().equals("partita-viewer")).findFirst().orElseThrow();
    assertThat(viewer.getRules()).flatExtracting(PolicyRule::getVerbs).containsOnly("list");
    assertThat(viewer.getRules()).flatExtracting(PolicyRule::getResources)
        .containsExactly("gpunodes", "gpuquotas", "resourceclaims", "pods", "events");
  }

  @Test
  void withoutThePageThereIsNothingOfIt() {
    assertThat(Chart.environment(Chart.controller(OFF))).doesNotContainKey("PARTITA_WEB_PORT");
    assertThat(Chart.text(OFF)).doesNotContain("partita-viewer", "partita-history");
    assertThat(Chart.text(Map.of("web.viewer", false))).doesNotContain("partita-viewer");
    assertThat(verbsOnEvents(Map.of())).contains("list");
    assertThat(verbsOnEvents(OFF)).doesNotContain("list");
  }

  private static List<String> verbsOnEvents(Map<String, Object> values) {
    return Chart.rendered(values).filter(ClusterRole.class::isInstance).map(ClusterRole.class::cast)
        .filter(role -> role.getMetadata().getName().equals("partita-dra-controller"))
        .flatMap(role -> role.getRules().stream()).filter(rule -> rule.getResources().contains("events"))
        .flatMap(rule -> rule.getVerbs().stream()).toList();
  }
}
