package dev.partita.plugin.claimstatus;

import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.ClaimRef;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.PriorityQueue;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Holds reports about claims until they are written. It stays within its bounds however slowly the API server takes
 * reports: of a claim's states only the newest of each device waits, the same event waits once, and beyond its bounds
 * the queue drops reports and says so. Claims take turns, so a claim with many reports does not delay the others.
 *
 * <p>For example, 200 shares whose use changes every 5 s while a call takes 15 s: 200 states wait, each the newest one
 * of its claim.
 */
final class ReportQueue {
  /** A node has far fewer claims at a time. */
  static final int MOST_CLAIMS = 512;

  /** Events of one claim: a tenant can do wrong in another way every second. */
  static final int MOST_EVENTS = 8;

  private final Map<ClaimRef, Waiting> claims = new LinkedHashMap<>(); // whose turn is next stands first
  // nanoTime may overflow
  private final PriorityQueue<Repeat> repeats = new PriorityQueue<>((a, b) -> Long.compare(a.due - b.due, 0));
  private @Nullable Dropped dropped;

  /** What is to be said of a claim. */
  sealed interface Report {
    ClaimRef about();
  }

  /**
   * The state of its devices.
   *
   * @param notes by share key
   */
  record State(PreparedClaim claim, Map<String, DeviceNotes> notes) implements Report {
    State {
      notes = Map.copyOf(notes);
    }

    @Override
    public ClaimRef about() {
      return claim.claim();
    }

    /** The same with what an earlier one says of devices of which it says nothing. */
    State after(State earlier) {
      Map<String, DeviceNotes> all = new TreeMap<>(earlier.notes());
      all.putAll(notes);
      return new State(claim, all);
    }
  }

  /**
   * An event.
   *
   * @param untilWritten whether it is said once only, so that it must be tried again if it is lost
   * @param tries how often it has been tried
   */
  record Event(ClaimRef about, EventReason reason, String note, boolean untilWritten, int tries)
      implements Report {
    /** Whether what it says is made untrue by the next one of its kind. */
    boolean isOfHealth() {
      return reason == EventReason.GpuHealthy || reason == EventReason.GpuUnhealthy;
    }

    Event triedAgain() {
      return new Event(about, reason, note, untilWritten, tries + 1);
    }
  }

  /**
   * Reports that will never be written.
   *
   * @param count how many
   * @param last the last one
   */
  record Dropped(long count, Report last) {}

  /** A report that was lost and is to be written again, from a moment of {@link System#nanoTime} on. */
  private record Repeat(Report report, long due) {}

  private static final class Waiting {
    @Nullable State state;
    final Deque<Event> events = new ArrayDeque<>();

    boolean isEmpty() {
      return state == null && events.isEmpty();
    }
  }

  /** Adds a report, in the place of one that it makes superfluous. */
  synchronized void add(Report report) {
    Waiting waiting = claims.get(report.about());
    if (waiting == null) {
      if (claims.size() >= MOST_CLAIMS) {
        drop(report);
        return;
      }
      waiting = new Waiting();
      claims.put(report.about(), waiting);
    }
    switch (report) {
      case State state -> {
        State before = waiting.state == null ? takeLost(state.about()) : waiting.state;
        waiting.state = before == null ? state : state.after(before);
      }
      case Event event -> {
        if (event.isOfHealth()) {
          for (Event lost : takeLostOfHealth(event.about())) {
            addEvent(waiting, lost);
          }
        }
        addEvent(waiting, event);
      }
    }
  }

  /** Adds that a claim's state is to be written again, unless one that says more waits for that. */
  synchronized void addUnlessWaiting(State state) {
    Waiting waiting = claims.get(state.about());
    if (waiting == null || waiting.state == null) {
      add(state);
    }
  }

  /** Adds an event when it is due, by {@link System#nanoTime}; false if too many of its claim wait for that already. */
  synchronized boolean addLater(Event event, long due) {
    long ofClaim = repeats.stream()
        .filter(repeat -> repeat.report instanceof Event && repeat.report.about().equals(event.about())).count();
    if (ofClaim >= MOST_EVENTS || repeats.size() >= MOST_CLAIMS) {
      return false;
    }
    repeats.add(new Repeat(event, due));
    return true;
  }

  /**
   * Adds a state that was lost when it is due, by {@link System#nanoTime}, or what a newer one leaves of it at once.
   */
  synchronized void addLater(State lost, long due) {
    Waiting waiting = claims.get(lost.about());
    if (waiting != null && waiting.state != null) {
      waiting.state = waiting.state.after(lost);
    } else if (repeats.size() < MOST_CLAIMS) {
      repeats.add(new Repeat(lost, due));
    } else {
      drop(lost);
    }
  }

  /** The claim's state that was to be repeated, which a newer one takes the place of. */
  private @Nullable State takeLost(ClaimRef claim) {
    for (Repeat repeat : repeats) {
      if (repeat.report instanceof State state && state.about().equals(claim)) {
        repeats.remove(repeat);
        return state;
      }
    }
    return null;
  }

  /** What was to be repeated of the health of the claim's cards, for what is newer says something else. */
  private List<Event> takeLostOfHealth(ClaimRef claim) {
    List<Repeat> lost = repeats.stream()
        .filter(repeat -> repeat.report instanceof Event event && event.about().equals(claim) && event.isOfHealth())
        .sorted(repeats.comparator()).toList();
    repeats.removeAll(lost);
    return lost.stream().map(Repeat::report).map(Event.class::cast).toList();
  }

  /** Takes the report whose turn it is; a claim's state goes before its events. */
  synchronized Optional<Report> take(long now) {
    for (Repeat first = repeats.peek(); first != null && first.due - now <= 0; first = repeats.peek()) {
      repeats.remove();
      add(first.report);
    }
    if (claims.isEmpty()) {
      return Optional.empty();
    }
    Map.Entry<ClaimRef, Waiting> first = claims.entrySet().iterator().next();
    Waiting waiting = first.getValue();
    claims.remove(first.getKey());
    Report report = waiting.state;
    if (report == null) {
      report = waiting.events.remove();
    } else {
      waiting.state = null;
    }
    if (!waiting.isEmpty()) {
      claims.put(first.getKey(), waiting);
    }
    return Optional.of(report);
  }

  /** Whether nothing waits but what is to be repeated later. */
  synchronized boolean isEmpty() {
    return claims.isEmpty();
  }

  /** When the next event is to be repeated, by {@link System#nanoTime}. */
  synchronized OptionalLong nextDue() {
    Repeat first = repeats.peek();
    return first == null ? OptionalLong.empty() : OptionalLong.of(first.due);
  }

  /** What was dropped since this was last asked. */
  synchronized Optional<Dropped> dropped() {
    Optional<Dropped> since = Optional.ofNullable(dropped);
    dropped = null;
    return since;
  }

  private void addEvent(Waiting waiting, Event event) {
    if (waiting.events.stream()
        .anyMatch(other -> other.reason() == event.reason() && other.note().equals(event.note()))) {
      return;
    }
    if (waiting.events.size() >= MOST_EVENTS) {
      Event least =
          waiting.events.stream().filter(other -> !other.untilWritten()).findFirst().orElse(waiting.events.getFirst());
      waiting.events.remove(least); // the oldest, and what would not be tried again before what would
      drop(least);
    }
    waiting.events.add(event);
  }

  private void drop(Report report) {
    dropped = new Dropped(dropped == null ? 1 : dropped.count() + 1, report);
  }
}
