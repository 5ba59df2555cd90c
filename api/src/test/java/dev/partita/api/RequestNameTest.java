package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestNameTest {
  @ParameterizedTest
  @CsvSource({
    "a, a, true",
    "a, b, false",
    "a, a/x, true",
    "a, ab/x, false",
    "a, ab, false",
    "a/x, a/x, true",
    "a/x, a/y, false",
    "a/x, a, false",
    "a b/y, b/y, true",
    "a b/y, b/x, false",
    "'', a, true",
    "'', a/x, true"})
  void aListCoversRequestsWithAllTheirSubrequestsOrSingleOnes(String list, String resultName, boolean covered) {
    List<String> requests = list.isEmpty() ? List.of() : List.of(list.split(" ", -1));
    assertThat(RequestName.covers(requests, resultName)).isEqualTo(covered);
  }

  @Test
  void noListCoversAll() {
    assertThat(RequestName.covers(null, "a/x")).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"a, a", "a/x, a"})
  void aSubrequestIsLeftOffTheName(String resultName, String request) {
    assertThat(RequestName.withoutSubrequest(resultName)).isEqualTo(request);
  }
}
