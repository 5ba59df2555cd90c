package dev.partita.controller.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.Cluster;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Books;
import dev.partita.controller.budget.DecisionBudget;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.match.Eligibility;
import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest.Count;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.selector.DeviceSelectors;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HostIndexTest {
  private static final int LARGE = 320 << 10;

  private final DeviceSelectors selectors = new DeviceSelectors();
  private final Eligibility eligibility = new Eligibility(selectors);
  private final HostIndex index = new HostIndex(new Books());

  @Test
  void manyRequestsAreRemembered() {
    List<DeviceRequest> requests =
        IntStream.range(0, 500).mapToObj(i -> request("device.driver != '" + i + "'")).toList();
    requests.forEach(request -> index.matcher(request, this::matcher));
    AtomicInteger made = new AtomicInteger();
    requests.forEach(request -> index.matcher(request, each -> {
      made.incrementAndGet();
      return matcher(each);
    }));
    assertThat(made).hasValue(0);
  }

  @Test
  void ofLargeRequestsOnlyAFewMebibytesAreRemembered() {
    RequestMatcher any = matcher(request("true"));
    List<DeviceRequest> requests = IntStream.range(0, 64).mapToObj(i -> request(i + " ".repeat(LARGE))).toList();
    requests.forEach(request -> index.matcher(request, _ -> any));
    AtomicInteger made = new AtomicInteger();
    int remembered = 0;
    for (DeviceRequest request : requests.reversed()) {
      index.matcher(request, _ -> {
        made.incrementAndGet();
        return any;
      });
      if (made.get() > 0) {
        break;
      }
      remembered++;
    }
    assertThat(remembered).isBetween(1, 6);
  }

  @Test
  void nothingRemembersACardOfAKindThatIsGone() {
    DeviceRequest request = request("device.driver == 'gpu.partita.dev'");
    WeakReference<CardClass> gone = seen(request);
    index.refresh(inventory("NVIDIA H100"));
    place(request);
    Cluster.eventually().until(() -> {
      System.gc();
      return gone.get() == null;
    });
    assertThat(index.cardClasses()).hasSize(1);
  }

  /** The one kind of cards there is, once a request was placed on one. */
  private WeakReference<CardClass> seen(DeviceRequest request) {
    index.refresh(inventory("NVIDIA H200"));
    place(request);
    return new WeakReference<>(index.cardClasses().iterator().next());
  }

  private void place(DeviceRequest request) {
    ClaimRequest claim = new ClaimRequest(new ClaimRef("default", "claim", "uid"),
        List.of(new ClaimRequest.NamedRequest("gpu", List.of(request))), List.of());
    Function<DeviceRequest, RequestMatcher> matchers = each -> index.matcher(each, this::matcher);
    HostScan scan = new HostScan(index, matchers, _ -> false, eligibility, DecisionBudget.endless());
    assertThat(scan.best(List.of(new Choice(List.of(claim), List.of(List.of(request)), 0)))).isPresent();
  }

  private static Inventory inventory(String product) {
    return Inventory.EMPTY.refreshed(List.of(GpuNodes.ready("node-0", 1, product, 80 * GpuNodes.GIB)));
  }

  private RequestMatcher matcher(DeviceRequest request) {
    return new RequestMatcher(eligibility, selectors, request);
  }

  private static DeviceRequest request(String expression) {
    return DeviceRequest.of("gpu", List.of(new Selector("test", expression)), new Count.Exactly(1),
        CapacityRequest.of(OptionalLong.of(GpuNodes.GIB), OptionalLong.empty()));
  }
}
