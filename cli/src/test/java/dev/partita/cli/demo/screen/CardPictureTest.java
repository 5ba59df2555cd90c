package dev.partita.cli.demo.screen;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CardPictureTest {
  private static final long GIB = 1L << 30;

  @Test
  void sharesFillTheBarInProportion() {
    CardPicture card =
        new CardPicture(
            "node-a gpu-0", "NVIDIA A", 80 * GIB,
            List.of(new CardPicture.Share("trainer", 40 * GIB), new CardPicture.Share("notebook", 8 * GIB)));

    assertThat(card.line()).contains("[" + "T".repeat(20) + "N".repeat(4) + ".".repeat(16) + "]")
        .endsWith("trainer 40 GiB + notebook 8 GiB of 80 GiB");
  }

  @Test
  void theSmallestShareIsSeenAndTheBarNeverOverflows() {
    CardPicture card =
        new CardPicture(
            "node-a gpu-0", "NVIDIA A", 80 * GIB,
            List.of(new CardPicture.Share("big", 80 * GIB - 1), new CardPicture.Share("tiny", 1)));

    assertThat(card.line()).contains("[" + "B".repeat(40) + "]");
    assertThat(new CardPicture("n", "p", 80 * GIB, List.of(new CardPicture.Share("tiny", 1))).line())
        .contains("[T" + ".".repeat(39) + "]");
  }

  @Test
  void aCardWithoutSharesIsFree() {
    assertThat(new CardPicture("n", "p", 140 * GIB + 429496730, List.of()).line()).endsWith("free of 140.4 GiB");
  }
}
