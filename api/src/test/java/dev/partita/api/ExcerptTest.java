package dev.partita.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExcerptTest {
  @Test
  void aTextThatIsNotLongStaysAsItIs() {
    assertThat(Excerpt.of("four", 4)).isEqualTo("four");
    assertThat(Excerpt.beginning("", 4)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"abcdef, abc", "ab\uD83D\uDE00cd, ab", "a\uD83D\uDE00bcd, a\uD83D\uDE00"})
  void ofALongOneTheBeginningIsLeftAndNoHalfOfACharacter(String text, String beginning) {
    assertThat(Excerpt.beginning(text, 3)).isEqualTo(beginning);
    assertThat(Excerpt.of(text, 3)).isEqualTo(beginning + "…");
    assertThat(Excerpt.of(Excerpt.of(text, 3), 3)).as("again").isEqualTo(beginning + "…");
  }
}
