package dev.partita.admission.dialect;

import dev.partita.admission.dialect.GpuRequest.Memory;
import dev.partita.admission.dialect.GpuRequest.Portion;
import dev.partita.api.config.FieldError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * GiB of memory, spread evenly over a number of cards (1 where none is given; cGPU reads it from a label as well), and
 * percent of the one card's cores.
 */
final class GpuShare implements DialectReader {
  private static final String MEMORY = "aliyun.com/gpu-mem";
  private static final String COUNT = "aliyun.com/gpu-count";
  private static final String CORES = "aliyun.com/gpu-core.percentage";

  @Override
  public Set<String> resources() {
    return Set.of(MEMORY, COUNT, CORES);
  }

  @Override
  public Optional<GpuRequest> read(ResourceRequests asked, PodContext pod, List<FieldError> reported) {
    List<FieldError> problems = new ArrayList<>();
    long gibibytes = asked.of(MEMORY);
    if (gibibytes == 0) {
      problems.add(new FieldError(asked.pathOf(asked.names().iterator().next()),
          MEMORY + " is missing: a share is asked for by GiB of memory"));
    }
    long cards = count(asked, pod, problems);
    OptionalInt count = Cards.count(cards, asked.pathOf(COUNT), problems);
    OptionalInt percent = Cards.percent(asked, CORES, problems);
    if (cards > 1 && gibibytes % cards != 0) {
      problems.add(
          new FieldError(asked.pathOf(MEMORY),
              gibibytes + " GiB cannot be spread over " + cards + " cards in whole GiB; ask for a multiple"));
    }
    if (cards > 1 && percent.isPresent()) {
      problems.add(new FieldError(asked.pathOf(CORES), "cannot be used with several cards"));
    }
    reported.addAll(problems);
    if (!problems.isEmpty() || count.isEmpty()) {
      return Optional.empty();
    }
    long bytes = (gibibytes / cards) << 30;
    return Optional.of(new GpuRequest(count.getAsInt(), new Portion.Share(new Memory.Bytes(bytes), percent),
        CardChoice.ANY, ShareOptions.NONE));
  }

  private static long count(ResourceRequests asked, PodContext pod, List<FieldError> problems) {
    Optional<String> label = pod.label(COUNT);
    if (label.isEmpty()) {
      return asked.of(COUNT) == 0 ? 1 : asked.of(COUNT);
    }
    String path = pod.path() + ".labels[" + COUNT + "]";
    if (!label.get().matches("[1-9][0-9]{0,3}")) {
      problems.add(new FieldError(path, "is not a number of cards: \"" + label.get() + "\""));
      return 1;
    }
    long cards = Long.parseLong(label.get());
    if (asked.of(COUNT) != 0 && asked.of(COUNT) != cards) {
      problems.add(new FieldError(path, "says " + cards + " cards, and the container " + asked.of(COUNT)));
    }
    return cards;
  }
}
