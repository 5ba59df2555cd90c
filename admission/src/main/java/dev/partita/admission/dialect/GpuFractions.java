package dev.partita.admission.dialect;

import com.fasterxml.jackson.databind.JsonNode;
import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.admission.source.MemoryUnit;
import dev.partita.admission.source.PodContext;
import dev.partita.api.Bytes;
import dev.partita.api.config.FieldError;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Fractions of cards, which the KAI scheduler and Run:ai have asked for by annotations of the pod: a part of a card or
 * MiB for one container, the first unless another is named, or (KAI's NvFractions) an amount for each container, with
 * how far it may grow (kai-scheduler/KAI-Scheduler, docs/gpu-sharing). Annotations that have no domain count only in a
 * pod that is theirs by its scheduler or queue: others may have an annotation of that name.
 */
final class GpuFractions implements DialectReader.OfAnnotations {
  private static final String FRACTION = "gpu-fraction";
  private static final String MEMORY = "gpu-memory";

  /** Which have limits of the pod's one container beside them (kai-scheduler/api, constants/constants.go). */
  private static final String LIMIT_OF_FRACTION = FRACTION + ".limit";
  private static final String LIMIT_OF_MEMORY = MEMORY + ".limit";
  private static final String DEVICES = "gpu-fraction-num-devices";
  private static final String CONTAINER = "gpu-fraction-container-name";
  private static final String MODE = "kai.scheduler/gpu-compute-sharing-mode";
  private static final String RUNAI_LIMIT = "RUNAI_GPU_MEMORY_LIMIT";
  private static final Set<String> OF_THE_POD =
      Set.of(FRACTION, MEMORY, LIMIT_OF_FRACTION, LIMIT_OF_MEMORY, DEVICES, CONTAINER);
  private static final Set<String> SCHEDULERS = Set.of("kai-scheduler", "runai-scheduler");
  private static final Set<String> QUEUES = Set.of("kai.scheduler/queue", "runai/queue");

  /** Of one container: its name, and what is said of it. */
  private static final Pattern OF_A_CONTAINER =
      Pattern.compile("(?:nvidia\\.com|kai\\.scheduler)/container\\.([^.]+)\\.(.+)");
  private static final String REQUEST = "gpu-memory.request";
  private static final String LIMIT = "gpu-memory.limit";
  private static final String PORTION_LIMIT = "gpu-memory.portion.limit";
  private static final String MODE_OF_IT = "gpu-compute.mode";

  private static final Pattern DECIMAL = Pattern.compile("[0-9]{0,2}\\.?[0-9]{1,9}");
  private static final Pattern MEBIBYTES = Pattern.compile("[1-9][0-9]{0,8}");
  private static final Pattern COUNT = Pattern.compile("[1-9][0-9]{0,3}");

  /** What is said of one container: values and where they stand, by what they say. */
  private record Said(SortedMap<String, String> values, SortedMap<String, String> keys) {
    Said() {
      this(new TreeMap<>(), new TreeMap<>());
    }

    void put(String what, String key, String value) {
      values.put(what, value);
      keys.put(what, key);
    }

    Optional<String> value(String what) {
      return Optional.ofNullable(values.get(what));
    }

    String key(String what) {
      return keys.getOrDefault(what, what);
    }
  }

  /** A container and where it stands. */
  private record Place(String kind, int index, JsonNode container) {}

  @Override
  public SortedSet<String> asking(PodContext pod) {
    boolean theirs = SCHEDULERS.contains(pod.spec().path("schedulerName").asText())
        || QUEUES.stream().anyMatch(queue -> pod.label(queue).or(() -> pod.labelOfOwner(queue)).isPresent());
    SortedSet<String> asking = new TreeSet<>();
    for (String name : pod.annotations()) {
      if (pod.annotation(name).isEmpty()) {
        continue;
      }
      boolean ofContainer = OF_A_CONTAINER.matcher(name).matches() && containerOfMode(name).isEmpty();
      if ((theirs && OF_THE_POD.contains(name)) || ofContainer) {
        asking.add(name);
      }
    }
    if (!asking.isEmpty()) {
      asking.addAll(modes(pod));
    }
    return asking;
  }

  /** Annotations with something in them that say how cores are shared: the pod's, and those of containers. */
  private static List<String> modes(PodContext pod) {
    return pod.annotations().stream()
        .filter(name -> pod.annotation(name).isPresent() && (name.equals(MODE) || containerOfMode(name).isPresent()))
        .toList();
  }

  /** Those of one container, and the pod's. */
  private static List<String> modesOf(String container, PodContext pod) {
    Map<String, List<String>> all = pod.once(MODE_OF_IT, _ -> modes(pod).stream()
        .collect(Collectors.groupingBy(name -> containerOfMode(name).orElse(""))), new ArrayList<>());
    return Stream.of("", container).distinct().flatMap(of -> all.getOrDefault(of, List.of()).stream()).sorted()
        .toList();
  }

  private static Optional<String> containerOfMode(String annotation) {
    Matcher of = OF_A_CONTAINER.matcher(annotation);
    return of.matches() && of.group(2).equals(MODE_OF_IT) ? Optional.of(of.group(1)) : Optional.empty();
  }

  @Override
  public List<AnnotatedContainer> read(PodContext pod, List<FieldError> problems) {
    SortedSet<String> asking = asking(pod);
    SortedMap<String, Said> said = ofContainers(asking, pod, problems);
    if (asking.contains(FRACTION) || asking.contains(MEMORY)) {
      ofThePod(said, pod, problems);
    } else if (said.isEmpty() && problems.isEmpty()) {
      problems.add(new FieldError(pod.annotationPath(asking.first()),
          "asks for no part of a card: " + FRACTION + " or " + MEMORY + " is missing"));
    }
    List<AnnotatedContainer> containers = new ArrayList<>();
    Map<String, Place> places = places(pod);
    for (var each : said.entrySet()) {
      Optional<Place> place = Optional.ofNullable(places.get(each.getKey()));
      if (place.isEmpty()) {
        problems.add(new FieldError(pod.annotationPath(each.getValue().keys().values().iterator().next()),
            "is of a container that the pod does not have: " + PodContext.quoted(each.getKey())));
      } else {
        request(place.get(), each.getValue(), pod, problems).ifPresent(containers::add);
      }
    }
    return containers;
  }

  private static SortedMap<String, Said> ofContainers(Set<String> asking, PodContext pod, List<FieldError> problems) {
    SortedMap<String, Said> said = new TreeMap<>();
    for (String name : asking) {
      Matcher ofContainer = OF_A_CONTAINER.matcher(name);
      if (ofContainer.matches()) {
        String what = ofContainer.group(2);
        if (what.equals(MODE_OF_IT)) {
          continue;
        }
        if (Set.of(REQUEST, LIMIT, PORTION_LIMIT).contains(what)) {
          said.computeIfAbsent(ofContainer.group(1), _ -> new Said())
              .put(what, name, pod.annotation(name).orElse(""));
        } else {
          problems.add(new FieldError(pod.annotationPath(name), "is not converted; of a container's annotations are "
              + REQUEST + ", " + LIMIT + ", " + PORTION_LIMIT + " and " + MODE_OF_IT));
        }
      }
    }
    return said;
  }

  private static void ofThePod(SortedMap<String, Said> said, PodContext pod, List<FieldError> problems) {
    String container = pod.annotation(CONTAINER)
        .orElse(pod.spec().path("containers").path(0).path("name").asText());
    Said ofIt = said.computeIfAbsent(container, _ -> new Said());
    if (ofIt.value(REQUEST).isPresent() || ofIt.value(LIMIT).isPresent() || said.size() > 1) {
      problems.add(new FieldError(pod.annotationPath(pod.annotation(FRACTION).isPresent() ? FRACTION : MEMORY),
          "cannot be used together with the annotations of containers; leave one of them out"));
    }
    boolean limited = ofIt.value(PORTION_LIMIT).isPresent();
    for (String what : List.of(FRACTION, MEMORY)) {
      pod.annotation(what).ifPresent(value -> ofIt.put(what, what, value));
      String limit = what.equals(FRACTION) ? LIMIT_OF_FRACTION : LIMIT_OF_MEMORY;
      pod.annotation(limit).ifPresent(value -> {
        if (pod.annotation(what).isEmpty()) {
          problems.add(new FieldError(pod.annotationPath(limit), "is a limit without " + what));
        } else if (limited) {
          problems.add(new FieldError(pod.annotationPath(limit), "is a second limit of one container"));
        }
        ofIt.put(what.equals(FRACTION) ? PORTION_LIMIT : LIMIT, limit, value);
      });
    }
    if (ofIt.value(FRACTION).isPresent() && ofIt.value(MEMORY).isPresent()) {
      problems.add(new FieldError(pod.annotationPath(MEMORY),
          "cannot be used together with " + FRACTION + "; leave one of them out"));
    }
  }

  private static Map<String, Place> places(PodContext pod) {
    Map<String, Place> places = new HashMap<>();
    for (String kind : List.of("initContainers", "containers")) {
      JsonNode containers = pod.spec().path(kind);
      for (int i = 0; i < containers.size(); i++) {
        places.putIfAbsent(containers.path(i).path("name").asText(), new Place(kind, i, containers.path(i)));
      }
    }
    return places;
  }

  private static Optional<AnnotatedContainer> request(
      Place place,
      Said said,
      PodContext pod,
      List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    List<FieldError> notes = new ArrayList<>();
    OptionalInt count = count(pod, problems);
    Optional<Memory> memory = memory(said, pod, problems, notes);
    String path = pod.annotationPath(said.keys().values().iterator().next());
    String containerPath = pod.prefix() + "spec." + place.kind() + "[" + place.index() + "]";
    notes.addAll(LibraryVariable.notes(LibraryVariable.HAMI, place.container(), containerPath));
    OptionalLong limit = limit(said, place, pod, containerPath, problems, notes);
    modesOf(place.container().path("name").asText(), pod)
        .forEach(annotation -> mode(annotation, pod, problems).ifPresent(notes::add));
    reported.addAll(problems);
    if (!problems.isEmpty() || memory.isEmpty() || count.isEmpty()) {
      return Optional.empty();
    }
    ShareOptions options = ShareOptions.NONE;
    if (limit.isPresent() && memory.get() instanceof Memory.Bytes(long bytes)) {
      if (limit.getAsLong() < bytes) {
        reported
            .add(new FieldError(path, "asks for more than its limit, which is " + Bytes.quantity(limit.getAsLong())));
        return Optional.empty();
      }
      options = limit.getAsLong() == bytes ? options : options.withMemoryLimit(limit.getAsLong());
    } else if (limit.isPresent()) {
      notes.add(new FieldError(path,
          "does not grow: a limit is an amount beside an amount that is asked for, so give --card-memory"));
    }
    GpuRequest request = new GpuRequest(count.getAsInt(), new Portion.Share(memory.get(), OptionalInt.empty()),
        CardChoice.ANY, options);
    return Optional.of(new AnnotatedContainer(place.kind(), place.index(), path, request, notes));
  }

  private static OptionalInt count(PodContext pod, List<FieldError> problems) {
    Optional<String> devices = pod.annotation(DEVICES);
    if (devices.isEmpty()) {
      return OptionalInt.of(1);
    }
    if (!COUNT.matcher(devices.get()).matches()) {
      problems.add(
          new FieldError(pod.annotationPath(DEVICES), "is not a number of cards: " + PodContext.quoted(devices.get())));
      return OptionalInt.empty();
    }
    return Cards.count(Long.parseLong(devices.get()), pod.annotationPath(DEVICES), problems);
  }

  private static Optional<Memory> memory(
      Said said,
      PodContext pod,
      List<FieldError> problems,
      List<FieldError> notes) {
    if (said.value(FRACTION).isPresent()) {
      return fraction(said.value(FRACTION).get(), pod, problems, notes);
    }
    if (said.value(MEMORY).isPresent()) {
      String mebibytes = said.value(MEMORY).get();
      if (!MEBIBYTES.matcher(mebibytes).matches()) {
        problems
            .add(new FieldError(pod.annotationPath(MEMORY),
                "must be MiB, a whole number, not " + PodContext.quoted(mebibytes)));
        return Optional.empty();
      }
      long bytes = Long.parseLong(mebibytes) * MemoryUnit.MIB.bytes();
      Cards.fits(bytes, pod.annotationPath(MEMORY), problems);
      return Optional.of(new Memory.Bytes(bytes));
    }
    String what = said.value(REQUEST).isPresent() ? REQUEST : LIMIT;
    if (said.value(what).isEmpty()) {
      problems.add(new FieldError(pod.annotationPath(said.key(PORTION_LIMIT)),
          "is a limit without a request: ask for an amount by " + REQUEST));
      return Optional.empty();
    }
    OptionalLong bytes = amount(said.value(what).get());
    if (bytes.isEmpty()) {
      problems.add(new FieldError(pod.annotationPath(said.key(what)),
          "must be an amount such as 8Gi, not " + PodContext.quoted(said.value(what).get())));
      return Optional.empty();
    }
    return Optional.of(new Memory.Bytes(bytes.getAsLong()));
  }

  private static Optional<Memory> fraction(
      String fraction,
      PodContext pod,
      List<FieldError> problems,
      List<FieldError> notes) {
    Optional<BigDecimal> part = part(fraction).filter(value -> value.compareTo(BigDecimal.ONE) < 0);
    if (part.isEmpty()) {
      problems.add(new FieldError(pod.annotationPath(FRACTION),
          "must be a part of a card between 0 and 1, such as 0.5, not " + PodContext.quoted(fraction)));
      return Optional.empty();
    }
    BigDecimal percent = part.get().movePointRight(2).stripTrailingZeros();
    int rounded = Math.min(99, Math.max(1, percent.setScale(0, RoundingMode.HALF_UP).intValueExact()));
    if (percent.compareTo(BigDecimal.valueOf(rounded)) != 0) {
      notes.add(new FieldError(pod.annotationPath(FRACTION),
          fraction + " of a card is " + rounded + " percent of it here, which are whole ones"));
    }
    return Optional.of(Cards.memory(rounded, pod.cluster()));
  }

  /** How far it may grow; empty if not at all. */
  private static OptionalLong limit(
      Said said,
      Place place,
      PodContext pod,
      String containerPath,
      List<FieldError> problems,
      List<FieldError> notes) {
    if (said.value(LIMIT).isPresent()) {
      OptionalLong bytes = amount(said.value(LIMIT).get());
      if (bytes.isEmpty()) {
        problems.add(new FieldError(pod.annotationPath(said.key(LIMIT)),
            "must be an amount such as 8Gi, not " + PodContext.quoted(said.value(LIMIT).get())));
      }
      return bytes;
    }
    Optional<String> portion = said.value(PORTION_LIMIT);
    String path = pod.annotationPath(said.key(PORTION_LIMIT));
    JsonNode variables = place.container().path("env");
    for (int i = 0; i < variables.size() && portion.isEmpty(); i++) {
      if (variables.path(i).path("name").asText().equals(RUNAI_LIMIT)) {
        portion = Optional.of(variables.path(i).path("value").asText(""));
        path = containerPath + ".env[" + i + "]";
      }
    }
    if (portion.isEmpty()) {
      return OptionalLong.empty();
    }
    Function<BigDecimal, Long> ofCard = part -> part.multiply(BigDecimal.valueOf(pod.cluster().cardMemory().orElse(0)))
        .setScale(0, RoundingMode.DOWN).longValueExact();
    OptionalLong bytes = part(portion.get()).map(ofCard).filter(value -> value > 0).map(OptionalLong::of)
        .orElseGet(OptionalLong::empty);
    if (bytes.isEmpty() && part(portion.get()).isEmpty()) {
      bytes = amount(portion.get());
    }
    if (bytes.isEmpty()) {
      notes.add(
          new FieldError(path, "is a limit that is not converted: `memoryLimit` in a GpuShareConfig is an amount"));
    }
    return bytes;
  }

  private static Optional<FieldError> mode(String annotation, PodContext pod, List<FieldError> problems) {
    String mode = pod.annotation(annotation).orElseThrow();
    if (mode.equals("sm-sharing")) {
      return Optional.of(new FieldError(pod.annotationPath(annotation),
          "is not had: programs of different claims have the card in turn, not side by side as by MPS"));
    }
    if (!mode.equals("time-slicing")) {
      problems.add(new FieldError(pod.annotationPath(annotation),
          "must be time-slicing or sm-sharing, not " + PodContext.quoted(mode)));
    }
    return Optional.empty();
  }

  /** A decimal above 0 and up to 1, short enough to reckon with. */
  private static Optional<BigDecimal> part(String text) {
    return DECIMAL.matcher(text).matches()
        ? Optional.of(new BigDecimal(text)).filter(part -> part.signum() > 0 && part.compareTo(BigDecimal.ONE) <= 0)
        : Optional.empty();
  }

  private static OptionalLong amount(String text) {
    OptionalLong bytes = text.length() > 32 ? OptionalLong.empty() : Bytes.parse(text);
    return bytes.isPresent() && bytes.getAsLong() >= MemoryUnit.MIB.bytes() && bytes.getAsLong() <= Cards.MOST_BYTES
        ? bytes
        : OptionalLong.empty();
  }
}
