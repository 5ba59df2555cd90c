package dev.partita.controller.forecast;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.PodNeeds;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DemandHistoryTest {
  private static final PodNeeds NEEDS = new PodNeeds(1_000, 1 << 30);

  private final DemandHistory history = new DemandHistory();

  @Test
  void podsThatAreAllDifferentTakeNoMoreMemoryTheMoreOfThemCome() {
    IntStream.range(0, 100).forEach(i -> arrived("true", 1));
    IntStream.range(0, 20_000).forEach(i -> arrived("device.driver != '" + i + "'", 1));
    assertThat(history.snapshot().arrivals()).hasSizeLessThanOrEqualTo(4_096).as("what comes often is still known")
        .anySatisfy((kind, arrivals) -> assertThat(kind.request().orElseThrow().selectors())
            .extracting(Selector::expression).containsExactly("true"));
  }

  @Test
  void selectorsThatAreLongerThanAnybodysAreNotKept() {
    IntStream.range(0, 100).forEach(i -> arrived("device.driver != '" + i + "x".repeat(10_000) + "'", 1));
    assertThat(history.snapshot().arrivals()).isEmpty();
  }

  @Test
  void moreDevicesThanAClaimCanHoldAreNotExpectedOfOthers() {
    IntStream.range(0, 100).forEach(i -> arrived("true", Integer.MAX_VALUE));
    assertThat(history.snapshot().arrivals()).isEmpty();
    arrived("true", ClaimRequest.MOST_RESULTS);
    assertThat(history.snapshot().arrivals()).hasSize(1);
  }

  /** A pod asks for so many devices, or for one if it cannot have them. */
  private void arrived(String selector, int devices) {
    history.arrived(NEEDS, List.of(new ClaimRequest(new ClaimRef("default", "claim", "uid"),
        List.of(
            new NamedRequest("gpu", List.of(request("gpu/many", selector, devices), request("gpu/one", selector, 1)))),
        List.of())));
  }

  private static DeviceRequest request(String name, String selector, int devices) {
    return DeviceRequest.of(name, List.of(new Selector("request gpu", selector)), new Count.Exactly(devices),
        CapacityRequest.of(OptionalLong.of(1 << 30), OptionalLong.empty()));
  }
}
