package dev.partita.controller.web.view;

import dev.partita.controller.fleet.CardState;
import dev.partita.controller.fleet.ClaimDevice;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.NodeState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * What claims have of cards.
 *
 * @param claims a row for each claim and card
 */
public record ClaimsView(Paged<Row> claims) {
  /**
   * What one claim has of one card.
   *
   * @param node the card's
   * @param index of the card on its node
   * @param model the card's
   * @param part what the claim has of it
   */
  public record Row(String node, int index, String model, Part part) {}

  /**
   * Those that the viewer may see and that are asked for: by a part of namespace, name, node, model or a user's name;
   * sorted by namespace and name, or with {@code memory} or {@code used} the most of that first.
   */
  public static ClaimsView of(Fleet fleet, Query query, Sight sight) {
    List<Row> rows = new ArrayList<>();
    for (NodeState node : fleet.nodes()) {
      for (CardState card : node.cards()) {
        for (ClaimDevice device : card.devices()) {
          if (isMeant(node, card, device, query) && sight.claimsOf(device.namespace())) {
            rows.add(new Row(node.name(), card.card().key().index(), card.card().model(), Part.of(card, device)));
          }
        }
      }
    }
    rows.sort(order(query.sort()));
    return new ClaimsView(Paged.of(rows, query, row -> row));
  }

  private static boolean isMeant(NodeState node, CardState card, ClaimDevice device, Query query) {
    return query.matches(device.claimName(), node.name(), card.card().model())
        || device.users().stream().anyMatch(query::matches);
  }

  private static Comparator<Row> order(String sort) {
    Comparator<Row> byName = Comparator.<Row, String>comparing(row -> row.part().namespace())
        .thenComparing(row -> row.part().claim()).thenComparing(Row::node).thenComparing(Row::index);
    return switch (sort) {
      case "memory" -> Comparator.<Row>comparingLong(row -> row.part().memory()).reversed().thenComparing(byName);
      case "used" -> Comparator.<Row>comparingLong(row -> {
        Long used = row.part().memoryUsed();
        return used == null ? -1 : used;
      }).reversed().thenComparing(byName);
      default -> byName;
    };
  }
}
