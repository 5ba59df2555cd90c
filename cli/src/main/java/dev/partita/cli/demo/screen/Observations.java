package dev.partita.cli.demo.screen;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Which of the demo's observations were made, and why others were not. */
public final class Observations {
  private final Screen screen;
  private final Map<Observation, String> failures = new EnumMap<>(Observation.class);
  private final Map<Observation, Boolean> made = new EnumMap<>(Observation.class);

  public Observations(Screen screen) {
    this.screen = screen;
  }

  /**
   * Notes whether something was seen, and shows it.
   *
   * @param instead what was seen instead, for the reader who must find out why
   */
  public void note(Observation what, boolean seen, String instead) {
    made.put(what, seen);
    if (!seen) {
      failures.put(what, instead);
    }
    screen.check(seen, seen ? what.text() : what.text() + ": not seen. " + instead);
  }

  /**
   * As {@link #note}, for what the rest of the story stands on.
   *
   * @throws StoryEnds if it was not seen
   */
  public void require(Observation what, boolean seen, String instead) throws StoryEnds {
    note(what, seen, instead);
    if (!seen) {
      throw new StoryEnds(what.text() + ": not seen");
    }
  }

  public boolean allMade() {
    return missing().isEmpty();
  }

  public long count() {
    return made.values().stream().filter(seen -> seen).count();
  }

  /** One line for each observation that was not made. */
  public List<String> missing() {
    return Stream.of(Observation.values())
        .filter(what -> !made.getOrDefault(what, false))
        .map(what -> what.text() + " (" + failures.getOrDefault(what, "the demo did not get so far") + ")")
        .toList();
  }
}
