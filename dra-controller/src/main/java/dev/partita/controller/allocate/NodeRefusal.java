package dev.partita.controller.allocate;

import dev.partita.controller.inventory.CardKey;
import java.util.SortedMap;
import java.util.TreeMap;

/** Why a node cannot serve a pod's claims. */
public sealed interface NodeRefusal {
  String node();

  /** How many cards it has. */
  int cards();

  /** The pod cannot run there, whatever its cards are. */
  record PodUnfit(String node, int cards, String why) implements NodeRefusal {}

  /**
   * Too few of its cards can serve one ask.
   *
   * @param claim whose ask
   * @param request which
   * @param wanted cards that it needs
   * @param fitting cards that could serve it
   * @param refusals every other card, with the first reason that excludes it
   */
  record CardsUnfit(
      String node, int cards, ClaimRef claim, String request, int wanted, int fitting, SortedMap<CardKey, CardRefusal> refusals)
      implements NodeRefusal {
    public CardsUnfit {
      refusals = java.util.Collections.unmodifiableSortedMap(new TreeMap<>(refusals));
    }
  }

  /** Each ask fits by itself, but not all of them together. */
  record NotTogether(String node, int cards, String why) implements NodeRefusal {}
}
