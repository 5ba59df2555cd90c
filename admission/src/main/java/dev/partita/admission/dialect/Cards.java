package dev.partita.admission.dialect;

import dev.partita.admission.request.GpuRequest.Memory;
import dev.partita.admission.request.GpuRequest;
import dev.partita.admission.source.MemoryUnit;
import dev.partita.admission.source.SourceCluster;
import dev.partita.api.Bytes;
import dev.partita.api.config.FieldError;
import java.util.List;
import java.util.OptionalInt;

/** Numbers of cards, their memory and percents of one, within what a claim can say. */
final class Cards {
  /** Bytes that no card has more of, by far; their sum over all cards of a claim does not overflow. */
  static final long MOST_BYTES = 1L << 40;

  private Cards() {}

  /** The number of cards; empty if none, or more than one claim can hold, which is a problem. */
  static OptionalInt count(ResourceRequests asked, String resource, List<FieldError> problems) {
    return count(asked.of(resource), asked.pathOf(resource), problems);
  }

  static OptionalInt count(long cards, String path, List<FieldError> problems) {
    if (cards > GpuRequest.MAX_COUNT) {
      problems.add(new FieldError(path, "asks for " + cards + " cards; one claim can hold " + GpuRequest.MAX_COUNT));
      return OptionalInt.empty();
    }
    return cards == 0 ? OptionalInt.empty() : OptionalInt.of((int) cards);
  }

  /** So many percent of a card's memory, 1 to 100: an amount in whole MiB where it is known what a card has. */
  static Memory memory(int percent, SourceCluster cluster) {
    if (percent == 100) {
      return new Memory.All();
    }
    if (cluster.cardMemory().isEmpty()) {
      return new Memory.Percent(percent);
    }
    long bytes = Bytes.percentOf(cluster.cardMemory().getAsLong(), percent);
    long mebibyte = MemoryUnit.MIB.bytes();
    return new Memory.Bytes(Math.max(mebibyte, bytes - bytes % mebibyte));
  }

  /** Reports more memory than any card has. */
  static void fits(long bytes, String path, List<FieldError> problems) {
    if (bytes > MOST_BYTES) {
      problems.add(new FieldError(path, Bytes.words(bytes) + " is more than any card has"));
    }
  }

  /** Percent of one card; empty if none are asked for, or more than there are, which is a problem. */
  static OptionalInt percent(ResourceRequests asked, String resource, List<FieldError> problems) {
    long percent = asked.of(resource);
    if (percent > 100) {
      problems.add(new FieldError(asked.pathOf(resource), "must be from 0 to 100 percent of a card, not " + percent));
      return OptionalInt.empty();
    }
    return percent == 0 ? OptionalInt.empty() : OptionalInt.of((int) percent);
  }
}
