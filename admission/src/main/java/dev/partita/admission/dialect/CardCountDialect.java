package dev.partita.admission.dialect;

import dev.partita.admission.dialect.GpuRequest.Memory;
import dev.partita.admission.dialect.GpuRequest.Portion;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A number of cards, and what is asked of each of them: MiB or percent of its memory, percent of its cores. Without any
 * of that the cards are the container's own. HAMi counts one card where no number is given, Volcano does not.
 */
record CardCountDialect(
    String count,
    String memory,
    String percentage,
    String cores,
    Optional<String> priority,
    String mode,
    boolean countMayBeLeftOut)
    implements DialectReader {
  static final CardCountDialect HAMI =
      new CardCountDialect(
          "nvidia.com/gpu",
          "nvidia.com/gpumem",
          "nvidia.com/gpumem-percentage",
          "nvidia.com/gpucores",
          Optional.of("nvidia.com/priority"),
          "nvidia.com/vgpu-mode",
          true);
  static final CardCountDialect VOLCANO =
      new CardCountDialect(
          "volcano.sh/vgpu-number",
          "volcano.sh/vgpu-memory",
          "volcano.sh/vgpu-memory-percentage",
          "volcano.sh/vgpu-cores",
          Optional.empty(),
          "volcano.sh/vgpu-mode",
          false);

  private static final long MEBIBYTE = 1L << 20;

  @Override
  public Set<String> resources() {
    return Stream.concat(Stream.of(count, memory, percentage, cores), priority.stream())
        .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    boolean ofEach = asked.of(memory) > 0 || asked.of(percentage) > 0 || asked.of(cores) > 0;
    OptionalInt cards = Cards.count(asked, count, problems);
    if (asked.of(count) == 0) {
      if (ofEach && countMayBeLeftOut && !asked.mentions(count)) {
        cards = OptionalInt.of(1);
      } else {
        problems.add(noCard(asked, ofEach));
      }
    }
    Memory ofMemory = memory(asked, pod, problems);
    OptionalInt percent = Cards.percent(asked, cores, problems);
    ShareOptions options = options(asked, pod, problems);
    CardChoice choice = ChoiceAnnotations.cards(pod, problems);
    reported.addAll(problems);
    if (!problems.isEmpty() || cards.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        ofEach
            ? new GpuRequest(cards.getAsInt(), new Portion.Share(ofMemory, percent), choice, options)
            : new GpuRequest(cards.getAsInt(), new Portion.Whole(), choice, options.ofWholeCards()));
  }

  @Override
  public List<FieldError> notes(ResourceRequests asked) {
    return HamiVariable.notes(asked);
  }

  private FieldError noCard(ResourceRequests asked, boolean ofEach) {
    if (asked.mentions(count)) {
      return new FieldError(asked.pathOf(count), "asks for no card, though there is more about cards here; ask for 1");
    }
    String path = asked.pathOf(asked.names().iterator().next());
    return ofEach
        ? new FieldError(path, "asks for no card, though there is more about cards here; ask for 1 by " + count)
        : new FieldError(path, "asks for a priority and for no card");
  }

  private Memory memory(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
    long mebibytes = asked.of(memory);
    long percent = asked.of(percentage);
    if (mebibytes > 0 && percent > 0) {
      problems.add(new FieldError(asked.pathOf(percentage),
          "cannot be used together with " + memory + "; leave one of them out"));
      return new Memory.All();
    }
    if (mebibytes > 0) {
      return new Memory.Bytes(mebibytes * MEBIBYTE);
    }
    if (percent > 100) {
      problems.add(new FieldError(asked.pathOf(percentage), "must be from 1 to 100, not " + percent));
    } else if (percent > 0 && percent < 100) {
      if (pod.cardMemory().isEmpty()) {
        return new Memory.Percent((int) percent);
      }
      long whole = pod.cardMemory().getAsLong() * percent / 100;
      return new Memory.Bytes(Math.max(MEBIBYTE, whole - whole % MEBIBYTE));
    }
    return new Memory.All();
  }

  private ShareOptions options(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
    pod.annotation(mode)
        .filter(way -> !way.equals("hami-core"))
        .ifPresent(way -> problems
            .add(new FieldError(pod.annotationPath(mode), "\"" + way + "\" is not converted; hami-core would be")));
    ShareOptions options = ShareOptions.placed(ChoiceAnnotations.placement(pod, problems));
    Optional<String> limit = CoreUtilizationPolicy.coreLimit(asked, problems);
    if (limit.isPresent()) {
      options = options.withCoreLimit(limit.get());
    }
    if (priority.isPresent() && asked.mentions(priority.get())) {
      long level = asked.of(priority.get());
      if (level > 1) {
        problems.add(new FieldError(asked.pathOf(priority.get()), "must be 0 (high) or 1 (low), not " + level));
      } else {
        options = options.withPriority((int) level);
      }
    }
    return options;
  }
}
