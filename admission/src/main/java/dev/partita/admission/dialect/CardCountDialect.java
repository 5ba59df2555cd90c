package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.InstanceSize;
import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.admission.source.MemoryUnit;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A number of cards, and what is asked of each of them: MiB or percent of its memory, percent of its cores. Without any
 * of that the cards are the container's own. In the mode {@code mig} what is asked for is an instance of each.
 */
record CardCountDialect(Resources names, Annotations annotations, CorePolicy corePolicy, Set<LibraryVariable> variables)
    implements DialectReader.OfResources {
  static final CardCountDialect HAMI =
      new CardCountDialect(
          new Resources("nvidia.com/gpu", "nvidia.com/gpumem", Optional.of("nvidia.com/gpumem-percentage"),
              "nvidia.com/gpucores", Optional.of("nvidia.com/priority"), true),
          new Annotations(ChoiceAnnotations.HAMI, PlacementAnnotations.HAMI, Optional.of("nvidia.com/vgpu-mode"),
              RefusedAnnotation.OF_NVIDIAS_RESOURCE),
          CorePolicy.HAMI, LibraryVariable.HAMI);
  static final CardCountDialect VOLCANO =
      new CardCountDialect(
          new Resources("volcano.sh/vgpu-number", "volcano.sh/vgpu-memory",
              Optional.of("volcano.sh/vgpu-memory-percentage"), "volcano.sh/vgpu-cores", Optional.empty(), false),
          new Annotations(ChoiceAnnotations.VOLCANO, List.of(), Optional.of("volcano.sh/vgpu-mode"),
              List.of(
                  new RefusedAnnotation("volcano.sh/vgpu-podgroup-policy", "spread"::equals, true,
                      "the cards of several pods are not chosen together"))),
          CorePolicy.HAMI, LibraryVariable.HAMI);

  /**
   * It takes its annotations' values whatever their case, and virtual memory by the word's beginning
   * (coldzerofear/vgpu-manager, pkg/device/allocator/request.go and pkg/scheduler/filter/filter_predicate.go).
   */
  static final CardCountDialect VGPU_MANAGER =
      new CardCountDialect(
          new Resources("nvidia.com/vgpu-number", "nvidia.com/vgpu-memory", Optional.empty(), "nvidia.com/vgpu-cores",
              Optional.empty(), true),
          new Annotations(ChoiceAnnotations.VGPU_MANAGER, PlacementAnnotations.VGPU_MANAGER, Optional.empty(),
              List.of(
                  new RefusedAnnotation("nvidia.com/memory-scheduler-policy",
                      policy -> policy.toLowerCase(Locale.ROOT).startsWith("virt"), false,
                      "memory beyond the card's is asked for by oversubscribe in a GpuShareConfig"),
                  new RefusedAnnotation("nvidia.com/cross-pod-topology", "true"::equalsIgnoreCase, false,
                      "the cards of several pods are not chosen together"),
                  new RefusedAnnotation("nvidia.com/vgpu-access-mode", "remote"::equals, false,
                      "a pod's cards are its node's"))),
          CorePolicy.VGPU_MANAGER, LibraryVariable.VGPU_MANAGER);

  /**
   * What containers name.
   *
   * @param countMayBeLeftOut whether one card is meant where no number is given
   */
  record Resources(
      String count,
      String memory,
      Optional<String> percentage,
      String cores,
      Optional<String> priority,
      boolean countMayBeLeftOut) {}

  /**
   * What pods say beside that.
   *
   * @param mode how cards are divided: {@code hami-core} or {@code mig}
   * @param refused what has no equal here
   */
  record Annotations(
      ChoiceAnnotations choice,
      List<PlacementAnnotations> placement,
      Optional<String> mode,
      List<RefusedAnnotation> refused) {}

  /**
   * An annotation that with some values changes what is asked for in a way that is not converted.
   *
   * @param values which they are
   * @param ofShares whether whole cards are as it asks anyway
   * @param reason why it is not converted
   */
  record RefusedAnnotation(String name, Predicate<String> values, boolean ofShares, String reason) {
    /** HAMi's way to keep off cards that are in use (Project-HAMi/HAMi, pkg/util/types.go). */
    static final RefusedAnnotation MUTEX =
        new RefusedAnnotation("hami.io/gpu-scheduler-policy",
            policies -> Stream.of(policies.split(",")).map(String::strip).anyMatch("mutex"::equals), true,
            "no share has a card that nobody uses; a whole card, which nvidia.com/gpu alone asks for, is nobody else's");

    /** Those of a pod that asks by nvidia.com/gpu, which Koordinator gives as well, by what it reads (deviceshare). */
    static final List<RefusedAnnotation> OF_NVIDIAS_RESOURCE = Stream.concat(Stream.of(MUTEX),
        Koordinator.REFUSED.stream().map(name -> new RefusedAnnotation(name, _ -> true, false,
            "Koordinator chooses cards by it, and nothing here does")))
        .toList();

    boolean isIn(PodContext pod) {
      return pod.once(this, _ -> pod.annotation(name).filter(values).isPresent(), new ArrayList<>());
    }
  }

  /** Of HAMi's instances, by how many multiprocessors they have. */
  private static final String PREFERRED_PROFILES = "nvidia.com/mig-profile-preference";

  /** Whether HAMi's library limits what Vulkan allocates, too. */
  private static final String VULKAN = "hami.io/vulkan";

  /** How much slots, cores and memory count where cards are compared (HAMi, docs/develop/scheduler-policy.md). */
  private static final String SCORING_WEIGHTS = "hami.io/device-scoring-weights";

  private static final long MEBIBYTE = MemoryUnit.MIB.bytes();

  @Override
  public Set<String> resources() {
    return Stream.of(Stream.of(names.count, names.memory, names.cores), names.percentage.stream(),
        names.priority.stream()).flatMap(each -> each).collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    boolean ofEach = asked.of(names.memory) > 0 || percentOf(asked) > 0 || asked.of(names.cores) > 0;
    OptionalInt cards = Cards.count(asked, names.count, problems);
    if (asked.of(names.count) == 0) {
      if (ofEach && names.countMayBeLeftOut && !asked.mentions(names.count)) {
        cards = OptionalInt.of(1);
      } else {
        problems.add(noCard(asked, ofEach));
      }
    }
    Memory ofMemory = memory(asked, pod, problems);
    OptionalInt percent = Cards.percent(asked, names.cores, problems);
    boolean instances = isOfInstances(pod, problems);
    ShareOptions options = options(asked, pod, problems);
    CardChoice choice = annotations.choice.cards(pod, problems);
    for (RefusedAnnotation refused : annotations.refused) {
      if (refused.isIn(pod) && (ofEach || !refused.ofShares)) {
        problems.add(new FieldError(pod.annotationPath(refused.name), "is not converted: " + refused.reason));
      }
    }
    if (instances && problems.isEmpty() && !(ofMemory instanceof Memory.Bytes)) {
      problems.add(new FieldError(asked.firstPath(), "asks for a MIG instance and not for how large a one: ask for "
          + names.memory + ", or give --card-memory where it is in percent"));
    }
    reported.addAll(problems);
    if (!problems.isEmpty() || cards.isEmpty()) {
      return Optional.empty();
    }
    Portion portion =
        instances && ofMemory instanceof Memory.Bytes(long bytes)
            ? new Portion.Instance(new InstanceSize.AtLeast(bytes))
            : ofEach ? new Portion.Share(ofMemory, percent) : new Portion.Whole();
    return Optional.of(new GpuRequest(cards.getAsInt(), portion, choice,
        portion instanceof Portion.Share ? options : options.ofUnlimited()));
  }

  @Override
  public List<FieldError> notes(ResourceRequests asked, PodContext pod) {
    List<FieldError> notes = new ArrayList<>(LibraryVariable.notes(variables, asked.container(), asked.path()));
    boolean instances = isOfInstances(pod, new ArrayList<>());
    if (instances && pod.annotation(PREFERRED_PROFILES).isPresent()) {
      notes.add(new FieldError(pod.annotationPath(PREFERRED_PROFILES),
          "is not had: the smallest instance with the memory is taken; nvidia.com/mig-<profile> asks for one of a profile"));
    }
    if (pod.annotation(VULKAN).filter("true"::equals).isPresent()) {
      notes.add(new FieldError(pod.annotationPath(VULKAN),
          "has no equal: Vulkan is set up with whole cards, and in a share only drivers from 615 on hold what it allocates"));
    }
    if (pod.annotation(SCORING_WEIGHTS).isPresent()) {
      notes.add(new FieldError(pod.annotationPath(SCORING_WEIGHTS),
          "is not had: placement.gpus says whether fuller or emptier cards are taken, not what of them counts more"));
    }
    if (asked.of(names.cores) > 0 && instances) {
      notes.add(new FieldError(asked.pathOf(names.cores),
          "says nothing of a MIG instance, which has the multiprocessors of its profile"));
    }
    return notes;
  }

  /** Volcano had a plugin of its own before (volcano-sh/devices, volcano.sh/gpu-memory and gpu-number). */
  @Override
  public Optional<String> instead(String resource) {
    return resource.startsWith("volcano.sh/gpu-")
        ? Optional.of("ask by " + names.count + " and " + names.memory + ", which counts MiB as well")
        : Optional.empty();
  }

  private long percentOf(ResourceRequests asked) {
    return names.percentage.map(asked::of).orElse(0L);
  }

  private boolean isOfInstances(PodContext pod, List<FieldError> problems) {
    Optional<String> way = annotations.mode.flatMap(pod::annotation);
    if (way.isEmpty() || way.get().equals("hami-core")) {
      return false;
    }
    if (!way.get().equals("mig")) {
      problems.add(new FieldError(pod.annotationPath(annotations.mode.orElseThrow()),
          PodContext.quoted(way.get()) + " is not converted; hami-core or mig would be"));
    }
    return way.get().equals("mig");
  }

  private FieldError noCard(ResourceRequests asked, boolean ofEach) {
    if (asked.mentions(names.count)) {
      return new FieldError(asked.pathOf(names.count),
          "asks for no card, though there is more about cards here; ask for 1");
    }
    String path = asked.firstPath();
    return ofEach
        ? new FieldError(path,
            "asks for no card, though there is more about cards here; ask for 1 by " + names.count)
        : new FieldError(path, "asks for a priority and for no card");
  }

  private Memory memory(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
    long mebibytes = asked.of(names.memory);
    long percent = percentOf(asked);
    if (mebibytes > 0 && percent > 0) {
      problems.add(new FieldError(asked.pathOf(names.percentage.orElseThrow()),
          "cannot be used together with " + names.memory + "; leave one of them out"));
      return new Memory.All();
    }
    if (mebibytes > 0) {
      Cards.fits(mebibytes * MEBIBYTE, asked.pathOf(names.memory), problems);
      return new Memory.Bytes(mebibytes * MEBIBYTE);
    }
    if (percent > 100) {
      problems.add(new FieldError(asked.pathOf(names.percentage.orElseThrow()),
          "must be from 1 to 100, not " + percent));
      return new Memory.All();
    }
    return percent == 0 ? new Memory.All() : Cards.memory((int) percent, pod.cluster());
  }

  private ShareOptions options(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
    ShareOptions options = ShareOptions.placed(PlacementAnnotations.of(annotations.placement, pod, problems));
    Optional<String> limit = corePolicy.coreLimit(asked, pod, problems);
    if (limit.isPresent()) {
      options = options.withCoreLimit(limit.get());
    }
    if (names.priority.isPresent() && asked.mentions(names.priority.get())) {
      long level = asked.of(names.priority.get());
      if (level > 1) {
        problems.add(
            new FieldError(asked.pathOf(names.priority.get()), "must be 0 (high) or 1 (low), not " + level));
      } else {
        options = options.withPriority((int) level);
      }
    }
    return options;
  }
}
