package dev.partita.api.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;

/**
 * A tenant writes the opaque config of a claim: whatever it holds, reading it ends, and gives a config within its
 * bounds or errors.
 */
class GpuShareConfigFuzzTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @FuzzTest(maxDuration = "10s")
  void anyDocumentGivesAConfigWithinItsBoundsOrErrors(byte[] document) {
    JsonNode tree;
    try {
      tree = JSON.readTree(document);
    } catch (IOException notJson) {
      return;
    }
    switch (GpuShareConfigDecoder.decode(tree)) {
      case Decoded.Invalid<GpuShareConfig> invalid -> assertThat(invalid.message()).isNotBlank();
      case Decoded.Valid<GpuShareConfig>(GpuShareConfig config) -> {
        assertThat(config.priority()).isBetween(0, 1);
        assertThat(config.oversubscribe()).isBetween(GpuShareConfig.NOT_OVERSUBSCRIBED,
            GpuShareConfig.MOST_OVERSUBSCRIBED);
        assertThat(config.memoryPercent().orElse(1)).isBetween(1, 100);
        assertThat(config.memoryLimit().orElse(0)).isNotNegative();
        assertThat(GpuShareConfigDecoder.decode(tree)).isEqualTo(new Decoded.Valid<>(config));
      }
    }
  }
}
