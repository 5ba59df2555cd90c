package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.inventory.DeviceTaintRule;
import dev.partita.controller.inventory.DeviceTaintRuleV1Beta2;
import dev.partita.controller.watch.ClusterView;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** DeviceTaintRules of API servers that serve one version of the kind, or both, or none. */
class TaintRuleVersionsTest {
  private static final String V1 = "v1/devicetaintrules";
  private static final String V1_BETA_2 = "v1beta2/devicetaintrules";

  private final Cluster cluster = Cluster.empty();
  private final ClusterView view = new ClusterView(cluster.client);

  @AfterEach
  void stop() {
    cluster.awaitQuiet();
    view.close();
    cluster.close();
  }

  @Test
  void rulesOfTheOlderVersionCountUntilTheNewerOneIsServed() {
    cluster.rules.undefine(V1);
    cluster.client.resource(older("of-v1beta2")).create();
    view.start();
    assertThat(names()).containsExactly("of-v1beta2");
    assertThat(view.taintRules().getFirst().getSpec().taint()).extracting("key").isEqualTo("example.com/away");
    assertThat(view.isWatching()).isTrue();

    cluster.client.resource(older("later")).create();
    eventually().untilAsserted(() -> assertThat(names()).containsExactlyInAnyOrder("of-v1beta2", "later"));

    cluster.client.resource(newer("of-v1")).create();
    cluster.rules.define(V1);
    eventually().untilAsserted(() -> assertThat(names()).containsExactly("of-v1"));
  }

  @Test
  void whereBothAreServedTheNewerOneCounts() {
    cluster.client.resource(older("of-v1beta2")).create();
    cluster.client.resource(newer("of-v1")).create();
    view.start();
    assertThat(names()).containsExactly("of-v1");
  }

  @Test
  void whereNoneIsServedThereAreNoRules() {
    cluster.rules.undefine(V1);
    cluster.rules.undefine(V1_BETA_2);
    view.start();
    assertThat(names()).isEmpty();
  }

  private List<String> names() {
    return view.taintRules().stream().map(rule -> rule.getMetadata().getName()).toList();
  }

  private static DeviceTaintRule newer(String name) {
    return new TaintRuleBuilder(name).taint("example.com/away", null);
  }

  private static DeviceTaintRuleV1Beta2 older(String name) {
    DeviceTaintRuleV1Beta2 rule = new DeviceTaintRuleV1Beta2();
    rule.setMetadata(newer(name).getMetadata());
    rule.setSpec(newer(name).getSpec());
    return rule;
  }
}
