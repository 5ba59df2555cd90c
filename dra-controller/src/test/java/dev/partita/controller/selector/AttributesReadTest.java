package dev.partita.controller.selector;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AttributesReadTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "device.attributes[\"gpu.partita.dev\"].model == \"h200\"",
        "device.driver == 'gpu.partita.dev' && has(device.attributes['gpu.partita.dev'].model)",
        "device.capacity[\"gpu.partita.dev\"].memory.compareTo(quantity(\"8Gi\")) >= 0 && device.allowMultipleAllocations",
        "\"uuid\" == \"uuid\"",
      })
  void thePlainFormIsKnownToReadNothingElse(String expression) {
    assertThat(AttributesRead.by(expression).mayBeOneOf(Set.of("uuid", "index"))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "device.attributes[\"gpu.partita.dev\"].uuid == \"GPU-1\"",
        "device.attributes[\"gpu.partita.dev\"][\"uu\" + \"id\"] == \"GPU-1\"",
        "device.attributes[\"gpu.\" + \"partita.dev\"].uuid == \"GPU-1\"",
        "device.attributes[\"gpu.partita.dev\"].?uuid.orValue(\"\") == \"GPU-1\"",
        "device.attributes[\"gpu.partita.dev\"].exists(name, name == \"uuid\")",
        "cel.bind(d, device, d.attributes[\"gpu.partita.dev\"].uuid == \"GPU-1\")",
        "device[\"attributes\"][\"gpu.partita.dev\"].uuid == \"GPU-1\"",
        "device . attributes[\"gpu.partita.dev\"].uuid == \"GPU-1\"",
        "device.attributes[\"gpu.partita.dev\"] . uuid == \"GPU-1\"",
      })
  void whateverElseIsDoneWithADeviceMayReadAnything(String expression) {
    assertThat(AttributesRead.by(expression).mayBeOneOf(Set.of("uuid", "index"))).isTrue();
  }

  @Test
  void anAttributeIsKnownByItsNameInAnyDomain() {
    AttributesRead read = AttributesRead.by("device.attributes[\"resource.kubernetes.io\"].numaNode == 1");
    assertThat(read).isEqualTo(new AttributesRead.Named(Set.of("numaNode")));
  }
}
