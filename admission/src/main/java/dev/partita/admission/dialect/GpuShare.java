package dev.partita.admission.dialect;

import dev.partita.admission.request.CardChoice;
import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest.Portion;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.request.ShareOptions;
import dev.partita.admission.source.MemoryUnit;
import dev.partita.admission.source.PodContext;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Memory, spread evenly over a number of cards (1 where none is given; cGPU reads it from a label as well), and percent
 * of the one card's cores. What memory is counted in is a setting of gpushare's device plugin ({@code --memory-unit}):
 * GiB unless it says MiB.
 */
final class GpuShare implements DialectReader.OfResources {
  private static final String MEMORY = "aliyun.com/gpu-mem";
  private static final String COUNT = "aliyun.com/gpu-count";
  private static final MemoryUnit DEFAULT_UNIT = MemoryUnit.GIB;
  private static final String CORES = "aliyun.com/gpu-core.percentage";

  @Override
  public Set<String> resources() {
    return Set.of(MEMORY, COUNT, CORES);
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    long amount = asked.of(MEMORY);
    MemoryUnit unit = unit(pod);
    if (amount == 0) {
      problems.add(new FieldError(asked.pathOf(asked.names().iterator().next()),
          MEMORY + " is missing: a share is asked for by " + unit + " of memory"));
    }
    long cards = count(asked, pod, problems);
    OptionalInt count = Cards.count(cards, asked.pathOf(COUNT), problems);
    OptionalInt percent = Cards.percent(asked, CORES, problems);
    if (cards > 1 && amount % cards != 0) {
      problems.add(
          new FieldError(asked.pathOf(MEMORY),
              amount + " " + unit + " cannot be spread over " + cards + " cards in whole " + unit
                  + "; ask for a multiple"));
    }
    if (problems.isEmpty() && amount / cards * unit.bytes() > Cards.MOST_BYTES) {
      problems.add(new FieldError(asked.pathOf(MEMORY), amount / cards + " " + unit + " is more than any card has"
          + (unit == MemoryUnit.GIB
              ? ": where its device plugin had --memory-unit=MiB, convert with"
                  + " --gpu-mem-unit MiB"
              : "")));
    }
    if (cards > 1 && percent.isPresent()) {
      problems.add(new FieldError(asked.pathOf(CORES), "cannot be used with several cards"));
    }
    reported.addAll(problems);
    if (!problems.isEmpty() || count.isEmpty()) {
      return Optional.empty();
    }
    long bytes = amount / cards * unit.bytes();
    return Optional.of(new GpuRequest(count.getAsInt(), new Portion.Share(new Memory.Bytes(bytes), percent),
        CardChoice.ANY, ShareOptions.NONE));
  }

  @Override
  public List<FieldError> notes(ResourceRequests asked, PodContext pod) {
    List<FieldError> notes =
        new ArrayList<>(LibraryVariable.notes(LibraryVariable.CGPU, asked.container(), asked.path()));
    if (pod.cluster().gpuShareUnit().isEmpty()) {
      notes.add(new FieldError(asked.pathOf(MEMORY), "is taken for " + DEFAULT_UNIT
          + ", gpushare's default; where its device plugin had --memory-unit=MiB, convert with --gpu-mem-unit MiB"));
    }
    return notes;
  }

  private static MemoryUnit unit(PodContext pod) {
    return pod.cluster().gpuShareUnit().orElse(DEFAULT_UNIT);
  }

  private static long count(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
    Optional<String> label = pod.label(COUNT);
    if (label.isEmpty()) {
      return asked.of(COUNT) == 0 ? 1 : asked.of(COUNT);
    }
    String path = pod.labelPath(COUNT);
    if (!label.get().matches("[1-9][0-9]{0,3}")) {
      problems.add(new FieldError(path, "is not a number of cards: " + PodContext.quoted(label.get())));
      return 1;
    }
    long cards = Long.parseLong(label.get());
    if (asked.of(COUNT) != 0 && asked.of(COUNT) != cards) {
      problems.add(new FieldError(path, "says " + cards + " cards, and the container " + asked.of(COUNT)));
    }
    return cards;
  }
}
