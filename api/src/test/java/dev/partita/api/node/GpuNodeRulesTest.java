package dev.partita.api.node;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.config.FieldError;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GpuNodeRulesTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{'reservedMemory': '512Mi'}",
    "{'publish': ['Shared'], 'memoryPercent': 150, 'reservedMemory': '0'}"})
  void whatIsInOrderIsLeftAlone(String spec) throws JsonProcessingException {
    assertThat(GpuNodeRules.errors(spec(spec))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'reservedMemory': 'plenty'}            | spec.reservedMemory: is not a quantity such as 40Gi: plenty",
        "{'reservedMemory': '-1Gi'}              | spec.reservedMemory: must not be negative: -1Gi",
        "{'reservedMemory': '1500m'}             | spec.reservedMemory: must be a whole number of bytes: 1500m",
        "{'reservedMemory': '99Ei'}              | spec.reservedMemory: is more than can be counted: 99Ei",
        "{'withhold': ['GPU-0', 'GPU-0']}        | spec.withhold[1]: is named twice: GPU-0",
        "{'evictFrom': ['XID', 'XID']}           | spec.evictFrom[1]: is named twice: XID",
        "{'cordoned': ['GPU-1', 'GPU-0', 'GPU-1']} | spec.cordoned[2]: is named twice: GPU-1",
        "{'publish': ['Whole', 'Shared', 'Whole']} | spec.publish[2]: is named twice: Whole",
      })
  void whatIsWrongIsNamedWithItsPath(String spec, String problem) throws JsonProcessingException {
    assertThat(GpuNodeRules.errors(spec(spec))).extracting(FieldError::toString).containsExactly(problem);
  }

  @Test
  void allErrorsAreFoundAtOnce() throws JsonProcessingException {
    assertThat(GpuNodeRules.errors(spec("{'reservedMemory': '-1', 'publish': ['Shared', 'Shared']}"))).hasSize(2);
  }

  @Test
  void aReserveThatLeavesNothingOfACardIsWarnedOf() throws JsonProcessingException {
    GpuNode node = new GpuNode();
    node.setSpec(spec("{'reservedMemory': '16Gi'}"));
    node.setStatus(
        new GpuNodeStatus(
            2, "", null, null, null, null, List.of(card(0, 16L << 30), card(1, 80L << 30)), List.of()));
    assertThat(GpuNodeRules.warnings(node))
        .extracting(FieldError::toString)
        .containsExactly("spec.reservedMemory: leaves nothing of gpu-0 for shares");
    node.setSpec(spec("{'reservedMemory': '1Gi'}"));
    assertThat(GpuNodeRules.warnings(node)).isEmpty();
  }

  @Test
  void aCardToWithholdOrToCordonThatTheNodeDoesNotHaveIsWarnedOf() throws JsonProcessingException {
    GpuNode node = new GpuNode();
    node.setSpec(spec("{'withhold': ['GPU-0', 'GPU-7'], 'cordoned': ['GPU-8']}"));
    node.setStatus(new GpuNodeStatus(1, "", null, null, null, null, List.of(card(0, 16L << 30)), List.of()));
    assertThat(GpuNodeRules.warnings(node)).extracting(FieldError::toString)
        .containsExactly("spec.withhold[1]: the node has no card GPU-7 now",
            "spec.cordoned[0]: the node has no card GPU-8 now");
  }

  private static Gpu card(int index, long memory) {
    return new Gpu(index, index, "GPU-" + index, GpuProduct.named("NVIDIA T4", "Nvidia", "Turing", "7.5"), memory,
        GpuTopology.UNKNOWN, GpuHealth.HEALTHY);
  }

  private static GpuNodeSpec spec(String json) throws JsonProcessingException {
    return JSON.readValue(json.replace('\'', '"'), GpuNodeSpec.class);
  }
}
