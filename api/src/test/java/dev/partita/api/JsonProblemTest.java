package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonProblemTest {
  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '`', value = {
    "{       | Unexpected end-of-input: expected close marker for Object",
    "[{      | Unexpected end-of-input: expected close marker for Object",
    "{'a' 1} | Unexpected character ('1' (code 49)): was expecting a colon to separate field name and value",
    "{'a':   | Unexpected end-of-input within/between Object entries"})
  void saysWhatIsWrongAndNothingOfTheParser(String text, String says) {
    JsonProcessingException problem = catchThrowableOfType(JsonProcessingException.class,
        () -> new ObjectMapper().readTree(text.replace('\'', '"')));
    assertThat(JsonProblem.words(problem)).isEqualTo(says);
  }
}
