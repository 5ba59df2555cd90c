package dev.partita.api.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
                    , "coreLimit": "Soft", "priority": 0, "memoryPercent": 40, "oversubscribe": 150,
                    "placement": {"nodes": "Spread", "gpus": "Spread", "numa": "Required", "nvlink": "None", "exclusive": true,
                      "models": {"choose": ["h200", "h100"]}, "uuids": {"choose": ["GPU-1"], "avoid": ["GPU-2", "GPU-3"]}}}""");
    assertThat(decoded)
        .isEqualTo(
            new Decoded.Valid<>(
                new GpuShareConfig(
                    CoreLimit.SOFT,
                    0,
                    OptionalInt.of(40),
                    150,
                    new GpuShareConfig.Placement(
                        Packing.SPREAD,
                        Packing.SPREAD,
                        Affinity.REQUIRED,
                        Affinity.NONE,
                        choice(Set.of("h100", "h200"), Set.of()),
                        choice(Set.of("GPU-1"), Set.of("GPU-2", "GPU-3")),
                        true))));
  }

  @Test
  void timeSlicingIsReadWithItsIntervalOrTheDriversDefault() {
    assertThat(sharing("{\"strategy\": \"TimeSlicing\", \"interval\": \"Long\"}"))
        .isEqualTo(new Sharing.TimeSlicing(TimeSlice.LONG));
    assertThat(sharing("{\"strategy\": \"TimeSlicing\"}")).isEqualTo(new Sharing.TimeSlicing(TimeSlice.DEFAULT));
    assertThat(sharing("{\"strategy\": \"Limits\"}")).isEqualTo(Sharing.LIMITS);
    assertThat(sharing("{}")).isEqualTo(Sharing.LIMITS);
    assertThat(sharing("{\"strategy\": \"MPS\"}")).isEqualTo(Sharing.MPS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"12Gi\"", "12884901888"})
  void whatAShareMayGrowToIsAnAmountOfMemory(String amount) {
    assertThat(decode("{" + HEAD + ", \"memoryLimit\": " + amount + "}")).isEqualTo(new Decoded.Valid<>(
        new GpuShareConfig(GpuShareConfig.DEFAULT.coreLimit(), 1, OptionalInt.empty(), 100,
            GpuShareConfig.Placement.DEFAULT, Sharing.LIMITS, OptionalLong.of(12L << 30))));
  }

  @Test
  void aShareThatMayGrowNeitherOversubscribesNorHasItsCardAloneNorInTurn() {
    String grows = "{" + HEAD + ", \"memoryLimit\": \"12Gi\", ";
    assertThat(errors(grows + "\"oversubscribe\": 150}")).singleElement().asString()
        .startsWith("memoryLimit: cannot be used together with oversubscribe");
    assertThat(errors(grows + "\"placement\": {\"exclusive\": true}}")).singleElement().asString()
        .startsWith("memoryLimit: cannot be used together with placement.exclusive");
    assertThat(errors(grows + "\"sharing\": {\"strategy\": \"TimeSlicing\"}}")).singleElement().asString()
        .startsWith("memoryLimit: cannot be used together with sharing.strategy TimeSlicing");
  }

  @Test
  void nothingThatIsALimitStandsBesideTimeSlicing() {
    assertThat(errors("{" + HEAD + ", \"sharing\": {\"strategy\": \"TimeSlicing\"}, \"coreLimit\": \"Soft\","
        + " \"priority\": 0, \"memoryPercent\": 50, \"oversubscribe\": 150, \"placement\": {\"exclusive\": true}}"))
        .hasSize(5).allSatisfy(error -> assertThat(error).contains("together with sharing.strategy TimeSlicing"))
        .extracting(error -> error.substring(0, error.indexOf(':')))
        .containsExactly("coreLimit", "priority", "memoryPercent", "oversubscribe", "placement.exclusive");
  }

  @Test
  void whatMpsHasNoPartOfDoesNotStandBesideItAndAPartOfTheMemoryDoes() {
    String mps = "{" + HEAD + ", \"sharing\": {\"strategy\": \"MPS\"}, ";
    assertThat(errors(mps + "\"coreLimit\": \"Soft\", \"priority\": 0, \"oversubscribe\": 150,"
        + " \"placement\": {\"exclusive\": true}}"))
        .hasSize(4).allSatisfy(error -> assertThat(error).contains("together with sharing.strategy MPS"))
        .extracting(error -> error.substring(0, error.indexOf(':')))
        .containsExactly("coreLimit", "priority", "oversubscribe", "placement.exclusive");
    assertThat(errors(mps + "\"memoryLimit\": \"12Gi\"}")).singleElement().asString()
        .startsWith("memoryLimit: cannot be used together with sharing.strategy MPS");
    assertThat(decode(mps + "\"memoryPercent\": 50}")).isInstanceOf(Decoded.Valid.class);
  }

  private static Sharing sharing(String json) {
    return switch (decode("{" + HEAD + ", \"sharing\": " + json + "}")) {
      case Decoded.Valid<GpuShareConfig>(GpuShareConfig config) -> config.sharing();
      case Decoded.Invalid<GpuShareConfig> invalid -> throw new AssertionError(invalid.message());
    };
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
        "'zone': 'a'                       | zone: is not a known field; known are apiVersion, kind, coreLimit, priority, memoryPercent, oversubscribe, memoryLimit, placement, sharing",
        "'oversubscribe': 99               | oversubscribe: must be a whole number from 100 to 1000, not 99",
        "'memoryLimit': 'much'             | memoryLimit: is not a quantity such as 40Gi: much",
        "'memoryLimit': '0.5'              | memoryLimit: must be a whole number of bytes: 0.5",
        "'memoryLimit': true               | memoryLimit: must be a quantity such as 40Gi, not true",
        "'memoryLimit': 1.5                | memoryLimit: must be a quantity such as 40Gi, not 1.5",
        "'oversubscribe': true             | oversubscribe: must be a whole number from 100 to 1000, not true",
        "'sharing': 'TimeSlicing'          | sharing: must be an object, not a string",
        "'sharing': {'strategy': 'mps'}    | sharing.strategy: must be one of Limits, MPS, TimeSlicing, not \"mps\"",
        "'sharing': {'strategy': 'MPS', 'interval': 'Long'} | sharing.interval: is for sharing.strategy TimeSlicing only",
        "'sharing': {'strategy': 'TimeSlicing', 'interval': 'long'} | sharing.interval: must be one of Default, Long, Medium, Short, not \"long\"",
        "'sharing': {'interval': 'Long'}   | sharing.interval: is for sharing.strategy TimeSlicing only",
        "'sharing': {'strategi': 'TimeSlicing'} | sharing.strategi: is not a known field; did you mean strategy?",
        "'placement': {'exclusive': 'yes'} | placement.exclusive: must be true or false, not \"yes\"",
        "'placement': {'models': ['h200']} | placement.models: must be an object, not a list",
        "'placement': {'models': {'chose': ['h200']}} | placement.models.chose: is not a known field; did you mean choose?",
        "'placement': {'models': {'choose': 'h200'}}  | placement.models.choose: must be a list, not a string",
        "'placement': {'models': {'choose': []}}      | placement.models.choose: must not be empty; leave it out",
        "'placement': {'models': {'avoid': ['t4', 1]}} | placement.models.avoid[1]: must be a string, not a number",
        "'placement': {'models': {'avoid': ['t4', 'NVIDIA H200']}} | placement.models.avoid[1]: must be a model as GpuNodes have it, such as \"h200\", not \"NVIDIA H200\"",
        "'placement': {'models': {'choose': ['t4', 'h200'], 'avoid': ['h200']}} | placement.models.avoid: has h200, which is chosen, too",
        "'placement': {'uuids': {'choose': ['h200']}} | placement.uuids.choose[0]: must be the UUID of a card, GPU-…, not \"h200\"",
        "'placement': {'uuids': {'avoid': ['GPU-1 or', 'GPU-1']}} | placement.uuids.avoid[0]: must be the UUID of a card, GPU-…, not \"GPU-1 or\"",
      })
  void aMistakeIsNamedWithItsFieldPath(String fields, String error) {
    assertThat(errors("{" + HEAD + ", " + fields.replace('\'', '"') + "}")).containsExactly(error);
  }

  @Test
  void aListIsBounded() {
    String values = IntStream.range(0, 65).mapToObj(i -> "\"GPU-" + i + "\"").collect(Collectors.joining(", "));
    assertThat(errors("{" + HEAD + ", \"placement\": {\"uuids\": {\"avoid\": [" + values + "]}}}"))
        .containsExactly("placement.uuids.avoid: must have at most 64 entries, not 65");
  }

  @Test
  void anotherKindOrVersionIsRefusedByName() {
    assertThat(errors("{\"apiVersion\": \"gpu.partita.dev/v2\", \"kind\": \"GpuConfig\"}"))
        .containsExactly(
            "apiVersion: must be gpu.partita.dev/v1alpha1, not \"gpu.partita.dev/v2\"",
            "kind: must be GpuShareConfig, not \"GpuConfig\"");
    assertThat(errors("{\"kind\": \"" + "x".repeat(10_000) + "\"}").getLast()).as("of a long one the beginning")
        .hasSizeLessThan(300);
    assertThat(errors("{}")).containsExactly("apiVersion: must be gpu.partita.dev/v1alpha1",
        "kind: must be GpuShareConfig");
    assertThat(errors("[]")).first().isEqualTo("must be an object, not a list");
  }

  @Test
  void allMistakesAreFoundAtOnce() {
    assertThat(errors("{" + HEAD + ", \"priority\": 7, \"placement\": {\"numa\": true, \"foo\": 1}}")).hasSize(3);
  }

  private static GpuShareConfig.Choice choice(Set<String> choose, Set<String> avoid) {
    return new GpuShareConfig.Choice(new TreeSet<>(choose), new TreeSet<>(avoid));
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
