package dev.partita.controller.allocate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.budget.OverBudgetException;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.selector.DeviceSelectors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decisions that end because they took too long, and what the next ones of their kind find. */
class AllocatorBudgetTest {
  private static final List<ClaimRequest> TWO_SHARES =
      List.of(Requests.claim("a", Requests.share("gpu", 1, GpuNodes.GIB, 0)),
          Requests.claim("b", Requests.share("gpu", 1, GpuNodes.GIB, 0)));

  private int looks;

  @ParameterizedTest
  @CsvSource({"1, false", "2, false", "2, true"})
  void whereverADecisionHadNoMoreTimeTheNextOneFindsThePlace(int shares, boolean withForecast) {
    List<ClaimRequest> asked = TWO_SHARES.subList(0, shares);
    Inventory inventory =
        Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB)));
    int ended = 0;
    for (int last = 2; last < 50; last++) {
      int look = last;
      looks = 0;
      DecisionBudget budget = new DecisionBudget(() -> ++looks < look ? 0 : Duration.ofHours(1).toNanos());
      Allocator allocator = new Allocator(new DeviceSelectors(budget), budget);
      DemandHistory history = new DemandHistory();
      if (withForecast) {
        history.arrived(new PodNeeds(1000, GpuNodes.GIB), TWO_SHARES.subList(0, 1));
      }
      FreeCards cards = new FreeCards(new Books(), new HostCapacities(), history);
      cards.refresh(inventory);
      budget.begin(Duration.ofMinutes(1));
      ended += isEnded(allocator, asked, cards) ? 1 : 0;
      budget.end();
      assertThat(allocate(allocator, asked, cards)).as("after one that was ended at its look no. %d at the time", last)
          .isInstanceOf(Outcome.Allocated.class);
    }
    assertThat(ended).isPositive();
  }

  @Test
  void aSearchOnOneNodeEndsWhenTheDecisionHasNoMoreTime() {
    // Eight shares of different cards, and a ninth one that finds none, beside constraints that every card satisfies.
    List<Constraint> constraints = new ArrayList<>();
    IntStream.range(0, 31).forEach(_ -> constraints.add(new Constraint.Equal("gpu.partita.dev/model", List.of())));
    constraints.add(new Constraint.Distinct("gpu.partita.dev/uuid",
        IntStream.range(23, 32).mapToObj(request -> "gpu-" + request).toList()));
    ClaimRequest claim = Requests.claim("a", constraints, IntStream.range(0, 32)
        .mapToObj(request -> Requests.share("gpu-" + request, 1, GpuNodes.GIB, 0)).toArray(DeviceRequest[]::new));
    FreeCards cards = new FreeCards(new Books());
    cards.refresh(
        Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 8, "NVIDIA H200", 140 * GpuNodes.GIB))));
    DecisionBudget budget = new DecisionBudget(() -> Duration.ofMillis(++looks).toNanos());
    Allocator allocator = new Allocator(new DeviceSelectors(budget), budget);
    budget.begin(Duration.ofMillis(100));
    assertThatThrownBy(
        () -> allocator.place(PodNeeds.NONE, List.of(claim), host -> Optional.empty(), cards))
        .isInstanceOf(OverBudgetException.class);
  }

  private static boolean isEnded(Allocator allocator, List<ClaimRequest> asked, FreeCards cards) {
    try {
      return !(allocate(allocator, asked, cards) instanceof Outcome.Allocated);
    } catch (OverBudgetException e) {
      return true;
    }
  }

  private static Outcome allocate(Allocator allocator, List<ClaimRequest> asked, FreeCards cards) {
    return allocator.allocate(PodNeeds.NONE, asked, host -> Optional.empty(), cards);
  }
}
