package dev.partita.controller.stream;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.JsonProblem;
import dev.partita.controller.request.PodNeeds;
import dev.partita.controller.stream.ClusterStream.Among;
import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamNode;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads a stream from JSON lines: a header, then the nodes, then the pods in order of their arrival. */
public final class StreamReader {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long MIB = 1L << 20;
  private static final int MOST_GPUS = 64;
  private static final long MOST_AMOUNT = 1L << 40;
  private static final double MOST_SECONDS = 1e10;

  private final List<StreamNode> nodes = new ArrayList<>();
  private final List<StreamPod> pods = new ArrayList<>();
  private final Set<String> nodeNames = new HashSet<>();
  private String name = "";
  private boolean memoryIsSaid;
  private int lineOfMilli;

  private StreamReader() {}

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be read, or a line is not what it should be: the message names the line
   */
  public static ClusterStream read(BufferedReader lines) throws IOException {
    return new StreamReader().readAll(lines);
  }

  private ClusterStream readAll(BufferedReader lines) throws IOException {
    int number = 0;
    for (@Nullable String line = lines.readLine(); line != null; line = lines.readLine()) {
      number++;
      if (!line.isBlank()) {
        try {
          read(JSON.readTree(line), number);
        } catch (IOException | IllegalArgumentException e) {
          String words = e instanceof JsonProcessingException syntax
              ? "is no JSON: " + JsonProblem.words(syntax)
              : Objects.requireNonNullElse(e.getMessage(), "").lines().findFirst().orElse("");
          throw new IOException("line " + number + ": " + words, e);
        }
      }
    }
    if (nodes.isEmpty()) {
      throw new IOException("it has no nodes");
    }
    if (memoryIsSaid && lineOfMilli > 0) {
      throw new IOException("line " + lineOfMilli + ": milli below 1000 is for nodes without gpuMemoryMiB;"
          + " say gpuMemoryMiB and cores of the pod");
    }
    return new ClusterStream(name, nodes, pods);
  }

  private void read(JsonNode line, int number) {
    if (line.has("stream")) {
      name = line.get("stream").asText();
    } else if (line.has("node")) {
      node(line);
    } else if (line.has("pod")) {
      pod(line, number);
    } else {
      throw new IllegalArgumentException("neither header nor node nor pod");
    }
  }

  private void node(JsonNode line) {
    String node = text(line, "node");
    if (!nodeNames.add(node)) {
      throw new IllegalArgumentException("node " + node + " is there twice");
    }
    int gpus = (int) whole(line, "gpus", 0, MOST_GPUS, 0);
    memoryIsSaid |= line.has("gpuMemoryMiB");
    nodes.add(
        new StreamNode(node, line.path("model").asText(""), gpus,
            whole(line, "gpuMemoryMiB", 1, MOST_AMOUNT, ClusterStream.USUAL_MEMORY / MIB) * MIB,
            (int) whole(line, "gpusPerNuma", 1, MOST_GPUS, Math.max(1, gpus)), needs(line)));
  }

  private void pod(JsonNode line, int number) {
    String pod = text(line, "pod");
    Cards cards = cards(line, number);
    double before = pods.isEmpty() ? -1 : pods.getLast().arrival();
    double arrival = seconds(line, "arrivalSeconds").orElse(before + 1);
    if (arrival < before) {
      throw new IllegalArgumentException(
          "arrivalSeconds is before that of the pod before: " + line.get("arrivalSeconds").asText());
    }
    pods.add(new StreamPod(pod, cards, needs(line), arrival, seconds(line, "durationSeconds")));
  }

  private Cards cards(JsonNode line, int number) {
    int gpus = (int) whole(line, "gpus", 0, MOST_GPUS, 0);
    boolean isShare = line.has("gpuMemoryMiB") || line.has("cores");
    if (isShare && line.has("milli")) {
      throw new IllegalArgumentException("milli says the same as gpuMemoryMiB and cores: say one of them");
    }
    if (gpus == 0) {
      return new Cards.None();
    }
    if (isShare) {
      return new Cards.Share(gpus, whole(line, "gpuMemoryMiB", 1, MOST_AMOUNT, 0) * MIB,
          (int) whole(line, "cores", 0, 100, 0), among(line));
    }
    int milli = (int) whole(line, "milli", 1, 1000, 1000);
    if (milli == 1000) {
      return new Cards.Whole(gpus, among(line));
    }
    if (gpus > 1) {
      throw new IllegalArgumentException("parts of more than one GPU: " + gpus + " times " + milli + " milli");
    }
    lineOfMilli = lineOfMilli == 0 ? number : lineOfMilli;
    return new Cards.Share(1, milli * ClusterStream.MILLI_MEMORY, milli / 10, among(line));
  }

  private static Among among(JsonNode line) {
    List<String> models = new ArrayList<>();
    JsonNode said = line.path("models");
    if (!said.isMissingNode() && !said.isNull() && !said.isArray()) {
      throw new IllegalArgumentException("models is no list");
    }
    said.forEach(model -> models.add(model.asText()));
    Optional<String> attribute = Optional.of(line.path("matchAttribute").asText("")).filter(text -> !text.isEmpty());
    attribute.filter(text -> !ClusterStream.ATTRIBUTES.contains(text)).ifPresent(text -> {
      throw new IllegalArgumentException("matchAttribute must be numaNode or model: " + text);
    });
    return new Among(models, attribute);
  }

  private static PodNeeds needs(JsonNode line) {
    return new PodNeeds(whole(line, "cpuMilli", 0, MOST_AMOUNT, 0), whole(line, "memoryMiB", 0, MOST_AMOUNT, 0) * MIB);
  }

  private static String text(JsonNode line, String field) {
    String text = line.path(field).asText("");
    if (text.isEmpty()) {
      throw new IllegalArgumentException(field + " is empty");
    }
    return text;
  }

  /** A whole number within these bounds; {@code unsaid}, within them or not, if there is none. */
  private static long whole(JsonNode line, String field, long least, long most, long unsaid) {
    JsonNode value = line.path(field);
    if (value.isMissingNode() || value.isNull()) {
      if (unsaid == 0 && least > 0) {
        throw new IllegalArgumentException(field + " is missing");
      }
      return unsaid;
    }
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw new IllegalArgumentException(field + " is no whole number: " + value);
    }
    long number = value.asLong();
    if (number < least || number > most) {
      throw new IllegalArgumentException(field + " must be " + least + " to " + most + ": " + number);
    }
    return number;
  }

  private static OptionalDouble seconds(JsonNode line, String field) {
    JsonNode value = line.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return OptionalDouble.empty();
    }
    if (!value.isNumber() || !(value.asDouble() >= 0 && value.asDouble() <= MOST_SECONDS)) {
      throw new IllegalArgumentException(field + " is no number of seconds: " + value);
    }
    return OptionalDouble.of(value.asDouble());
  }
}
