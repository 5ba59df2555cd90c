package dev.partita.plugin.nvml.jna;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import dev.partita.plugin.nvml.CardFigure;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Asks NVML how busy parts of the cards were between one asking and the next: GPU performance monitoring (GPM, nvml.h),
 * which cards have from Hopper on and without MIG. The first asking tells nothing yet. For any thread.
 */
final class NvmlActivity {
  /** NVML_GPM_METRIC_…, in percent. */
  private static final Map<CardFigure, Integer> METRICS = new EnumMap<>(
      Map.of(CardFigure.ENGINE_PERCENT, 1, CardFigure.TENSOR_PERCENT, 5, CardFigure.DRAM_PERCENT, 10));

  /** Samples that lie closer together may be the same ones: nvmlGpmSampleGet wants more than 100 ms. */
  private static final long APART = Duration.ofMillis(200).toNanos();

  private static final int VERSION = 1; // NVML_GPM_METRICS_GET_VERSION
  private static final int HEAD = 24; // nvmlGpmMetricsGet_t: version, numMetrics, sample1, sample2, metrics
  private static final int METRIC = 40; // nvmlGpmMetric_t: metricId, nvmlReturn, value, three names
  private static final int RETURN = 4;
  private static final int VALUE = 8;

  /** As many as any driver's structure has, in case one clears all of them. */
  private static final int MOST_METRICS = 1024;

  private final NvmlCalls nvml;
  private final Map<String, OfCard> cards = new HashMap<>();

  /** @param nvml started */
  NvmlActivity(NvmlCalls nvml) {
    this.nvml = nvml;
  }

  /**
   * The two samples of a card between which its figures are taken; each new one replaces the older of them.
   *
   * @param last the one that was taken last
   * @param spare where the next one goes
   * @param taken when that was, by System.nanoTime
   * @param figures what it and the one before told
   */
  private record OfCard(Pointer last, Pointer spare, long taken, Map<CardFigure, Double> figures) {}

  /** What is known of a card now; empty where it does not tell, or not yet. */
  synchronized Map<CardFigure, Double> of(String uuid, Pointer device) {
    OfCard known = cards.get(uuid);
    long now = System.nanoTime();
    if (known == null) {
      begin(device, now).ifPresent(card -> cards.put(uuid, card));
      return Map.of();
    }
    if (now - known.taken() < APART) {
      return known.figures();
    }
    Pointer earlier = known.last();
    Pointer later = known.spare();
    if (!nvml.answers(new String[]{"nvmlGpmSampleGet"}, device, later)) {
      free(earlier, later);
      cards.remove(uuid);
      return Map.of();
    }
    Map<CardFigure, Double> figures = between(earlier, later);
    cards.put(uuid, new OfCard(later, earlier, now, figures));
    return figures;
  }

  /** Gives back what NVML has of it; before NVML is ended. */
  synchronized void close() {
    cards.values().forEach(card -> free(card.last(), card.spare()));
    cards.clear();
  }

  private Optional<OfCard> begin(Pointer device, long now) {
    PointerByReference first = new PointerByReference();
    if (!nvml.answers(new String[]{"nvmlGpmSampleAlloc"}, first)) {
      return Optional.empty();
    }
    PointerByReference second = new PointerByReference();
    if (!nvml.answers(new String[]{"nvmlGpmSampleGet"}, device, first.getValue())
        || !nvml.answers(new String[]{"nvmlGpmSampleAlloc"}, second)) {
      free(first.getValue());
      return Optional.empty();
    }
    return Optional.of(new OfCard(first.getValue(), second.getValue(), now, Map.of()));
  }

  private void free(Pointer... samples) {
    for (Pointer sample : samples) {
      nvml.answers(new String[]{"nvmlGpmSampleFree"}, sample);
    }
  }

  private Map<CardFigure, Double> between(Pointer earlier, Pointer later) {
    List<CardFigure> asked = List.copyOf(METRICS.keySet());
    Memory get = NvmlCalls.zeros(HEAD + (long) METRIC * MOST_METRICS);
    get.setInt(0, VERSION);
    get.setInt(4, asked.size());
    get.setPointer(8, earlier);
    get.setPointer(16, later);
    for (int i = 0; i < asked.size(); i++) {
      get.setInt(HEAD + (long) METRIC * i, METRICS.getOrDefault(asked.get(i), 0));
    }
    Map<CardFigure, Double> figures = new EnumMap<>(CardFigure.class);
    if (nvml.answers(new String[]{"nvmlGpmMetricsGet"}, get)) {
      for (int i = 0; i < asked.size(); i++) {
        long metric = HEAD + (long) METRIC * i;
        double percent = get.getDouble(metric + VALUE);
        if (get.getInt(metric + RETURN) == 0 && percent >= 0) { // NaN, too, is none
          figures.put(asked.get(i), percent);
        }
      }
    }
    return figures;
  }
}
