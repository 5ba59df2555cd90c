package dev.partita.controller.allocate;

import dev.partita.api.DeviceMode;
import dev.partita.api.config.GpuShareConfig.Affinity;
import dev.partita.api.config.GpuShareConfig.Packing;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.index.CardClass;
import dev.partita.controller.index.RequestMatcher;
import dev.partita.controller.place.NodeSearch.Choice;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest.Modes;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Widens requests that no node can serve by the mode that is inferred for them ({@link Modes}). A request with a memory
 * amount is for a share, for example, though its selectors admit whole cards as well: where no node has a share for it,
 * any device that is selected serves it. A claim whose config says how cards are to be chosen is never widened.
 */
final class ModeFallback {
  private static final String MODE = DeviceAttribute.MODE.qualifiedName();

  private final Collection<CardClass> kinds;
  private final Function<DeviceRequest, RequestMatcher> matchers;

  /** @param kinds of all cards that there are */
  ModeFallback(Collection<CardClass> kinds, Function<DeviceRequest, RequestMatcher> matchers) {
    this.kinds = kinds;
    this.matchers = matchers;
  }

  /**
   * The same choices served by any mode, in the same order behind all others; without those for which that changes
   * nothing.
   */
  List<Choice> withAnyMode(List<Choice> choices) {
    int behind = choices.isEmpty() ? 0 : choices.getLast().rank() + 1;
    List<Choice> widened = new ArrayList<>();
    for (Choice choice : choices) {
      List<List<DeviceRequest>> requests = new ArrayList<>();
      for (int i = 0; i < choice.claims().size(); i++) {
        ClaimRequest claim = choice.claims().get(i);
        requests.add(choice.requests().get(i).stream().map(request -> withAnyMode(claim, request)).toList());
      }
      if (!requests.equals(choice.requests())) {
        widened.add(new Choice(choice.claims(), requests, behind + choice.rank()));
      }
    }
    return widened;
  }

  /** The request served by any mode; the very same if that changes nothing. */
  DeviceRequest withAnyMode(ClaimRequest claim, DeviceRequest request) {
    if (request.count() instanceof DeviceRequest.Count.All || choosesCards(request.placement())
        || !(request.capacity().sharing() instanceof Sharing.Limits)) {
      return request;
    }
    DeviceRequest widened = request.withModes(Modes.ANY);
    RequestMatcher its = matchers.apply(widened);
    boolean modesMatter = claim.constraints().stream()
        .anyMatch(constraint -> constraint.attribute().equals(MODE) && constraint.covers(request.name()));
    return kinds.stream().anyMatch(kind -> addsMode(its.modes(kind), modesMatter)) ? widened : request;
  }

  /** A card is free as a whole where it is free for all of a share, so which of them it is says nothing by itself. */
  private static boolean addsMode(Set<DeviceMode> modes, boolean modesMatter) {
    return modes.size() > 1 && (modesMatter || modes.contains(DeviceMode.MIG));
  }

  private static boolean choosesCards(Placement placement) {
    return placement.gpus() != Packing.AUTO || placement.numa() != Affinity.AUTO || placement.nvlink() != Affinity.AUTO
        || placement.exclusive();
  }
}
