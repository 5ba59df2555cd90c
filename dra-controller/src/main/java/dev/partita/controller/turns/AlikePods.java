package dev.partita.controller.turns;

import dev.partita.controller.lru.LruMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Remembers why pods of a shape found no place, so that the others of that shape need no search. It holds until
 * something changes that could help any of them. (What is taken in addition helps nobody.) For one thread.
 */
public final class AlikePods {
  /** The shapes that were asked for last. */
  private static final int MOST = 2_048;

  /**
   * What pods of a shape were told.
   *
   * @param summary the reasons in one text, as long as it may be in an event
   * @param claimAtFault which of the pod's open claims it is that cannot be served, if it is one of several
   */
  public record Said(String summary, OptionalInt claimAtFault) {}

  private final Map<PodShape, Said> byShape = new LruMap<>(MOST);

  /** Why pods of that shape have no place; empty if that is to be found out. */
  public Optional<Said> of(PodShape shape) {
    return Optional.ofNullable(byShape.get(shape));
  }

  public void put(PodShape shape, Said said) {
    byShape.put(shape, said);
  }

  /** Something changed that could help. */
  public void forget() {
    byShape.clear();
  }
}
