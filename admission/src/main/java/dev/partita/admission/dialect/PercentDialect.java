package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Cores in percent of cards, and memory in units: less than 100 is a share of one card, a multiple of 100 whole cards,
 * for which memory says nothing more.
 *
 * @param unit of memory, in bytes
 * @param coresMayBeLeftOut whether memory alone asks for a share without a core limit
 * @param refusedAnnotation an annotation that changes what is asked for in a way that is not converted
 * @param coreLimit annotation: the percent up to which idle cores may be used
 */
record PercentDialect(
    String cores,
    String memory,
    long unit,
    boolean coresMayBeLeftOut,
    Optional<String> refusedAnnotation,
    Optional<String> coreLimit)
    implements DialectReader.OfResources {
  static final PercentDialect GPU_MANAGER =
      new PercentDialect(
          "tencent.com/vcuda-core",
          "tencent.com/vcuda-memory",
          256L << 20,
          false,
          Optional.empty(),
          Optional.of("tencent.com/vcuda-core-limit"));
  static final PercentDialect ELASTIC_GPU =
      new PercentDialect("elasticgpu.io/gpu-core", "elasticgpu.io/gpu-memory", 1L << 20, true, Optional.empty(),
          Optional.empty());
  static final PercentDialect QGPU =
      new PercentDialect(
          "tke.cloud.tencent.com/qgpu-core",
          "tke.cloud.tencent.com/qgpu-memory",
          1L << 30,
          true,
          Optional.of("tke.cloud.tencent.com/app-class"),
          Optional.empty());

  @Override
  public Set<String> resources() {
    return Set.of(cores, memory);
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    refusedAnnotation
        .filter(name -> pod.annotation(name).isPresent())
        .ifPresent(name -> problems.add(new FieldError(pod.annotationPath(name), "is not converted")));
    long percent = asked.of(cores);
    OptionalInt cards = OptionalInt.of(1);
    if (percent >= 100) {
      if (percent % 100 != 0) {
        problems.add(
            new FieldError(asked.pathOf(cores),
                "must be less than 100, for a share, or a multiple of 100, for cards; not " + percent));
      }
      cards = Cards.count(percent / 100, asked.pathOf(cores), problems);
    } else if (asked.of(memory) == 0) {
      problems.add(new FieldError(asked.pathOf(cores), memory + " is missing: a share is asked for by both"));
    } else if (percent == 0 && !coresMayBeLeftOut) {
      problems.add(new FieldError(asked.pathOf(memory), cores + " is missing: a share is asked for by both"));
    } else {
      Cards.fits(asked.of(memory) * unit, asked.pathOf(memory), problems);
    }
    ShareOptions options = limited(pod, percent, problems);
    reported.addAll(problems);
    if (!problems.isEmpty() || cards.isEmpty()) {
      return Optional.empty();
    }
    Portion portion =
        percent >= 100
            ? new Portion.Whole()
            : new Portion.Share(
                new Memory.Bytes(asked.of(memory) * unit),
                percent == 0 ? OptionalInt.empty() : OptionalInt.of((int) percent));
    return Optional.of(
        new GpuRequest(cards.getAsInt(), portion, CardChoice.ANY, percent >= 100 ? options.ofUnlimited() : options));
  }

  /**
   * Up to all of the card is {@code Soft}, up to what is asked for is {@code Hard}; in between there is nothing like
   * it.
   */
  private ShareOptions limited(PodContext pod, long percent, List<FieldError> problems) {
    Optional<String> limit = coreLimit.flatMap(pod::annotation);
    if (limit.isEmpty() || percent >= 100) {
      return ShareOptions.NONE;
    }
    if (limit.get().equals("100")) {
      return ShareOptions.NONE.withCoreLimit("Soft");
    }
    if (limit.get().equals(Long.toString(percent))) {
      return ShareOptions.NONE.withCoreLimit("Hard");
    }
    problems.add(
        new FieldError(
            pod.annotationPath(coreLimit.orElseThrow()),
            PodContext.quoted(limit.get()) + " is not converted: a share uses no idle cores (" + percent
                + ") or all of them (100)"));
    return ShareOptions.NONE;
  }
}
