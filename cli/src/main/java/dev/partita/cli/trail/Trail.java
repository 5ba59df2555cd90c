package dev.partita.cli.trail;

import dev.partita.api.Driver;
import dev.partita.api.Excerpt;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Turns what the API and logs say of a claim into entries. */
final class Trail {
  private static final int LONGEST = 2_000;

  private Trail() {}

  /** All of them, by time; those of one moment stay in their order. */
  static List<Entry> byTime(Collection<Entry> entries) {
    return entries.stream().sorted(Comparator.comparing(Entry::time)).toList();
  }

  /** The events about one object: not those about an earlier one of its name, which outlive it by an hour. */
  static List<Event> about(String kind, String uid, Collection<Event> events) {
    return events.stream().filter(event -> kind.equals(event.getInvolvedObject().getKind()))
        .filter(event -> event.getInvolvedObject().getUid() == null || event.getInvolvedObject().getUid().equals(uid))
        .toList();
  }

  /** What was said about an object by events. */
  static List<Entry> events(Collection<Event> events) {
    List<Entry> entries = new ArrayList<>();
    for (Event event : events) {
      int times = times(event);
      String count = times > 1 ? " (" + times + " times)" : "";
      time(event).ifPresent(time -> entries.add(new Entry(time,
          "event of " + event.getInvolvedObject().getKind() + "/" + event.getInvolvedObject().getName(),
          line(event.getReason() + ": " + event.getMessage() + count))));
    }
    return entries;
  }

  /** By its series where it has one (events.k8s.io), or by the field that series have taken the place of. */
  private static int times(Event event) {
    @Nullable Integer ofSeries = event.getSeries() == null ? null : event.getSeries().getCount();
    @Nullable Integer older = event.getCount();
    return Math.max(ofSeries == null ? 1 : ofSeries, older == null ? 1 : older);
  }

  private static Optional<Instant> time(Event event) {
    @Nullable String ofSeries = event.getSeries() == null || event.getSeries().getLastObservedTime() == null
        ? null
        : event.getSeries().getLastObservedTime().getTime();
    @Nullable String last = event.getLastTimestamp();
    @Nullable String once = event.getEventTime() == null ? null : event.getEventTime().getTime();
    return instant(ofSeries).or(() -> instant(last)).or(() -> instant(once))
        .or(() -> instant(event.getMetadata().getCreationTimestamp()));
  }

  /** When it was made and allocated, and since when the conditions of its devices are as they are. */
  static List<Entry> claim(ResourceClaim claim) {
    List<Entry> entries = new ArrayList<>();
    String source = "ResourceClaim/" + claim.getMetadata().getName();
    instant(claim.getMetadata().getCreationTimestamp())
        .ifPresent(time -> entries.add(new Entry(time, source, "was made")));
    if (claim.getStatus() == null) {
      return entries;
    }
    if (claim.getStatus().getAllocation() != null) {
      instant(claim.getStatus().getAllocation().getAllocationTimestamp())
          .ifPresent(time -> entries.add(new Entry(time, source, "was allocated")));
    }
    for (AllocatedDeviceStatus device : claim.getStatus().getDevices()) {
      if (Driver.NAME.equals(device.getDriver())) {
        for (Condition condition : device.getConditions()) {
          instant(condition.getLastTransitionTime()).ifPresent(time -> entries.add(new Entry(time, source,
              line("condition " + condition.getType() + " of " + device.getDevice() + " is " + condition.getStatus()
                  + ", " + condition.getReason() + ": " + condition.getMessage()))));
        }
      }
    }
    return entries;
  }

  /** Since when its conditions are as they are. */
  static List<Entry> pod(Pod pod) {
    List<Entry> entries = new ArrayList<>();
    List<PodCondition> conditions = pod.getStatus() == null ? List.of() : pod.getStatus().getConditions();
    for (PodCondition condition : conditions) {
      instant(condition.getLastTransitionTime()).ifPresent(time -> entries.add(new Entry(time,
          "Pod/" + pod.getMetadata().getName(),
          line("condition " + condition.getType() + " is " + condition.getStatus()
              + (condition.getMessage() == null ? "" : ": " + condition.getMessage())))));
    }
    return entries;
  }

  /**
   * The lines that name the claim, or its pods.
   *
   * @param log lines that begin with their time, as kubectl's --timestamps gives them
   * @param names what a line must have one of, and not merely as a part of another name; at least one
   */
  static List<Entry> log(String source, String log, Collection<String> names) {
    List<Entry> entries = new ArrayList<>();
    Pattern any = Pattern.compile("(?<![A-Za-z0-9-])(?:"
        + names.stream().map(Pattern::quote).collect(Collectors.joining("|")) + ")(?![.]?[A-Za-z0-9-])");
    log.lines().filter(line -> any.matcher(line).find()).forEach(line -> {
      int blank = line.indexOf(' ');
      instant(blank < 0 ? null : line.substring(0, blank))
          .ifPresent(time -> entries.add(new Entry(time, source, line(line.substring(blank + 1)))));
    });
    return entries;
  }

  private static Optional<Instant> instant(@Nullable String text) {
    try {
      return Optional.ofNullable(text).map(Instant::parse);
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }

  private static String line(String text) {
    return Excerpt.of(
        text.lines().map(String::strip).filter(line -> !line.isEmpty()).collect(Collectors.joining(" ")), LONGEST);
  }
}
