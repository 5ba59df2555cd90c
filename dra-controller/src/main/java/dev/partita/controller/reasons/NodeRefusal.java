package dev.partita.controller.reasons;

import com.google.common.collect.ImmutableSortedMap;
import dev.partita.controller.match.CardRefusal;
import dev.partita.controller.request.ClaimRef;
import java.util.SortedMap;

/** Why a node cannot serve a pod's claims. */
public sealed interface NodeRefusal {
  String node();

  /** How many cards it has. */
  int cards();

  /** The same reason for another node that is alike. */
  NodeRefusal on(String other);

  /** The pod cannot run there, whatever its cards are. */
  record PodUnfit(String node, int cards, String why) implements NodeRefusal {
    @Override
    public NodeRefusal on(String other) {
      return new PodUnfit(other, cards, why);
    }
  }

  /**
   * Too few of its cards can serve one request.
   *
   * @param claim whose request
   * @param request which
   * @param wanted devices that it needs
   * @param fitting cards that could serve it
   * @param devices how many devices these could give it at once: fewer than it needs
   * @param refusals every other card, by index, with the first reason that excludes it; nodes that are alike have the
   *        same object
   */
  record CardsUnfit(
      String node,
      int cards,
      ClaimRef claim,
      String request,
      int wanted,
      int fitting,
      int devices,
      SortedMap<Integer, CardRefusal> refusals)
      implements NodeRefusal {
    public CardsUnfit {
      refusals = ImmutableSortedMap.copyOfSorted(refusals);
    }

    @Override
    public NodeRefusal on(String other) {
      return new CardsUnfit(other, cards, claim, request, wanted, fitting, devices, refusals);
    }
  }

  /** Each request can be served by itself, but not all of them together. */
  record NotTogether(String node, int cards, String why) implements NodeRefusal {
    @Override
    public NodeRefusal on(String other) {
      return new NotTogether(other, cards, why);
    }
  }
}
