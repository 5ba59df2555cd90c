package dev.partita.controller.web;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.Driver;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads one claim and its events from the API server, as they stand there: the informers keep neither conditions nor
 * events. Only for who may see them.
 */
final class ClaimDetails {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MOST_EVENTS = 50;

  /** Annotations that controllers leave for each other: people see what came of them with the devices. */
  private static final Set<String> AMONG_CONTROLLERS =
      Set.of(Driver.PROPOSAL_ANNOTATION, Driver.GRANTED_SIZES_ANNOTATION);

  private final KubernetesClient client;

  ClaimDetails(KubernetesClient client) {
    this.client = client;
  }

  /**
   * A claim.
   *
   * @param created when, as the API has it
   * @param annotations Partita's own that are for people, by their name without the domain
   * @param users who has reserved it, as kind and name
   * @param devices what it was allocated, Partita's devices and those of other drivers
   * @param events about it, the latest first; null where the viewer may not see events
   */
  record View(
      String namespace,
      String name,
      String created,
      Map<String, String> annotations,
      List<String> users,
      List<Device> devices,
      @Nullable List<Event> events) {}

  /**
   * A device that it was allocated.
   *
   * @param data what its node says of it, by name
   */
  record Device(
      String request,
      String driver,
      String pool,
      String device,
      Map<String, String> data,
      List<Condition> conditions) {}

  /** A condition of a device. */
  record Condition(String type, String status, String reason, String message, String since) {}

  /** An event; {@code last} is when it was seen last. */
  record Event(String type, String reason, String message, int count, String last) {}

  /**
   * Reads it.
   *
   * @param withEvents whether the viewer may see events
   * @return empty if there is no such claim
   * @throws KubernetesClientException if the API server does not say
   */
  Optional<View> of(String namespace, String name, boolean withEvents) {
    Optional<JsonNode> claim = get("/apis/resource.k8s.io/v1/namespaces/" + namespace + "/resourceclaims/" + name);
    return claim.map(found -> new View(namespace, name, found.at("/metadata/creationTimestamp").asText(),
        annotations(found), users(found), devices(found),
        withEvents ? events(namespace, name, found.at("/metadata/uid").asText()) : null));
  }

  private static Map<String, String> annotations(JsonNode claim) {
    Map<String, String> ours = new TreeMap<>();
    String prefix = Driver.NAME + "/";
    claim.at("/metadata/annotations").properties().stream()
        .filter(entry -> entry.getKey().startsWith(prefix) && !AMONG_CONTROLLERS.contains(entry.getKey()))
        .forEach(entry -> ours.put(entry.getKey().substring(prefix.length()), entry.getValue().asText()));
    return ours;
  }

  private static List<String> users(JsonNode claim) {
    List<String> users = new ArrayList<>();
    claim.at("/status/reservedFor")
        .forEach(user -> users.add(user.path("resource").asText() + "/" + user.path("name").asText()));
    return users;
  }

  private static List<Device> devices(JsonNode claim) {
    List<Device> devices = new ArrayList<>();
    for (JsonNode result : claim.at("/status/allocation/devices/results")) {
      JsonNode status = status(claim, result);
      Map<String, String> data = new TreeMap<>();
      status.path("data").properties().forEach(entry -> data.put(entry.getKey(), text(entry.getValue())));
      List<Condition> conditions = new ArrayList<>();
      status.path("conditions").forEach(
          each -> conditions.add(new Condition(each.path("type").asText(), each.path("status").asText(),
              each.path("reason").asText(), each.path("message").asText(), each.path("lastTransitionTime").asText())));
      devices.add(new Device(result.path("request").asText(), result.path("driver").asText(),
          result.path("pool").asText(), result.path("device").asText(), data, conditions));
    }
    return devices;
  }

  private static String text(JsonNode value) {
    return value.isValueNode() ? value.asText() : value.toString();
  }

  private static JsonNode status(JsonNode claim, JsonNode result) {
    for (JsonNode status : claim.at("/status/devices")) {
      if (status.path("driver").equals(result.path("driver")) && status.path("pool").equals(result.path("pool"))
          && status.path("device").equals(result.path("device"))
          && status.path("shareID").asText().equals(result.path("shareID").asText())) {
        return status;
      }
    }
    return JSON.createObjectNode();
  }

  private List<Event> events(String namespace, String name, String uid) {
    String selector = "regarding.kind=ResourceClaim,regarding.name=" + name + ",regarding.uid=" + uid;
    List<Event> events = new ArrayList<>();
    get("/apis/events.k8s.io/v1/namespaces/" + namespace + "/events?limit=" + MOST_EVENTS + "&fieldSelector="
        + URLEncoder.encode(selector, StandardCharsets.UTF_8))
        .ifPresent(list -> list.path("items").forEach(event -> {
          if (event.at("/regarding/uid").asText().equals(uid)) { // not one that had its name before
            events.add(event(event));
          }
        }));
    events.sort(Comparator.comparing(Event::last).reversed());
    return events;
  }

  private static Event event(JsonNode event) {
    JsonNode series = event.path("series");
    int count = Math.max(1, Math.max(series.path("count").asInt(), event.path("deprecatedCount").asInt()));
    String last = first(series.path("lastObservedTime"), event.path("deprecatedLastTimestamp"),
        event.path("eventTime"), event.at("/metadata/creationTimestamp"));
    return new Event(event.path("type").asText(), event.path("reason").asText(), event.path("note").asText(), count,
        last);
  }

  private static String first(JsonNode... times) {
    for (JsonNode time : times) {
      if (time.isTextual()) {
        return time.asText();
      }
    }
    return "";
  }

  private Optional<JsonNode> get(String path) {
    try {
      String body = client.raw(path);
      return body == null ? Optional.empty() : Optional.of(JSON.readTree(body));
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    } catch (JsonProcessingException e) {
      throw new KubernetesClientException("the API server's answer cannot be read: " + e.getOriginalMessage(), e);
    }
  }
}
