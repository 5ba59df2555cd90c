package dev.partita.api.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.config.GpuShareConfig.Packing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuShareConfigDecoderTest {
  private static final String HEAD = "\"apiVersion\": \"gpu.partita.dev/v1alpha1\", \"kind\": \"GpuShareConfig\"";

  @Test
  void whatIsNotWrittenTakesItsDefault() {
    assertThat(decode("{" + HEAD + "}")).isEqualTo(new Decoded.Valid<>(GpuShareConfig.DEFAULT));
  }

  @Test
  void everyFieldIsRead() {
    Decoded<GpuShareConfig> decoded =
        decode(
            "{"
                + HEAD
                + """
                , "coreLimit": "Soft", "priority": 0, "memoryPercent": 40,
                "placement": {"nodes": "Spread", "gpus": "Spread", "numa": "Required", "nvlink": "None"}}""");
    assertThat(decoded)
        .isEqualTo(
            new Decoded.Valid<>(
                new GpuShareConfig(
                    CoreLimit.SOFT,
                    0,
                    new GpuShareConfig.Placement(
                        Packing.SPREAD, Packing.SPREAD, Affinity.REQUIRED, Affinity.NONE),
                    OptionalInt.of(40))));
  }

  @Test
  void aMapAsTheClientHandsItOutIsRead() {
    Map<String, Object> parameters =
        Map.of("apiVersion", "gpu.partita.dev/v1alpha1", "kind", "GpuShareConfig", "coreLimit", "None");
    assertThat(GpuShareConfigDecoder.decode(parameters))
        .isInstanceOfSatisfying(
            Decoded.Valid.class,
            valid -> assertThat(((GpuShareConfig) valid.value()).coreLimit()).isEqualTo(CoreLimit.NONE));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "'coreLimt': 'Hard'                | coreLimt: is not a known field; did you mean coreLimit?",
        "'coreLimit': 'hard'               | coreLimit: must be one of Hard, None, Soft, not \"hard\"",
        "'coreLimit': 1                    | coreLimit: must be one of Hard, None, Soft, not 1",
        "'priority': 2                     | priority: must be a whole number from 0 to 1, not 2",
        "'priority': '1'                   | priority: must be a whole number from 0 to 1, not \"1\"",
        "'memoryPercent': 0                | memoryPercent: must be a whole number from 1 to 100, not 0",
        "'memoryPercent': 101              | memoryPercent: must be a whole number from 1 to 100, not 101",
        "'memoryPercent': 12.5             | memoryPercent: must be a whole number from 1 to 100, not 12.5",
        "'memoryPercent': '50'             | memoryPercent: must be a whole number from 1 to 100, not \"50\"",
        "'placement': 'Binpack'            | placement: must be an object, not a string",
        "'placement': {'gpu': 'Binpack'}   | placement.gpu: is not a known field; did you mean gpus?",
        "'placement': {'gpus': 'Tight'}    | placement.gpus: must be one of Auto, Binpack, Spread, not \"Tight\"",
        "'zone': 'a'                       | zone: is not a known field; known are apiVersion, kind, coreLimit, priority, memoryPercent, placement",
      })
  void aMistakeIsNamedWithItsFieldPath(String fields, String error) {
    assertThat(errors("{" + HEAD + ", " + fields.replace('\'', '"') + "}")).containsExactly(error);
  }

  @Test
  void anotherKindOrVersionIsRefusedByName() {
    assertThat(errors("{\"apiVersion\": \"gpu.partita.dev/v2\", \"kind\": \"GpuConfig\"}"))
        .containsExactly(
            "apiVersion: must be gpu.partita.dev/v1alpha1, not \"gpu.partita.dev/v2\"",
            "kind: must be GpuShareConfig, not \"GpuConfig\"");
    assertThat(errors("{}")).containsExactly("apiVersion: must be gpu.partita.dev/v1alpha1", "kind: must be GpuShareConfig");
    assertThat(errors("[]")).first().isEqualTo("must be an object, not a list");
  }

  @Test
  void allMistakesAreFoundAtOnce() {
    assertThat(errors("{" + HEAD + ", \"priority\": 7, \"placement\": {\"numa\": true, \"foo\": 1}}")).hasSize(3);
  }

  private static List<String> errors(String json) {
    return switch (decode(json)) {
      case Decoded.Valid<GpuShareConfig> valid -> throw new AssertionError("decoded: " + valid);
      case Decoded.Invalid<GpuShareConfig> invalid -> invalid.errors().stream().map(FieldError::toString).toList();
    };
  }

  private static Decoded<GpuShareConfig> decode(String json) {
    try {
      return GpuShareConfigDecoder.decode(new ObjectMapper().readTree(json));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
