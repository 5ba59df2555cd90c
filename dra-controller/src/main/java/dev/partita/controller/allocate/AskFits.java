package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.selector.DeviceSelectors;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Which devices could serve an ask if their cards were empty: judged once for all cards of a kind, where the ask allows it. */
final class AskFits {
  private final Eligibility eligibility;
  private final DeviceAsk ask;
  private final boolean ofKinds;
  private final Map<Shelf, Optional<Fit.Fits>> byKind = new HashMap<>();

  AskFits(Eligibility eligibility, DeviceSelectors selectors, DeviceAsk ask) {
    this.eligibility = eligibility;
    this.ask = ask;
    this.ofKinds = ask.selectors().stream().noneMatch(s -> selectors.mayRead(s.expression(), CardKind.OF_ONE_CARD));
  }

  DeviceAsk ask() {
    return ask;
  }

  /** Whether it is the same for all cards of a kind. */
  boolean ofKinds() {
    return ofKinds;
  }

  /** What of the example of that kind could serve the ask. */
  Optional<Fit.Fits> ofKind(Shelf kind) {
    return byKind.computeIfAbsent(kind, k -> one(k.example()));
  }

  /** What of the host could, at most one device a card. */
  List<Fit.Fits> on(Standing standing) {
    return ofKinds ? alike(standing) : List.copyOf(oneByOne(standing.host()).values());
  }

  private List<Fit.Fits> alike(Standing standing) {
    Map<CardKey, Fit.Fits> wanted = new LinkedHashMap<>();
    for (int i = 0; i < standing.shelves().size(); i++) {
      int position = i;
      ofKind(standing.shelves().get(i)).ifPresent(fits -> wanted.put(standing.host().cards().get(position).key(), fits));
    }
    if (wanted.isEmpty()) {
      return List.of();
    }
    List<Fit.Fits> fits = new ArrayList<>();
    for (Device device : standing.host().devices()) {
      Fit.Fits model = wanted.get(device.card().key());
      if (model != null && model.device().mode() == device.mode()) {
        fits.add(new Fit.Fits(device, model.memory(), model.cores()));
      }
    }
    return fits;
  }

  private Map<CardKey, Fit.Fits> oneByOne(GpuHost host) {
    Map<CardKey, Fit.Fits> byCard = new LinkedHashMap<>();
    for (Device device : host.devices()) {
      if (eligibility.inPrinciple(device, ask) instanceof Fit.Fits fits) {
        byCard.merge(device.card().key(), fits, this::preferred);
      }
    }
    return byCard;
  }

  private Optional<Fit.Fits> one(Collection<Device> devices) {
    return devices.stream()
        .map(device -> eligibility.inPrinciple(device, ask))
        .filter(Fit.Fits.class::isInstance)
        .map(Fit.Fits.class::cast)
        .reduce(this::preferred);
  }

  /** A class may match a card in both modes: then no memory asked means the card as a whole, and else a share. */
  private Fit.Fits preferred(Fit.Fits a, Fit.Fits b) {
    DeviceMode wanted = ask.memory().isEmpty() && ask.cores().isEmpty() ? DeviceMode.WHOLE : DeviceMode.SHARED;
    return b.device().mode() == wanted ? b : a;
  }
}
