package dev.partita.admission.convert;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.InstanceSize;
import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.FieldError;
import dev.partita.api.config.GpuShareConfigDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the containers of a converted pod ask for, as text for an annotation of it: the templates that the pod refers to
 * can be made anew from it. Anybody who may write pods may write such a text, so it is read as strictly as can be: what
 * is not, to the letter, what {@link #text} would write is no such text.
 *
 * @param requests each once, at most {@value #MOST}
 */
public record ConvertedRequests(List<GpuRequest> requests) {
  /** Of one pod. */
  public static final int MOST = 32;

  private static final int VERSION = 1;

  /** Most bytes of all annotations of an object (apimachinery, TotalAnnotationSizeLimitB): API servers look later. */
  private static final int LONGEST = 256 * 1024;

  private static final ObjectMapper JSON =
      JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  /**
   * @throws IllegalArgumentException if there are none, too many, or one twice
   */
  public ConvertedRequests {
    requests = List.copyOf(requests);
    if (requests.isEmpty() || requests.size() > MOST || requests.stream().distinct().count() != requests.size()) {
      throw new IllegalArgumentException("from 1 to " + MOST + " different requests are kept, not " + requests.size());
    }
  }

  /** The one way to write them: JSON in one line, with its version. */
  public String text() {
    ObjectNode document = JSON.createObjectNode().put("version", VERSION);
    requests.forEach(request -> document.withArrayProperty("requests").add(write(request)));
    return document.toString();
  }

  /** Reads what {@link #text} has written. */
  public static Decoded<ConvertedRequests> read(String text) {
    if (text.length() > LONGEST) {
      return invalid("is longer than an annotation can be");
    }
    try {
      JsonNode document = JSON.readTree(text);
      int version = document.path("version").asInt(0);
      if (version != VERSION) {
        return invalid("is of version " + document.path("version") + "; known is " + VERSION);
      }
      List<GpuRequest> requests = new ArrayList<>();
      for (JsonNode request : document.path("requests")) {
        if (requests.size() == MOST) {
          return invalid("holds more than " + MOST + " requests");
        }
        requests.add(request(request));
      }
      ConvertedRequests read = new ConvertedRequests(requests);
      if (!read.text().equals(text)) {
        return invalid("is not written as it is when a pod is converted: unknown, missing or reordered fields");
      }
      return read.configProblems().isEmpty() ? new Decoded.Valid<>(read) : new Decoded.Invalid<>(read.configProblems());
    } catch (JsonProcessingException e) {
      return invalid("is no JSON: " + e.getOriginalMessage());
    } catch (IllegalArgumentException e) {
      return invalid(Optional.ofNullable(e.getMessage()).orElse("holds values that no request has"));
    }
  }

  private List<FieldError> configProblems() {
    List<FieldError> problems = new ArrayList<>();
    for (GpuRequest request : requests) {
      new ClaimTemplate(request)
          .object().getSpec().getSpec().getDevices().getConfig().stream()
          .map(config -> GpuShareConfigDecoder.decode(config.getOpaque().getParameters()))
          .forEach(
              decoded -> {
                if (decoded instanceof Decoded.Invalid<?>(List<FieldError> errors)) {
                  problems.addAll(errors);
                }
              });
    }
    return problems;
  }

  private static ObjectNode write(GpuRequest request) {
    ObjectNode written = JSON.createObjectNode().put("count", request.count());
    switch (request.portion()) {
      case Portion.Whole() -> written.put("whole", true);
      case Portion.Share(var memory, var cores) -> {
        switch (memory) {
          case Memory.All() -> {}
          case Memory.Bytes(long bytes) -> written.put("memory", bytes);
          case Memory.Percent(int percent) -> written.put("memoryPercent", percent);
        }
        cores.ifPresent(percent -> written.put("cores", percent));
      }
      case Portion.Instance(InstanceSize.Profile(String name)) -> written.put("mig", name);
      case Portion.Instance(InstanceSize.AtLeast(long bytes)) -> written.put("migMemory", bytes);
      case Portion.Turn() -> written.put("turn", true);
      case Portion.OfClass(String name) -> written.put("class", name);
    }
    words(written, "models", request.choice().models());
    words(written, "notModels", request.choice().notModels());
    words(written, "uuids", request.choice().uuids());
    words(written, "notUuids", request.choice().notUuids());
    request.options().coreLimit().ifPresent(limit -> written.put("coreLimit", limit));
    request.options().priority().ifPresent(level -> written.put("priority", level));
    request.options().memoryLimit().ifPresent(bytes -> written.put("memoryLimit", bytes));
    request.options().placement().forEach((field, value) -> written.withObjectProperty("placement").put(field, value));
    return written;
  }

  private static void words(ObjectNode written, String field, List<String> words) {
    words.forEach(word -> written.withArrayProperty(field).add(word));
  }

  /** Whatever has the wrong type comes out as something else than what it was read from, or as nothing. */
  private static GpuRequest request(JsonNode read) {
    CardChoice choice =
        new CardChoice(words(read, "models"), words(read, "notModels"), words(read, "uuids"), words(read, "notUuids"));
    SortedMap<String, String> placement = new TreeMap<>();
    read.path("placement").properties().forEach(field -> placement.put(field.getKey(), field.getValue().asText()));
    ShareOptions options =
        new ShareOptions(
            read.has("coreLimit") ? Optional.of(read.path("coreLimit").asText()) : Optional.empty(),
            read.has("priority") ? OptionalInt.of(read.path("priority").asInt()) : OptionalInt.empty(),
            read.has("memoryLimit") ? OptionalLong.of(read.path("memoryLimit").asLong()) : OptionalLong.empty(),
            placement);
    return new GpuRequest(read.path("count").asInt(), portion(read), choice, options);
  }

  private static Portion portion(JsonNode read) {
    if (read.path("whole").asBoolean()) {
      return new Portion.Whole();
    }
    if (read.path("turn").asBoolean()) {
      return new Portion.Turn();
    }
    if (read.has("class")) {
      return new Portion.OfClass(read.path("class").asText());
    }
    if (read.has("mig")) {
      return new Portion.Instance(new InstanceSize.Profile(read.path("mig").asText()));
    }
    if (read.has("migMemory")) {
      return new Portion.Instance(new InstanceSize.AtLeast(read.path("migMemory").asLong()));
    }
    JsonNode cores = read.path("cores");
    return new Portion.Share(memory(read),
        cores.isMissingNode() ? OptionalInt.empty() : OptionalInt.of(cores.asInt()));
  }

  private static Memory memory(JsonNode read) {
    if (read.has("memory")) {
      return new Memory.Bytes(read.path("memory").asLong());
    }
    return read.has("memoryPercent") ? new Memory.Percent(read.path("memoryPercent").asInt()) : new Memory.All();
  }

  private static List<String> words(JsonNode read, String field) {
    List<String> words = new ArrayList<>();
    read.path(field).forEach(word -> words.add(word.asText()));
    return words;
  }

  private static Decoded<ConvertedRequests> invalid(String problem) {
    return new Decoded.Invalid<>(List.of(new FieldError("", problem)));
  }
}
