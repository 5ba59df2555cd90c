package dev.partita.controller.stream;

import dev.partita.controller.stream.ClusterStream.Cards;
import dev.partita.controller.stream.ClusterStream.StreamPod;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The largest share that many ask for, by which fragmentation is measured: of the shares that at least one in twenty of
 * the pods with shares asks for, the one with most memory, then with most cores.
 *
 * @param memory bytes of one card
 * @param cores percent of its time
 * @param models of cards that will do; empty for any
 */
public record LargestShare(long memory, int cores, List<String> models) {
  private static final int ONE_IN = 20;

  public LargestShare {
    models = List.copyOf(models);
  }

  /** That of a stream; empty if no pod asks for shares. */
  static Optional<LargestShare> of(ClusterStream stream) {
    Map<LargestShare, Integer> pods = new HashMap<>();
    int all = 0;
    for (StreamPod pod : stream.pods()) {
      if (pod.cards() instanceof Cards.Share share) {
        pods.merge(new LargestShare(share.memory(), share.cores(), share.among().models()), 1, Integer::sum);
        all++;
      }
    }
    int least = all / ONE_IN;
    Comparator<LargestShare> bySize =
        Comparator.comparingLong(LargestShare::memory).thenComparingInt(LargestShare::cores)
            .thenComparing(share -> share.models().toString());
    Optional<LargestShare> typical =
        pods.entrySet().stream().filter(entry -> entry.getValue() >= least).map(Map.Entry::getKey).max(bySize);
    return typical.or(() -> pods.keySet().stream().max(bySize));
  }
}
