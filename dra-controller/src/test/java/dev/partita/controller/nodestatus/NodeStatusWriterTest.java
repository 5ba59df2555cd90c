package dev.partita.controller.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.node.BindingClaim;
import dev.partita.api.node.GpuNode;
import dev.partita.controller.Cluster;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.edge.ApiEdge;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NodeStatusWriterTest {
  private final Cluster cluster = Cluster.empty();
  private final NodeStatusWriter writer = new NodeStatusWriter(cluster.client, new ApiEdge(() -> true));

  @BeforeEach
  void aNode() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void whatANewerPluginReportsStays() {
    GenericKubernetesResource reported = generic();
    reported.<Map<String, Object>>get("status").put("ofANewerRelease", Map.of("since", "tomorrow"));
    cluster.client.resource(reported).updateStatus();
    List<BindingClaim> claims = List.of(new BindingClaim("default", "claim", "uid", "2026-01-01T00:00:00Z"));
    writer.write(node(), node().getStatus().withBindingClaims(claims));
    assertThat(node().getStatus().bindingClaims()).isEqualTo(claims);
    writer.write(node(), node().getStatus().withBindingClaims(List.of()));
    assertThat(node().getStatus().bindingClaims()).isEmpty();
    assertThat(generic().<Map<String, Object>>get("status")).containsEntry("ofANewerRelease",
        Map.of("since", "tomorrow"));
  }

  @Test
  void aConditionIsAddedToThoseThatAreThere() {
    List<Condition> conditions = new ArrayList<>(node().getStatus().conditions());
    conditions.add(new ConditionBuilder().withType(GpuNode.SLOW_SCHEDULING).withStatus("True").build());
    writer.write(node(), node().getStatus().withConditions(conditions));
    assertThat(node().getStatus().conditions()).isEqualTo(conditions);
  }

  @Test
  void whatItsPluginHasWrittenMeanwhileIsNotWrittenOver() {
    GpuNode read = node();
    GpuNode reported = node();
    reported.setStatus(reported.getStatus().withSetup(null).withConditions(List.of()));
    cluster.client.resource(reported).updateStatus();
    assertThatThrownBy(() -> writer.write(read,
        read.getStatus()
            .withBindingClaims(List.of(new BindingClaim("default", "claim", "uid", "2026-01-01T00:00:00Z")))))
        .matches(ApiEdge::isConflict);
    assertThat(node().getStatus().bindingClaims()).isEmpty();
  }

  private GpuNode node() {
    return cluster.client.resources(GpuNode.class).withName("node-0").require();
  }

  private GenericKubernetesResource generic() {
    return cluster.client.genericKubernetesResources("gpu.partita.dev/v1alpha1", "GpuNode").withName("node-0")
        .require();
  }
}
