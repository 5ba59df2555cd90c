package dev.partita.plugin.timeslice;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.Grants;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TimeSlicesTest {
  private static final CardIdentity CARD = Grants.card(0);

  private final List<String> set = new ArrayList<>();
  private final TimeSlices slices = new TimeSlices((card, slice) -> set.add(card + " " + slice));

  @Test
  void theShortestThatAnybodyAsksForCountsAndTheDefaultIsNoWish() {
    assertThat(TimeSlices.inForce(List.of())).isEqualTo(TimeSlice.DEFAULT);
    assertThat(TimeSlices.inForce(List.of(TimeSlice.DEFAULT, TimeSlice.LONG))).isEqualTo(TimeSlice.LONG);
    assertThat(TimeSlices.inForce(List.of(TimeSlice.LONG, TimeSlice.SHORT, TimeSlice.MEDIUM)))
        .isEqualTo(TimeSlice.SHORT);
  }

  @Test
  void theDriverIsAskedForNothingWhereNobodyAsksForAnything() throws IOException {
    slices.provide(CARD, List.of(TimeSlice.DEFAULT, TimeSlice.DEFAULT));
    slices.restore(CARD.uuid(), TimeSlice.DEFAULT, List.of(TimeSlice.LONG));
    assertThat(set).isEmpty();
    slices.provide(CARD, List.of(TimeSlice.DEFAULT, TimeSlice.MEDIUM));
    slices.restore(CARD.uuid(), TimeSlice.MEDIUM, List.of(TimeSlice.DEFAULT));
    assertThat(set).containsExactly("GPU-0 MEDIUM", "GPU-0 DEFAULT");
  }

  @Test
  void aCardThatIsGoneHasNothingToRestoreButCannotBeProvidedEither() throws IOException {
    TimeSlices gone = new TimeSlices((card, slice) -> {
      throw new TimeSliceControl.CardGoneException("GPU is lost");
    });
    gone.restore(CARD.uuid(), TimeSlice.LONG, List.of());
    assertThatThrownBy(() -> gone.provide(CARD, List.of(TimeSlice.LONG))).hasMessageContaining("GPU is lost");
  }
}
