package dev.partita.controller.request;

import java.util.OptionalLong;

/** How much memory a request wants of each card. */
public sealed interface MemoryRequest {
  /** Nothing is said: it is what the device's policy says, which is all of it. */
  record Unsaid() implements MemoryRequest {}

  /** That many. */
  record Bytes(long bytes) implements MemoryRequest {}

  /**
   * A part of what each card offers.
   *
   * @param percent from 1 to 100
   */
  record Percent(int percent) implements MemoryRequest {
    private static final long MEBIBYTE = 1L << 20;

    public Percent {
      if (percent < 1 || percent > 100) {
        throw new IllegalArgumentException("percent must be from 1 to 100: " + percent);
      }
    }

    /** In whole MiB, so that parts which make 100 together fit on a card together. */
    private long of(long offered) {
      long part = offered / 100 * percent + offered % 100 * percent / 100;
      return percent == 100 ? offered : Math.max(Math.min(MEBIBYTE, offered), part - part % MEBIBYTE);
    }
  }

  static MemoryRequest of(OptionalLong bytes) {
    return bytes.isPresent() ? new Bytes(bytes.getAsLong()) : new Unsaid();
  }

  /** Bytes that are asked of a card that offers so many; empty if nothing is said. */
  default OptionalLong bytesOf(long offered) {
    return switch (this) {
      case Unsaid() -> OptionalLong.empty();
      case Bytes(long bytes) -> OptionalLong.of(bytes);
      case Percent percent -> OptionalLong.of(percent.of(offered));
    };
  }

  default boolean isSaid() {
    return !(this instanceof Unsaid);
  }
}
