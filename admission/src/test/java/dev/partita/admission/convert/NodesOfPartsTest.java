package dev.partita.admission.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodesOfPartsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @ParameterizedTest
  @CsvSource({
    "nvidia.com/gpu.replicas, Gt, 1, a part of a card",
    "nvidia.com/gpu.replicas, In, 4, a part of a card",
    "nvidia.com/gpu.replicas, Gt, 0, ",
    "nvidia.com/gpu.replicas, In, 1, ",
    "nvidia.com/mps.capable, In, true, a part of a card",
    "nvidia.com/mps.capable, In, false, ",
    "nvidia.com/gpu.product, In, NVIDIA-A100-SXM4-40GB-MIG-1g.5gb, a MIG instance",
    "nvidia.com/mig.strategy, In, single, perhaps a MIG instance",
    "nvidia.com/mig.strategy, In, mixed, ",
    "nvidia.com/mig.config, In, all-1g.5gb, perhaps a MIG instance",
    "nvidia.com/mig.config, In, all-disabled, ",
    "nvidia.com/device-plugin.config, In, shared, what that configuration of the device plugin says",
    "nvidia.com/gpu.sharing-strategy, In, mps, a part of a card",
    "nvidia.com/gpu.sharing-strategy, In, none, ",
    "nvidia.com/gpu.sharing-strategy, Exists, shared, ",
    "nvidia.com/gpu.sharing-strategy, NotIn, mps, ",
    "nvidia.com/gpu.count, Gt, 1, "})
  void aLabelOfNodesWhoseCardsAreDividedIsNoted(String label, String operator, String value, String is) {
    ObjectNode spec = JSON.createObjectNode();
    spec.withObject("/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution")
        .withArrayProperty("nodeSelectorTerms").addObject().withArrayProperty("matchExpressions").addObject()
        .put("key", label).put("operator", operator).withArrayProperty("values").add(value);

    var note = NodesOfParts.note(spec, "");

    if (is == null) {
      assertThat(note).isEmpty();
    } else {
      assertThat(note.orElseThrow().toString()).contains(
          "nodeSelectorTerms[0].matchExpressions[0]: is of nodes on which nvidia.com/gpu is " + is);
    }
  }
}
