package dev.partita.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

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

  @Test
  void aRowOfAnotherLengthIsRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new Table(List.of("A")).row(List.of("1", "2")));
  }
}
