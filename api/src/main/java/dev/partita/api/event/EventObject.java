package dev.partita.api.event;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.UUID;

/**
 * An event on a claim or a pod, as events.k8s.io/v1 takes it. Whoever says the same again counts it in the series of
 * the event that is there, which is found by its name.
 *
 * @param about the kind of object that it is about
 * @param namespace of the object
 * @param object name of the object
 * @param uid of the object
 * @param warning whether it is a Warning; else it is Normal
 * @param reason one CamelCase word
 * @param action one CamelCase word: what was being done
 * @param note for people; cut to what the API takes
 */
public record EventObject(
    About about,
    String namespace,
    String object,
    String uid,
    boolean warning,
    String reason,
    String action,
    String note) {
  /** The kinds of objects that events are about. */
  public enum About {
    CLAIM("resource.k8s.io/v1", "ResourceClaim"),
    POD("v1", "Pod");

    private final String apiVersion;
    private final String kind;

    About(String apiVersion, String kind) {
      this.apiVersion = apiVersion;
      this.kind = kind;
    }
  }

  /** Longest note that events.k8s.io/v1 takes, in bytes. */
  public static final int NOTE_MAX = 1024;

  private static final int INSTANCE_MAX = 128; // events.k8s.io/v1
  private static final int OBJECT_PART_MAX = 200;
  private static final int DIGEST_CHARACTERS = 16;
  private static final DateTimeFormatter MICROS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);

  public EventObject {
    note = cut(note);
  }

  /** The event's name where there is one event an object and reason, whatever it says. */
  public String nameByReason() {
    return name(reason);
  }

  /** The event's name where another note is another event. */
  public String nameByNote() {
    return name(reason + "\n" + note);
  }

  /**
   * The event when it is said for the first time.
   *
   * @param component which of Partita's programs speaks
   * @param instance which instance of it, such as its pod or node
   */
  public Event first(String name, String component, String instance, Instant now) {
    return new EventBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .endMetadata()
        .withEventTime(micros(now))
        .withType(warning ? "Warning" : "Normal")
        .withReason(reason)
        .withAction(action)
        .withNote(note)
        .withReportingController(Driver.NAME + "/" + component)
        .withReportingInstance(instance.length() > INSTANCE_MAX ? instance.substring(0, INSTANCE_MAX) : instance)
        .withRegarding(
            new ObjectReferenceBuilder()
                .withApiVersion(about.apiVersion)
                .withKind(about.kind)
                .withNamespace(namespace)
                .withName(object)
                .withUid(uid)
                .build())
        .build();
  }

  /** The earlier event, said once more. */
  public static Event again(Event earlier, Instant now) {
    Integer count = earlier.getSeries() == null ? null : earlier.getSeries().getCount();
    return new EventBuilder(earlier)
        .withNewSeries()
        .withCount((count == null ? 1 : count) + 1)
        .withLastObservedTime(micros(now))
        .endSeries()
        .build();
  }

  private String name(String identity) {
    byte[] all = (uid + "\n" + identity).getBytes(StandardCharsets.UTF_8);
    String digest = UUID.nameUUIDFromBytes(all).toString().replace("-", "").substring(0, DIGEST_CHARACTERS);
    String part =
        object.length() > OBJECT_PART_MAX ? object.substring(0, OBJECT_PART_MAX).replaceAll("[.-]+$", "") : object;
    return part + "." + digest;
  }

  private static MicroTime micros(Instant time) {
    return new MicroTime(MICROS.format(time));
  }

  /** As much of a note as the API takes. */
  public static String cut(String note) {
    // a character has a byte at least: of a note of megabytes the rest need not be looked at
    String start = note.length() > NOTE_MAX ? note.substring(0, NOTE_MAX + 1) : note;
    byte[] bytes = start.getBytes(StandardCharsets.UTF_8);
    if (bytes.length <= NOTE_MAX) {
      return note;
    }
    int end = NOTE_MAX - "…".getBytes(StandardCharsets.UTF_8).length;
    while (end > 0 && (bytes[end] & 0xC0) == 0x80) {
      end--;
    }
    return new String(bytes, 0, end, StandardCharsets.UTF_8) + "…";
  }
}
