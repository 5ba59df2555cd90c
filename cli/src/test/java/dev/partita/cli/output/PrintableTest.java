package dev.partita.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrintableTest {
  /** CSI as one character, which xterm takes as ESC [; what turns the writing around; an end of line beyond ASCII. */
  @ParameterizedTest
  @ValueSource(strings = {"\u009b", "\u0085", "\u202e", "\u2066", "\u2028", "\u200b", "\u007f"})
  void whatMovesTextBeyondAsciiIsAQuestionMark(String moving) {
    assertThat(Printable.text("a" + moving + "2Jb")).isEqualTo("a?2Jb");
    assertThat(Printable.lines("a" + moving + "2J\nb")).isEqualTo("a?2J\nb");
  }
}
