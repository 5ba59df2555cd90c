package dev.partita.controller.history;

import dev.partita.controller.edge.ApiEdge;
import dev.partita.controller.edge.JsonPatch;
import dev.partita.controller.edge.WriteKind;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and writes the samples of the last day where they outlive instances of the controller: the ConfigMap
 * {@value #NAME} in Partita's namespace, which the chart makes empty. What it holds is input: what is not of our form
 * counts as nothing, and samples of the future are left out.
 */
public final class HistoryStore {
  /** The ConfigMap's name. */
  public static final String NAME = "partita-history";

  private static final Logger LOG = LoggerFactory.getLogger(HistoryStore.class);
  private static final String KEY = "samples.gz";

  /** The clocks of nodes differ by less as a rule. */
  private static final Duration CLOCKS_DIFFER = Duration.ofMinutes(5);

  private final KubernetesClient client;
  private final String namespace;
  private final InstantSource clock;
  private final History history;
  private final ProblemLog problems = new ProblemLog(LOG);

  /**
   * @param namespace Partita's own
   * @param history what is stored, and takes over what somebody else has stored
   */
  public HistoryStore(KubernetesClient client, String namespace, InstantSource clock, History history) {
    this.client = client;
    this.namespace = namespace;
    this.clock = clock;
    this.history = history;
  }

  /**
   * The ConfigMap as it was read, with the samples that it holds.
   *
   * @param object as it was read
   * @param samples of it that can be used, the oldest first
   */
  record Stored(ConfigMap object, List<Sample> samples) {}

  /** Merges what is stored into the history, if it can be read; else says why not, once. */
  public void recall() {
    try {
      read().ifPresent(stored -> history.merge(stored.samples()));
    } catch (KubernetesClientException e) {
      problems.say(name() + " cannot be read, so the last day begins when this instance started: " + e.getMessage());
    }
  }

  /**
   * Reads it.
   *
   * @return empty if there is no such object, which is said once
   * @throws KubernetesClientException if the API server does not say
   */
  Optional<Stored> read() {
    @Nullable ConfigMap object = client.configMaps().inNamespace(namespace).withName(NAME).get();
    if (object == null) {
      problems.say(name() + " is missing, so the figures of the last day are not kept; the chart makes it");
      return Optional.empty();
    }
    return Optional.of(new Stored(object, samples(object)));
  }

  private List<Sample> samples(ConfigMap object) {
    @Nullable String data = Objects.requireNonNullElse(object.getBinaryData(), Map.<String, String>of()).get(KEY);
    if (data == null) {
      problems.over();
      return List.of();
    }
    return switch (decoded(data)) {
      case SampleFile.Reading.Of(List<Sample> samples) -> past(samples);
      case SampleFile.Reading.Unusable(String why) -> {
        problems.say(name() + ": " + KEY + " " + why + "; the last day begins anew");
        yield List.of();
      }
    };
  }

  private static SampleFile.Reading decoded(String data) {
    try {
      return data.length() > 2 * SampleFile.MOST_BYTES
          ? new SampleFile.Reading.Unusable("has more than " + SampleFile.MOST_BYTES + " bytes")
          : SampleFile.read(Base64.getDecoder().decode(data));
    } catch (IllegalArgumentException e) {
      return new SampleFile.Reading.Unusable("is not base64: " + e.getMessage());
    }
  }

  private List<Sample> past(List<Sample> samples) {
    long latest = clock.instant().plus(CLOCKS_DIFFER).getEpochSecond();
    List<Sample> past = samples.stream().filter(sample -> sample.at() <= latest).toList();
    if (past.size() == samples.size()) {
      problems.over();
    } else {
      problems
          .say(name() + " has samples of the future, which are left out: this clock is behind, or another was ahead");
    }
    return past;
  }

  /**
   * Stores samples under the version that was read, so that of two that believe that they lead one has to look again.
   *
   * @throws RuntimeException as {@link ApiEdge#write} has them
   */
  void write(ApiEdge edge, Stored under, List<Sample> samples) {
    new JsonPatch().replace("/metadata/resourceVersion", under.object().getMetadata().getResourceVersion())
        .add("/binaryData", Map.of(KEY, Base64.getEncoder().encodeToString(SampleFile.write(samples))))
        .apply(client, edge, WriteKind.HISTORY, under.object());
  }

  History history() {
    return history;
  }

  String name() {
    return "configmap " + namespace + "/" + NAME;
  }
}
