package dev.partita.cli.convert;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnreadRequestsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Steps that grow with the square of its length take hours. */
  @ParameterizedTest
  @CsvSource({
    "limits, '', /",
    "limits, '', /gpu",
    "limits, deviceclass.resource.kubernetes.io/, gpu",
    "annotations, tensor-fusion.ai/, gpu",
    "hard, x., .deviceclass/"
  })
  void aNameOfManyMegabytesIsReadInOneGo(String field, String start, String repeated) {
    String name = start + repeated.repeat((4 << 20) / repeated.length()) + "\n";
    JsonNode object = JSON.valueToTree(Map.of("kind", "Some", field, Map.of(name, "1")));

    assertTimeoutPreemptively(Duration.ofSeconds(60), () -> UnreadRequests.in(object, Set.of()));
  }
}
