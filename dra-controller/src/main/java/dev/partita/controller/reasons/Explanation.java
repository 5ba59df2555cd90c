package dev.partita.controller.reasons;

import dev.partita.api.Bytes;
import dev.partita.api.Excerpt;
import dev.partita.controller.match.CardRefusal;
import dev.partita.controller.reasons.NodeRefusal.CardsUnfit;
import dev.partita.controller.reasons.NodeRefusal.NotTogether;
import dev.partita.controller.reasons.NodeRefusal.PodUnfit;
import dev.partita.controller.request.ClaimRef;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Says why no node can serve a pod's claims, with a reason for every node. {@link #summary} shortens it to what fits an
 * event.
 *
 * @param nodes by name
 */
public record Explanation(List<NodeRefusal> nodes) {
  public Explanation {
    nodes = List.copyOf(nodes);
  }

  /**
   * One text for people: how many cards fit, and the others grouped by reason, the largest group first.
   *
   * @param maxLength most characters; groups that find no room are counted instead
   */
  public String summary(int maxLength) {
    if (nodes.isEmpty()) {
      return "no node reports GPUs (no GpuNode)";
    }
    int cards = nodes.stream().mapToInt(NodeRefusal::cards).sum();
    int fitting = nodes.stream().mapToInt(node -> node instanceof CardsUnfit unfit ? unfit.fitting() : 0).sum();
    StringBuilder text = new StringBuilder();
    beyondAnyCard().ifPresent(limit -> text.append(limit).append("; "));
    text.append(fitting).append(" of ").append(cards).append(cards == 1 ? " card fits" : " cards fit");
    List<String> groups = groups().stream().map(Group::toString).toList();
    String separator = ": ";
    for (int i = 0; i < groups.size(); i++) {
      String rest = "; and " + (groups.size() - i) + " more reasons";
      int room = maxLength - text.length() - separator.length() - (i + 1 < groups.size() ? rest.length() : 0);
      if (groups.get(i).length() > room) {
        text.append(rest);
        break;
      }
      text.append(separator).append(groups.get(i));
      separator = "; ";
    }
    return Excerpt.of(text.toString(), maxLength - 1);
  }

  /** The claim whose request too few cards can serve, if it is the same one on every node that the pod could run on. */
  public Optional<ClaimRef> claimAtFault() {
    Set<ClaimRef> claims = new HashSet<>();
    nodes.forEach(node -> {
      if (node instanceof CardsUnfit unfit) {
        claims.add(unfit.claim());
      }
    });
    return claims.size() == 1 ? Optional.of(claims.iterator().next()) : Optional.empty();
  }

  /** Whether the request is above every card of the models that it may use, so that waiting is in vain. */
  private Optional<String> beyondAnyCard() {
    Map<String, Long> largest = new java.util.TreeMap<>();
    Optional<CardRefusal.TooSmall> sample = Optional.empty();
    boolean manyCores = false;
    long cores = 0;
    Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (NodeRefusal node : nodes) {
      if (!(node instanceof CardsUnfit unfit)) {
        continue;
      }
      if (unfit.fitting() > 0) {
        return Optional.empty();
      }
      if (!seen.add(unfit.refusals())) {
        continue;
      }
      for (CardRefusal refusal : unfit.refusals().values()) {
        switch (refusal) {
          case CardRefusal.TooSmall small -> {
            largest.merge(small.model(), small.total(), Math::max);
            sample = Optional.of(small);
          }
          case CardRefusal.TooManyCores many -> {
            manyCores = true;
            cores = many.asked();
          }
          case CardRefusal other when other.closeness().mayPass() -> {
            return Optional.empty();
          }
          default -> {}
        }
      }
    }
    if (manyCores) {
      return Optional.of("asks " + cores + " % cores; a card has 100 %");
    }
    return sample.map(
        small -> "asks "
            + Bytes.words(small.asked())
            + "; "
            + String.join(
                ", ",
                largest.entrySet().stream()
                    .map(model -> "the largest " + model.getKey() + " has " + Bytes.words(model.getValue()))
                    .toList()));
  }

  private List<Group> groups() {
    Map<String, Group> groups = new LinkedHashMap<>();
    Map<CardRefusal, Group> byRefusal = new HashMap<>();
    IdentityHashMap<Object, Map<Group, Integer>> byRefusals = new IdentityHashMap<>();
    for (NodeRefusal node : nodes) {
      switch (node) {
        case PodUnfit unfit -> groups.computeIfAbsent(unfit.why(), Group::new).add(node.node(), node.cards());
        case NotTogether together -> groups.computeIfAbsent(together.why(), Group::new).add(node.node(), node.cards());
        case CardsUnfit unfit -> {
          byRefusals
              .computeIfAbsent(unfit.refusals(), _ -> cardsByGroup(unfit, byRefusal, groups))
              .forEach((group, cards) -> group.add(node.node(), cards));
          if (unfit.fitting() > 0) {
            String why = unfit.wanted() + " wanted on one node by request " + unfit.request() + ", " + unfit.devices()
                + " fit there";
            groups.computeIfAbsent(why, Group::new).add(node.node(), unfit.fitting());
          }
        }
      }
    }
    List<Group> sorted = new ArrayList<>(groups.values());
    sorted.sort(Comparator.comparingInt((Group g) -> g.cards).reversed());
    return sorted;
  }

  private static Map<Group, Integer> cardsByGroup(
      CardsUnfit unfit,
      Map<CardRefusal, Group> byRefusal,
      Map<String, Group> groups) {
    Map<Group, Integer> cards = new LinkedHashMap<>();
    for (CardRefusal refusal : unfit.refusals().values()) {
      cards.merge(byRefusal.computeIfAbsent(refusal, why -> groups.computeIfAbsent(why.toString(), Group::new)), 1,
          Integer::sum);
    }
    return cards;
  }

  /** Cards with the same reason, told of node by node. */
  private static final class Group {
    private final String why;
    private String lastNode = "";
    private int nodes;
    private int cards;

    Group(String why) {
      this.why = why;
    }

    void add(String node, int more) {
      nodes += node.equals(lastNode) ? 0 : 1;
      lastNode = node;
      cards += more;
    }

    @Override
    public String toString() {
      String where = nodes == 1 ? lastNode : nodes + " nodes";
      return cards + (cards == 1 ? " card on " : " cards on ") + where + ": " + why;
    }
  }
}
