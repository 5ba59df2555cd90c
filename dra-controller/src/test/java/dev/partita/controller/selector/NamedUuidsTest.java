package dev.partita.controller.selector;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NamedUuidsTest {
  private static final String UUID = "device.attributes[\"gpu.partita.dev\"].uuid";

  @Test
  void aChoiceOfUuidsIsRead() {
    assertThat(NamedUuids.in(UUID + " == \"GPU-1\"")).contains(Set.of("GPU-1"));
    assertThat(NamedUuids.in("  " + UUID + "=='GPU-1' || " + UUID + " == \"GPU-2\" "))
        .contains(Set.of("GPU-1", "GPU-2"));
    assertThat(NamedUuids.in(UUID + " == \"\"")).contains(Set.of(""));
  }

  /** To be asked of every device is always right; to leave one out would not be. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "", UUID, UUID + " != \"GPU-1\"", "!(" + UUID + " == \"GPU-1\")", UUID + " == \"GPU-1\" || true",
        UUID + " == \"GPU-1\" || device.driver == \"x\"",
        UUID + " == \"GPU-\\x31\"", UUID + " == \"a\" + \"b\"", UUID + " == \"GPU-1\" ? true : true",
        "device.attributes[\"other\"].uuid == \"GPU-1\"",
        UUID + " == \"GPU-1\".lowerAscii()", "device.attributes[\"gpu.partita.dev\"].model == \"h200\""
      })
  void anythingElseIsNot(String expression) {
    assertThat(NamedUuids.in(expression)).isEmpty();
  }
}
