package dev.partita.controller.allocate;

import dev.partita.controller.booking.Books;
import dev.partita.controller.booking.HostCapacities;
import dev.partita.controller.forecast.DemandHistory;
import dev.partita.controller.forecast.ForecastIndex;
import dev.partita.controller.index.HostIndex;
import dev.partita.controller.index.RequestMatcher;
import dev.partita.controller.inventory.Inventory;
import dev.partita.controller.request.DeviceRequest;
import java.util.Optional;
import java.util.function.Function;

/**
 * Keeps what is free of all hosts' cards, as the searches need it: the index of hosts, and the forecast of what later
 * pods will ask for. It follows an inventory, the books, and what pods ask for. For one thread.
 */
public final class FreeCards {
  private final HostCapacities capacities;
  private final DemandHistory history;
  private final HostIndex index;
  private ForecastIndex forecastIndex;

  /** Where nothing is known of CPU, memory and arrivals. */
  public FreeCards(Books books) {
    this(books, new HostCapacities(), new DemandHistory());
  }

  /**
   * The same with a forecast.
   *
   * @param capacities what CPU and memory hosts have
   * @param history what pods ask for
   */
  public FreeCards(Books books, HostCapacities capacities, DemandHistory history) {
    this.capacities = capacities;
    this.history = history;
    this.index = new HostIndex(books);
    this.forecastIndex = new ForecastIndex(history, capacities);
  }

  /**
   * Forgets all that follows from inventory and books: it is made anew when it is needed next. For when a search ended
   * where it could not put it right.
   */
  public void forget() {
    forecastIndex = new ForecastIndex(history, capacities);
    index.forget();
  }

  /** Follows the books, and the inventory if it is another one than last time. */
  public void refresh(Inventory now) {
    index.refresh(now);
    forecastIndex.follow(index);
  }

  HostIndex index() {
    return index;
  }

  /** The hosts as the forecast sees them, if there is one. */
  Optional<ForecastIndex> forecast(Function<DeviceRequest, RequestMatcher> matchers) {
    if (!forecastIndex.hasForecast()) {
      return Optional.empty();
    }
    forecastIndex.follow(index);
    forecastIndex.refresh(matchers);
    return Optional.of(forecastIndex);
  }
}
