package dev.partita.admission.convert;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;

/** A pod with any annotations and resources is left alone, refused with reasons, or converted once and for all. */
class PodConversionFuzzTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @FuzzTest(maxDuration = "10s")
  void anyPodIsLeftAloneRefusedOrConvertedForGood(byte[] document) {
    JsonNode pod;
    try {
      pod = JSON.readTree(document);
    } catch (IOException notJson) {
      return;
    }
    PodConversion conversion = new PodConversion();
    JsonNode before = pod.deepCopy();
    Conversion result = conversion.convert(pod, "");
    assertThat(pod).isEqualTo(before);
    if (result instanceof Conversion.Converted converted) {
      assertThat(conversion.convert(converted.pod(), "")).isInstanceOf(Conversion.NothingAsked.class);
      assertThat(converted.templates()).isNotEmpty();
    }
  }
}
