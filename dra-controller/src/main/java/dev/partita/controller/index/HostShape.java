package dev.partita.controller.index;

import dev.partita.api.device.AttributeValue;
import dev.partita.controller.inventory.Device;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What hosts have in common whose untouched cards can serve the same requests for whole cards: the kinds of their cards
 * in order, and which of the cards agree in which attributes of one card.
 *
 * @param kinds by position in the host's list of cards
 * @param agreement for each device and each of its attributes of one card, in order of name, the first device that has
 *        the same value
 */
record HostShape(List<CardClass> kinds, List<Integer> agreement) {
  HostShape {
    kinds = List.copyOf(kinds);
    agreement = List.copyOf(agreement);
  }

  /** @param devices of the cards in their order */
  static HostShape of(List<CardClass> kinds, List<Device> devices) {
    Map<String, Map<AttributeValue, Integer>> firsts = new HashMap<>();
    List<Integer> agreement = new ArrayList<>();
    for (int i = 0; i < devices.size(); i++) {
      for (Map.Entry<String, AttributeValue> attribute : devices.get(i).attributes().entrySet()) {
        if (CardKind.isDiffering(attribute.getKey())) {
          agreement.add(firsts.computeIfAbsent(attribute.getKey(), name -> new HashMap<>()).merge(attribute.getValue(),
              i, Math::min));
        }
      }
    }
    return new HostShape(kinds, agreement);
  }
}
