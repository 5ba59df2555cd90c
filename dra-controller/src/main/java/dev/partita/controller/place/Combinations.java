package dev.partita.controller.place;

import dev.partita.controller.request.ClaimRequest.NamedRequest;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.Constraint;
import dev.partita.controller.request.DeviceRequest.Selector;
import dev.partita.controller.request.DeviceRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Chooses which combinations of {@code firstAvailable} alternatives are tried, for there can be more than anybody could
 * try: 2 to the number of requests of two alternatives each. Requests that ask for the same are interchangeable, so of
 * these only the combinations count in which none has a later alternative than the next one.
 *
 * <p>Three requests of alternatives <i>a</i> and <i>b</i> that are alike: <i>aaa</i>, <i>aab</i>, <i>abb</i>,
 * <i>bbb</i>, and not the eight that there would be otherwise.
 */
final class Combinations {
  private static final int NONE = -1;

  /** The place of each request's last alternative. */
  private final int[] last;

  /** The next request that is interchangeable with it, or {@link #NONE}. */
  private final int[] next;

  private Combinations(int[] last, int[] next) {
    this.last = last;
    this.next = next;
  }

  /** Those of all requests of the claims, in their order. */
  static Combinations of(List<ClaimRequest> claims) {
    List<Integer> last = new ArrayList<>();
    List<Integer> next = new ArrayList<>();
    Map<Likeness, Integer> before = new HashMap<>();
    for (int claim = 0; claim < claims.size(); claim++) {
      for (NamedRequest request : claims.get(claim).requests()) {
        int place = last.size();
        last.add(request.alternatives().size() - 1);
        next.add(NONE);
        if (request.alternatives().size() > 1) {
          @Nullable Integer alike = before.put(Likeness.of(claims.get(claim), claim, request), place);
          if (alike != null) {
            next.set(alike, place);
          }
        }
      }
    }
    return new Combinations(ints(last), ints(next));
  }

  private static int[] ints(List<Integer> values) {
    return values.stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * What tells requests apart that are not interchangeable.
   *
   * @param claim place of the claim, whose requests constraints may tie to each other; {@link #NONE} if it has no other
   * @param alternatives without what names them
   * @param constraints of the claim, and what it prefers, with what each of them covers of the alternatives
   */
  private record Likeness(int claim, List<DeviceRequest> alternatives, List<List<Object>> constraints) {
    static Likeness of(ClaimRequest claim, int place, NamedRequest request) {
      List<List<Object>> constraints = new ArrayList<>();
      for (List<Constraint> kind : List.of(claim.constraints(), claim.preferences())) {
        for (Constraint constraint : kind) {
          List<Object> covered = new ArrayList<>(List.of(constraint.getClass(), constraint.attribute()));
          request.alternatives().forEach(alternative -> covered.add(constraint.covers(alternative.name())));
          constraints.add(covered);
        }
        constraints.add(List.of()); // what is required differs from what is preferred
      }
      return new Likeness(claim.requests().size() == 1 ? NONE : place,
          request.alternatives().stream().map(Likeness::unnamed).toList(), constraints);
    }

    private static DeviceRequest unnamed(DeviceRequest request) {
      return new DeviceRequest("",
          request.selectors().stream().map(selector -> new Selector("", selector.expression())).toList(),
          request.count(), request.capacity(), request.tolerations(), request.placement(), request.access(),
          request.modes());
    }
  }

  /**
   * The best so many, each with the place of the alternative that every request has: those of the least sum of places
   * first, and of these those that give the first requests most. If there are more, those follow in which all requests
   * have their second alternative, their third and so on, or their last, for a cluster may have nothing of what all
   * want first; and those in which the first few requests have the alternative before, as when a node has a few of it.
   */
  List<int[]> best(int most) {
    List<int[]> found = new ArrayList<>();
    List<int[]> ofOneRank = List.of(new int[last.length]);
    while (!ofOneRank.isEmpty() && found.size() < most) {
      found.addAll(ofOneRank.subList(0, Math.min(ofOneRank.size(), most - found.size())));
      ofOneRank = oneFurther(ofOneRank, most);
    }
    if (!ofOneRank.isEmpty()) {
      int ranks = Arrays.stream(last).max().orElse(0);
      int step = Math.ceilDiv(last.length * ranks, Math.max(1, most - ranks));
      for (int rank = 1; rank <= ranks; rank++) {
        for (int better = 0; better < last.length; better += step) {
          int[] steps = steps(rank, better);
          if (found.stream().noneMatch(known -> Arrays.equals(known, steps))) {
            found.add(steps);
          }
        }
      }
    }
    return found;
  }

  /** So many of the first requests have the alternative before that of the others. */
  private int[] steps(int rank, int better) {
    int[] steps = new int[last.length];
    for (int request = 0; request < last.length; request++) {
      steps[request] = Math.min(last[request], request < better ? rank - 1 : rank);
    }
    return steps;
  }

  /**
   * Those of which one request has the next alternative, in order, at most so many. Each comes from one combination
   * alone, that in which the first request without its first alternative has the one before.
   */
  private List<int[]> oneFurther(List<int[]> combinations, int most) {
    List<int[]> further = new ArrayList<>();
    for (int[] combination : combinations) {
      int first = 0;
      while (first < last.length - 1 && combination[first] == 0) {
        first++;
      }
      for (int request = Math.min(first, last.length - 1); request >= 0; request--) {
        if (mayGoFurther(combination, request)) {
          int[] other = combination.clone();
          other[request]++;
          further.add(other);
        }
      }
    }
    further.sort(Arrays::compare);
    return further.subList(0, Math.min(further.size(), most));
  }

  private boolean mayGoFurther(int[] combination, int request) {
    return combination[request] < last[request]
        && (next[request] == NONE || combination[request] < combination[next[request]]);
  }
}
