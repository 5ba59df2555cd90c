package dev.partita.controller.web.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.partita.controller.fleet.CardState;
import dev.partita.controller.fleet.Fleet;
import dev.partita.controller.fleet.NodeState;
import dev.partita.controller.fleet.Totals;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The nodes with cards.
 *
 * @param totals of all of them, whichever are asked for
 * @param nodes those that are asked for
 */
public record NodesView(Totals totals, Paged<Row> nodes) {
  /**
   * A node.
   *
   * @param name the Node's
   * @param problem why its cards cannot be handed out, for people; null if they can
   * @param cards by index
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Row(String name, @Nullable String problem, List<CardRow> cards) {
    public Row {
      cards = List.copyOf(cards);
    }
  }

  /**
   * Those that are asked for: by a part of their name, of a model, or of the namespace and name of a claim that the
   * viewer may see, as they are shown with a slash between; sorted by name, or with {@code allocated}, {@code used} or
   * {@code free} the most memory of that first.
   */
  public static NodesView of(Fleet fleet, Query query, Sight sight) {
    List<NodeState> shown =
        fleet.nodes().stream().filter(node -> isMeant(node, query, sight)).sorted(order(query.sort())).toList();
    return new NodesView(Totals.of(fleet), Paged.of(shown, query, node -> row(node, sight)));
  }

  private static Row row(NodeState node, Sight sight) {
    return new Row(node.name(), node.host().unready().orElse(null),
        node.cards().stream().map(card -> CardRow.of(card, sight)).toList());
  }

  private static boolean isMeant(NodeState node, Query query, Sight sight) {
    return query.matches(node.name()) || node.cards().stream().anyMatch(
        card -> query.matches(card.card().model(), card.standing().toString()) || card.devices().stream().anyMatch(
            device -> query.matches(device.claimName()) && sight.claimsOf(device.namespace())));
  }

  private static Comparator<NodeState> order(String sort) {
    Comparator<NodeState> byName = Comparator.comparing(NodeState::name);
    return switch (sort) {
      case "allocated" -> most(CardState::memoryAllocated).thenComparing(byName);
      case "used" -> most(card -> card.memoryUsed().orElse(0)).thenComparing(byName);
      case "free" -> most(CardState::memoryFree).thenComparing(byName);
      default -> byName;
    };
  }

  private static Comparator<NodeState> most(ToLongFunction<CardState> amount) {
    return Comparator.<NodeState>comparingLong(node -> node.cards().stream().mapToLong(amount).sum()).reversed();
  }
}
