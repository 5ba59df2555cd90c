package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ApiServerJsonTest {
  private final ObjectMapper mapper = ApiServerJson.mapper();

  /** API servers take and send each of them within an opaque config, or a name of fields in managedFields. */
  @ParameterizedTest
  @MethodSource("valuesThatJacksonRefuses")
  void whatStandsBesideAValueThatJacksonRefusesIsRead(String value) throws IOException {
    byte[] json = ("{\"a\":" + value + ",\"b\":1}").getBytes(StandardCharsets.ISO_8859_1);
    assertThat(mapper.readTree(new ByteArrayInputStream(json)).path("b").asInt()).isEqualTo(1);
    assertThat(mapper.readTree(json).path("b").asInt()).isEqualTo(1);
    assertThat(mapper.readTree(new String(json, StandardCharsets.UTF_8)).path("b").asInt()).isEqualTo(1);
  }

  static Stream<String> valuesThatJacksonRefuses() {
    return Stream.of("[".repeat(9_900) + "]".repeat(9_900), "{\"a\":".repeat(9_900) + "1" + "}".repeat(9_900),
        "0." + "1".repeat(10_000), "1".repeat(10_000), "1e99999999999", "{\"" + "a".repeat(1_000_000) + "\":1}",
        "{\"\\udc00\":1}", "\"\\ud800\"", "\"\u00c3\"", "\"\u00ff\u0080\"");
  }

  @Test
  void aQuestionMarkStandsForBytesThatAreNoUtf8AndHalvesOfSurrogatePairs() throws IOException {
    assertThat(read("\\ud800x")).isEqualTo("?x");
    assertThat(read("\\udc00\\ud800")).isEqualTo("??");
    assertThat(read("\\ud83d\\ude00")).isEqualTo("\ud83d\ude00");
    assertThat(read("\\\\ud800")).isEqualTo("\\ud800");
    assertThat(read("a\u00c3(")).isEqualTo("a?(");
    assertThat(read("\u00c3\u00a9")).isEqualTo("\u00e9");
    assertThat(read("\u00ed\u00a0\u0080")).as("a surrogate in UTF-8").isEqualTo("???");
    assertThat(read("\u00f0\u009f\u0098")).as("cut").isEqualTo("???");
    assertThat(read("\u00f0\u009f\u0098\u0080")).isEqualTo("\ud83d\ude00");
  }

  private String read(String bytes) throws IOException {
    JsonNode read = mapper.readTree(("{\"a\":\"" + bytes + "\"}").getBytes(StandardCharsets.ISO_8859_1));
    return read.path("a").asText();
  }

  @Test
  void whatIsRepairedMayLieAnywhereInALongText() throws IOException {
    for (int before = 65_500; before < 65_540; before++) {
      String read =
          read("x".repeat(before) + "\\ud83d\\ude00\u00c3\u00a9\\udc00\u00f0\u009f\u0098\u0080\u00ff\\\\ud800");
      assertThat(read.substring(before)).isEqualTo("\ud83d\ude00\u00e9?\ud83d\ude00?\\ud800");
    }
  }

  @Test
  void aMapperThatIsCopiedReadsAsItDid() throws IOException {
    assertThat(mapper.copy().readTree("{\"\\udc00\":1}").size()).isEqualTo(1);
  }
}
