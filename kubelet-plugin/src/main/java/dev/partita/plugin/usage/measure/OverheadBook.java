package dev.partita.plugin.usage.measure;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Estimates what each process takes of a card besides its allocations: NVML's figure less the ledger's.
 *
 * <p>The two figures are not of one moment. An allocation is charged before the driver makes it, and a free is given
 * back after. So as long as the process' account did not change while NVML was asked, the difference may be too small
 * but never too large. Therefore a larger difference is believed at once, and a smaller one only when nothing larger
 * was seen for a while. From a process whose account changes all the time, the smallest difference is taken that was
 * seen for a while.
 *
 * <p>Managed memory may be on the card or not, and NVML may count it or not. While a process has some, NVML's figure
 * less all of the ledger is too small, by what is not on the card. NVML's figure less the rest of the ledger is too
 * large, by what is. The truth lies between. Then what was known before is kept, as far as it lies there too, and
 * nothing is learned for other processes.
 *
 * <p>Each context adds to it. So nothing that was measured before the last one was made is believed after.
 */
public final class OverheadBook {
  /** Readings that an estimate rests on. */
  public static final int WINDOW = 5;

  /**
   * Bytes that contexts and modules of one process usually stay below. Contexts take 250 to 550 MiB. A larger figure is
   * not learned for other processes: a share that nobody has used yet would begin with less for it.
   */
  public static final long USUAL = 1L << 30;

  /**
   * Bytes that they may take, if nobody has said otherwise: a framework whose modules are all loaded at once takes 2 to
   * 3 GiB, and local memory is stack for every thread that the card can run (2048 on each of 132 multiprocessors: 2 GiB
   * at 8 KiB a thread).
   */
  public static final long PLAUSIBLE = 4L << 30;

  /** A process on a card. */
  public record Key(ProcessIdentity process, String card) {}

  /**
   * What is known of a process at one moment, in bytes.
   *
   * @param nvmlBytes NVML's figure
   * @param ledgerBytes the ledger's, the larger of before and after NVML was asked
   * @param pagedBytes how much of the ledger's is managed memory, likewise
   * @param toldBytes the estimate that its slot was last told
   * @param changed whether the process' account changed while NVML was asked
   * @param contexts what it says of its contexts
   */
  record Reading(
      long nvmlBytes,
      long ledgerBytes,
      long pagedBytes,
      long toldBytes,
      boolean changed,
      Contexts contexts) {
    private long least() {
      return Math.max(0, nvmlBytes - ledgerBytes);
    }

    private long most() {
      return Math.max(0, nvmlBytes - (ledgerBytes - pagedBytes));
    }
  }

  /**
   * What a process is charged for its contexts by its own word, beside the ledger's figure.
   *
   * @param begun whether one was being made while NVML was asked: then NVML may have some of it
   */
  record Contexts(long bytes, boolean begun) {
    /** No contexts. */
    static final Contexts NONE = new Contexts(0, false);
  }

  private static final class Entry {
    private long contextBytes;
    private final Deque<Long> quiet = new ArrayDeque<>();
    private final Deque<Long> busy = new ArrayDeque<>();
    private final Deque<Long> most = new ArrayDeque<>(); // while it has managed memory
    private OptionalLong kept = OptionalLong.empty(); // since it had some, until it was without for a while

    /** Whether NVML was asked with all contexts there; what was known before the last one was made is forgotten. */
    private boolean takeContexts(Contexts contexts) {
      if (contexts.begun() || contexts.bytes() > contextBytes) {
        quiet.clear();
        busy.clear();
        most.clear();
        kept = OptionalLong.empty();
      }
      contextBytes = contexts.bytes();
      return !contexts.begun();
    }

    private void take(Reading reading) {
      most.clear();
      push(reading.changed() ? busy : quiet, reading.least());
      if (quiet.size() == WINDOW) {
        kept = OptionalLong.empty();
      }
    }

    private void takePaged(Reading reading, long expected, long plausible) {
      long known = estimate().orElse(Math.max(expected, Math.min(reading.toldBytes(), plausible)));
      quiet.clear();
      busy.clear();
      if (!reading.changed()) {
        known = Math.max(known, reading.least());
        push(most, reading.most());
        known = most.size() == WINDOW ? Math.min(known, largest(most)) : known;
      }
      kept = OptionalLong.of(known);
    }

    private OptionalLong estimate() {
      if (kept.isPresent()) {
        return OptionalLong.of(Math.max(kept.getAsLong(), largest(quiet)));
      }
      if (!quiet.isEmpty()) {
        return OptionalLong.of(largest(quiet));
      }
      return busy.size() < WINDOW ? OptionalLong.empty() : busy.stream().mapToLong(Long::longValue).min();
    }

    private static void push(Deque<Long> window, long bytes) {
      window.addLast(bytes);
      if (window.size() > WINDOW) {
        window.removeFirst();
      }
    }

    private static long largest(Deque<Long> window) {
      return window.stream().mapToLong(Long::longValue).max().orElse(0);
    }
  }

  private final Map<Key, Entry> entries = new HashMap<>();
  private final long plausible;
  private final Map<String, Long> leastByModel;

  public OverheadBook() {
    this(PLAUSIBLE, Map.of());
  }

  /**
   * @param plausible bytes, {@link #USUAL} at least
   * @param least what is known of {@link #least} already
   */
  public OverheadBook(long plausible, Map<String, Long> least) {
    this.plausible = plausible;
    leastByModel = new HashMap<>(least);
  }

  /** Bytes beyond which contexts and modules of one process are not believed to be the reason for a difference. */
  public long plausible() {
    return plausible;
  }

  /**
   * Takes a reading in.
   *
   * @param model of the card
   * @return the estimate now, in bytes; empty if there is none yet
   */
  public OptionalLong take(Key key, String model, Reading reading) {
    Entry entry = entries.computeIfAbsent(key, k -> new Entry());
    if (!entry.takeContexts(reading.contexts())) {
      return OptionalLong.empty();
    }
    if (reading.pagedBytes() > 0) {
      entry.takePaged(reading, expected(model), plausible);
    } else {
      entry.take(reading);
    }
    OptionalLong estimate = entry.estimate();
    if (entry.quiet.size() == WINDOW && estimate.orElse(0) > 0 && estimate.getAsLong() <= USUAL) {
      leastByModel.merge(model, estimate.getAsLong(), Math::min);
    }
    return estimate;
  }

  /** What a process on a card of this model takes at least, as far as it was seen; 0 if that is not known. */
  public long expected(String model) {
    return leastByModel.getOrDefault(model, 0L);
  }

  /** What a process takes at least, in bytes, by the cards' model. */
  public Map<String, Long> least() {
    return Map.copyOf(leastByModel);
  }

  /** Forgets all other processes. */
  public void retain(Collection<Key> alive) {
    entries.keySet().retainAll(alive);
  }
}
