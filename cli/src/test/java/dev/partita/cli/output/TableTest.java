package dev.partita.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableTest {
  @Test
  void columnsAreAsWideAsTheirWidestCellAndThreeSpacesApart() {
    Table table = new Table(List.of("NAME", "CARDS"));
    table.row(List.of("a-long-name", "4"));
    table.row(List.of("b", "16"));
    assertThat(table.toString()).isEqualTo("NAME          CARDS\na-long-name   4\nb             16\n");
  }

  @Test
  void whatTenantsNameMovesNoCursor() {
    Table table = new Table(List.of("NAME", "NOTE"));
    table.row(List.of("a\u001b[2J", " "));
    assertThat(table.toString()).isEqualTo("NAME    NOTE\na?[2J   -\n");
  }

  /** CSI as one character, which xterm takes as ESC [; what turns the writing around; an end of line beyond ASCII. */
  @ParameterizedTest
  @ValueSource(strings = {"\u009b", "\u0085", "\u202e", "\u2066", "\u2028", "\u200b", "\u007f"})
  void norDoesWhatMovesTextBeyondAscii(String moving) {
    assertThat(Table.printable("a" + moving + "2Jb")).isEqualTo("a?2Jb");
    assertThat(Table.printableLines("a" + moving + "2J\nb")).isEqualTo("a?2J\nb");
  }

  @Test
  void aRowOfAnotherLengthIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Table(List.of("A")).row(List.of("1", "2")));
  }
}
