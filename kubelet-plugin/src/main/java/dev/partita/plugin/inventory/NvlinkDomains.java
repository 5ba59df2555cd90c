package dev.partita.plugin.inventory;

import dev.partita.plugin.nvml.CardReading.Card;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Groups cards that reach each other over NVLink. */
final class NvlinkDomains {
  private NvlinkDomains() {}

  /**
   * The domain of each card that is in one, by UUID. Cards of one multi-node fabric bear the fabric's name; others that
   * are joined by links, directly, over cards in between or over NVSwitches, bear the smallest UUID among them.
   */
  static Map<String, String> of(List<Card> cards) {
    Map<String, String> byBusId = new HashMap<>();
    cards.forEach(card -> card.topology().pciBusId().ifPresent(id -> byBusId.put(id, card.uuid())));
    Map<String, String> leader = new TreeMap<>();
    cards.forEach(card -> leader.put(card.uuid(), card.uuid()));
    Optional<String> switched = Optional.empty();
    for (Card card : cards) {
      for (String peer : card.topology().nvlink().peers()) {
        String other = byBusId.get(peer);
        if (other != null) {
          join(leader, card.uuid(), other);
        }
      }
      if (card.topology().nvlink().toSwitch()) {
        switched.ifPresent(other -> join(leader, card.uuid(), other));
        switched = Optional.of(card.uuid());
      }
    }
    Map<String, Integer> sizes = new HashMap<>();
    leader.values().forEach(name -> sizes.merge(name, 1, Integer::sum));
    Map<String, String> domains = new HashMap<>();
    for (Card card : cards) {
      String name = leader.getOrDefault(card.uuid(), card.uuid());
      if (card.topology().nvlink().fabric().isPresent()) {
        domains.put(card.uuid(), card.topology().nvlink().fabric().get());
      } else if (sizes.getOrDefault(name, 1) > 1) {
        domains.put(card.uuid(), name);
      }
    }
    return domains;
  }

  private static void join(Map<String, String> leader, String a, String b) {
    String first = leader.getOrDefault(a, a);
    String second = leader.getOrDefault(b, b);
    String smaller = first.compareTo(second) < 0 ? first : second;
    leader.replaceAll((card, name) -> name.equals(first) || name.equals(second) ? smaller : name);
  }
}
