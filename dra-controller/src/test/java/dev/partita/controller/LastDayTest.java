package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The samples of the last day, which outlive the controllers that took them. */
class LastDayTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
  private static final long FIRST = BEGIN.getEpochSecond();

  private final Cluster cluster = Cluster.empty();
  private final HttpClient http = HttpClient.newHttpClient();

  @BeforeEach
  void addNode() {
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
  }

  @AfterEach
  void close() {
    http.close();
    cluster.close();
  }

  private static Clock after(Duration time) {
    return new HeldClock(BEGIN.plus(time));
  }

  /** What the chart makes. */
  private void store(Map<String, String> data) {
    cluster.client.resource(
        new ConfigMapBuilder().withNewMetadata().withNamespace("partita").withName("partita-history").endMetadata()
            .withBinaryData(data).build())
        .create();
  }

  private String stored() {
    ConfigMap object =
        Objects.requireNonNull(cluster.client.configMaps().inNamespace("partita").withName("partita-history").get());
    return Objects.requireNonNullElse(object.getBinaryData(), Map.<String, String>of()).getOrDefault("samples.gz", "");
  }

  private JsonNode shown() throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + cluster.webPort() + "/api/history"))
        .header("Authorization", "Bearer admin").build();
    return new ObjectMapper().readTree(http.send(request, HttpResponse.BodyHandlers.ofString()).body()).path("view");
  }

  private static long[] times(JsonNode view) {
    return StreamSupport.stream(view.path("samples").spliterator(), false).mapToLong(one -> one.path("at").asLong())
        .toArray();
  }

  private JsonNode awaitShown(long... times) {
    return eventually().until(this::shown, view -> LongStream.of(times(view)).boxed().toList()
        .equals(LongStream.of(times).boxed().toList()));
  }

  @Test
  void aControllerThatIsStartedAnewShowsWhatTheOneBeforeSampledAndTheGap() {
    store(Map.of());
    cluster.startWithPage(after(Duration.ZERO));
    awaitShown(FIRST);
    cluster.stopControllers();
    cluster.startWithPage(after(Duration.ofHours(1)));
    JsonNode view = awaitShown(FIRST, FIRST + 3600);
    assertThat(view.at("/samples/0/totals/cards").asInt()).isEqualTo(2);
    assertThat(view.path("gaps")).singleElement().extracting(JsonNode::asLong).isEqualTo(FIRST + 3600);
  }

  @Test
  void anotherInstanceShowsWhatTheFirstHasStored() {
    store(Map.of());
    cluster.startWithPage(after(Duration.ZERO));
    eventually().until(() -> !stored().isEmpty());
    cluster.startWithPage(after(Duration.ofMinutes(3)));
    assertThat(awaitShown(FIRST, FIRST + 180).path("gaps")).isEmpty();
  }

  @Test
  void whatWasSampledADayAgoIsNotShown() {
    store(Map.of());
    cluster.startWithPage(after(Duration.ZERO));
    eventually().until(() -> !stored().isEmpty());
    cluster.stopControllers();
    cluster.startWithPage(after(Duration.ofHours(25)));
    awaitShown(FIRST + 25 * 3600);
  }

  @Test
  void samplesOfAClockThatWasAheadAreLeftOutAndReplaced() {
    store(Map.of());
    cluster.startWithPage(after(Duration.ofHours(2)));
    eventually().until(() -> !stored().isEmpty());
    cluster.stopControllers();
    String before = stored();
    cluster.startWithPage(after(Duration.ZERO));
    awaitShown(FIRST);
    eventually().until(() -> !stored().equals(before));
    cluster.startWithPage(after(Duration.ofHours(3)));
    awaitShown(FIRST, FIRST + 3 * 3600);
  }

  @Test
  void whatIsNotOfOurFormIsReplaced() {
    store(Map.of("samples.gz", "AAAA"));
    cluster.startWithPage(after(Duration.ZERO));
    awaitShown(FIRST);
    eventually().until(() -> !stored().equals("AAAA"));
  }

  @Test
  void whatCouldNotBeWrittenIsWhenTheControllerStops() {
    store(Map.of());
    cluster.rules.forbid("/configmaps/partita-history");
    cluster.startWithPage(after(Duration.ZERO));
    eventually().until(() -> cluster.rules.refusals() > 0);
    assertThat(stored()).isEmpty();
    cluster.rules.permit("/configmaps/partita-history");
    cluster.stopControllers();
    assertThat(stored()).isNotEmpty();
  }

  @Test
  void whereTheObjectIsMissingThePageShowsWhatTheControllerSampledItself() {
    cluster.startWithPage(after(Duration.ZERO));
    awaitShown(FIRST);
  }

  @Test
  void aControllerWithoutThePageStoresNothing() {
    store(Map.of());
    cluster.start();
    cluster.awaitOffered();
    cluster.stopControllers();
    assertThat(stored()).isEmpty();
  }
}
