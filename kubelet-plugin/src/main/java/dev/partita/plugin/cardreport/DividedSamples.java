package dev.partita.plugin.cardreport;

import dev.partita.plugin.nvml.CardSamples;
import dev.partita.plugin.nvml.ProcessSample;
import dev.partita.plugin.nvml.Samples;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * NVML's samples for whoever shows them, in which a card that several shares use at once is divided among their
 * processes: NVML may name one process in each period and give it all of the card. For several threads.
 */
public final class DividedSamples implements Samples {
  private final Samples nvml;
  private final Map<String, Map<Long, Integer>> divided = new ConcurrentHashMap<>(); // by card and pid, in percent

  /** @param nvml the samples as they are */
  public DividedSamples(Samples nvml) {
    this.nvml = nvml;
  }

  /**
   * How a card was divided of late.
   *
   * @param percents by pid; empty while NVML's samples can stand as they are
   */
  void divide(String card, Map<Long, Integer> percents) {
    if (percents.isEmpty()) {
      divided.remove(card);
    } else {
      divided.put(card, Map.copyOf(percents));
    }
  }

  /** Forgets all other cards. */
  void retain(Collection<String> cards) {
    divided.keySet().retainAll(cards);
  }

  /** The samples as they are. */
  Samples nvml() {
    return nvml;
  }

  @Override
  public CardSamples of(String card, long newerThan) {
    Map<Long, Integer> percents = divided.getOrDefault(card, Map.of());
    return switch (nvml.of(card, newerThan)) {
      case CardSamples.Told told when !percents.isEmpty() && !told.samples().isEmpty() ->
          new CardSamples.Told(divide(told.samples(), percents));
      case CardSamples any -> any;
    };
  }

  /** Of processes that were not divided it says what NVML says. */
  private static List<ProcessSample> divide(List<ProcessSample> samples, Map<Long, Integer> percents) {
    List<ProcessSample> all =
        new ArrayList<>(samples.stream().filter(one -> !percents.containsKey(one.pid())).toList());
    long newest = samples.stream().mapToLong(ProcessSample::timestampMicros).max().orElse(0);
    percents.forEach((pid, percent) -> {
      Optional<ProcessSample> named = samples.stream().filter(one -> one.pid() == pid).findFirst();
      if (percent > 0 || named.isPresent()) {
        all.add(
            new ProcessSample(pid, newest, percent, named.map(ProcessSample::memoryPercent).orElse(0),
                named.map(ProcessSample::encoderPercent).orElse(0),
                named.map(ProcessSample::decoderPercent).orElse(0)));
      }
    });
    return all;
  }
}
