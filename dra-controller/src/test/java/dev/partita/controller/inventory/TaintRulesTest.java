package dev.partita.controller.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.TaintRuleBuilder;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TaintRulesTest {
  private static final List<GpuNode> NODES =
      List.of(
          GpuNodes.ready("a", 1, "NVIDIA H200", GpuNodes.GIB),
          GpuNodes.ready("b", 1, "NVIDIA H200", GpuNodes.GIB));

  private static TaintRuleBuilder rule() {
    return new TaintRuleBuilder("rule");
  }

  @ParameterizedTest
  @CsvSource(nullValues = "any", value = {
    "any, any, any, a/gpu-0 a/gpu-0-shared b/gpu-0 b/gpu-0-shared",
    "gpu.partita.dev, any, any, a/gpu-0 a/gpu-0-shared b/gpu-0 b/gpu-0-shared",
    "gpu.partita.dev, a/gpu, any, a/gpu-0 a/gpu-0-shared",
    "any, b/gpu, gpu-0-shared, b/gpu-0-shared",
    "any, any, gpu-0, a/gpu-0 b/gpu-0",
    "gpu.nvidia.com, any, any, ''",
    "any, a, any, ''",
    "any, a/gpu, gpu-1, ''",
  })
  void aRuleTaintsTheDevicesThatItsSelectorNames(String driver, String pool, String device, String tainted) {
    TaintRuleBuilder rule = rule();
    if (driver != null) {
      rule.driver(driver);
    }
    if (pool != null) {
      rule.pool(pool);
    }
    if (device != null) {
      rule.device(device);
    }
    Inventory inventory = Inventory.EMPTY.refreshed(NODES, List.of(rule.taint("example.com/away", null)));
    assertThat(String.join(" ", taints(inventory).keySet())).isEqualTo(tainted);
  }

  @Test
  void effectsAreTakenAsTheyAreAndNoneKeepsNobodyOff() {
    DeviceTaintRule ends = rule().pool("a/gpu").effect("NoExecute").taint("k", "v");
    DeviceTaintRule says = new TaintRuleBuilder("says").effect("None").taint("k", "v");
    Inventory inventory = Inventory.EMPTY.refreshed(NODES, List.of(ends, says));
    assertThat(taints(inventory)).hasSize(2).containsEntry("a/gpu-0", "k=v:NoExecute of rule");
  }

  @Test
  void aRuleChangesTheNodesThatItIsAboutAndNoOthers() {
    Inventory before = Inventory.EMPTY.refreshed(NODES);
    DeviceTaintRule rule = rule().pool("a/gpu").taint("k", null);
    Inventory during = before.refreshed(NODES, List.of(rule));
    assertThat(during.host("b")).isSameAs(before.host("b"));
    assertThat(during.host("a")).isNotSameAs(before.host("a"));
    assertThat(during.refreshed(NODES, List.of(rule))).isSameAs(during);
    assertThat(before.refreshed(NODES, List.of(rule().pool("c/gpu").taint("k", null)))).isSameAs(before);
    assertThat(taints(during.refreshed(NODES, List.of()))).isEmpty();
  }

  @Test
  void whatANodeReportsStandsBeforeWhatRulesSay() {
    GpuNode unhealthy =
        GpuNodes.ready(
            "a", GpuNodeSpec.DEFAULT,
            List.of(GpuNodes.card("a", 0, "NVIDIA H200", GpuNodes.GIB, GpuHealth.unhealthy("GpuIsLost", "why"))));
    Inventory inventory = Inventory.EMPTY.refreshed(List.of(unhealthy), List.of(rule().taint("k", null)));
    Device device = Objects.requireNonNull(inventory.host("a")).devices().getFirst();
    assertThat(device.taints()).extracting(Device.Taint::key).containsExactly(Driver.HEALTH_TAINT, "k");
    assertThat(device.taints()).extracting(Device.Taint::isPublished).containsExactly(true, false);
  }

  private static Map<String, String> taints(Inventory inventory) {
    Map<String, String> taints = new TreeMap<>();
    inventory.hosts().forEach(
        (node, host) -> host.devices().stream().filter(device -> !device.taints().isEmpty()).forEach(
            device -> taints.put(
                node + "/" + device.name(),
                device.taints().stream()
                    .map(t -> t.key() + "=" + t.value() + ":" + t.effect() + " of " + t.rule().orElse("nobody"))
                    .collect(Collectors.joining(" ")))));
    return taints;
  }
}
