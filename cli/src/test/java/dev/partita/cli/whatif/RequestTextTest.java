package dev.partita.cli.whatif;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.command.CommandFailure;
import dev.partita.controller.whatif.AddedNodes;
import dev.partita.controller.whatif.RequestedCards;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class RequestTextTest {
  private static final long GIB = 1L << 30;

  @Test
  void aRequestSaysMemoryCoresModelAndCount() {
    assertThat(RequestText.request("memory=8Gi,cores=25,model=NVIDIA H200", "team")).isEqualTo(
        new RequestedCards("team", 1, OptionalLong.of(8 * GIB), OptionalLong.of(25), Optional.of("h200")));
    assertThat(RequestText.request("count=4", "team")).as("whole cards").isEqualTo(
        new RequestedCards("team", 4, OptionalLong.empty(), OptionalLong.empty(), Optional.empty()));
  }

  @Test
  void nodesSayNumberModelCardsAndMemory() {
    assertThat(RequestText.nodes("2xL40Sx8")).isEqualTo(new AddedNodes(2, "l40s", 8, OptionalLong.empty()));
    assertThat(RequestText.nodes("10xRTX 6000 Adax4:48Gi"))
        .isEqualTo(new AddedNodes(10, "rtx-6000-ada", 4, OptionalLong.of(48 * GIB)));
  }

  @Test
  void whatCannotBeIsNamed() {
    for (String text : List.of("", "memory", "memory=", "gpus=1", "cores=1,cores=2")) {
      assertThatThrownBy(() -> RequestText.request(text, "n")).as(text).isInstanceOf(CommandFailure.class)
          .hasMessageContaining("knows memory, cores, model, count once each");
    }
    assertThatThrownBy(() -> RequestText.request("memory=much", "n")).hasMessageContaining("'much'", "8Gi");
    assertThatThrownBy(() -> RequestText.request("memory=0", "n")).hasMessageContaining("'0'");
    assertThatThrownBy(() -> RequestText.request("cores=101", "n")).hasMessageContaining("cores is a whole number");
    for (String text : List.of("", "2xL40S", "0xL40Sx8", "2xL40Sx0", "L40Sx8", "2xL40Sx8:")) {
      assertThatThrownBy(() -> RequestText.nodes(text)).as(text).isInstanceOf(CommandFailure.class)
          .hasMessageContaining("COUNTxMODELxCARDS");
    }
    assertThatThrownBy(() -> RequestText.nodes("2xL40Sx8:much")).hasMessageContaining("'much'");
  }
}
