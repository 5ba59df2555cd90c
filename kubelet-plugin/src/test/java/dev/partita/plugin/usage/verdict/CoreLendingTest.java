package dev.partita.plugin.usage.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.config.GpuShareConfig.CoreLimit;
import dev.partita.plugin.usage.measure.CardTime;
import dev.partita.plugin.usage.measure.ShareRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CoreLendingTest {
  private static final long SECOND = 1_000_000_000;

  /** Of one second: shares as limit, percent set aside and percent used; what each lent and borrowed, in percent. */
  @ParameterizedTest
  @CsvSource({
    "soft:50:10 soft:30:60,            10/0 0/30",
    "soft:50:50 soft:50:50,            0/0 0/0",
    "soft:50:0 soft:50:100,            50/0 0/50",
    "soft:25:100,                      0/75",
    "hard:50:60 soft:50:10,            0/0 0/0",
    "hard:50:10 soft:50:90,            40/0 0/40",
    "soft:40:20 soft:20:10 soft:40:70, 20/0 10/0 0/30",
    "none:60:0 none:0:100,             60/0 0/100",
    "soft:60:0 hard:0:50,              10/0 0/50"})
  void whatOneHasBeyondItsOwnComesFromNobodyFirstAndThenFromWhoLeavesSome(String shares, String lent) {
    List<ShareUse> uses = new ArrayList<>();
    for (String share : shares.split(" ", -1)) {
      String[] part = share.split(":", -1);
      uses.add(CoreAccountTest.use(
          CoreAccountTest.share("share-" + uses.size(), Integer.parseInt(part[1]),
              CoreLimit.valueOf(part[0].toUpperCase(Locale.ROOT))),
          Set.of(),
          CoreAccountTest.process(uses.size() + 1, Integer.parseInt(part[2]) * (SECOND / 100))));
    }
    Map<ShareRef, CoreLending> lending = CoreLending.of(uses, watched(uses, SECOND));
    assertThat(uses.stream().map(use -> lending.getOrDefault(use.share().ref(), CoreLending.NONE))
        .map(one -> one.lentNanos() / (SECOND / 100) + "/" + one.borrowedNanos() / (SECOND / 100)))
        .containsExactly(lent.split(" ", -1));
  }

  @Test
  void nothingIsKnownWhereNobodyWatchedOrTwoSharesAreOneContainers() {
    ShareUse alone = CoreAccountTest.use(CoreAccountTest.share("a", 25, CoreLimit.SOFT), Set.of(),
        CoreAccountTest.process(1, SECOND));
    assertThat(CoreLending.of(List.of(alone), Map.of())).isEmpty();
    assertThat(CoreLending.of(List.of(alone), watched(List.of(alone), SECOND))).hasSize(1);
    ShareUse beside = CoreAccountTest.use(CoreAccountTest.share("b", 25, CoreLimit.SOFT),
        Set.of(alone.share().ref()), CoreAccountTest.process(2, SECOND));
    assertThat(CoreLending.of(List.of(beside), watched(List.of(beside), SECOND))).isEmpty();
  }

  private static Map<String, CardTime> watched(List<ShareUse> uses, long nanos) {
    return Map.of(uses.getFirst().share().card(), new CardTime(nanos, Map.of(), ""));
  }
}
