package dev.partita.plugin.grant;

/**
 * How far a share may grow beyond what is set aside for it, into memory of its card that no claim has.
 *
 * @param mostBytes the most memory that it may have, its own included
 * @param lentBytes what it has been lent of that; others get it back when they need it
 */
public record Growth(long mostBytes, long lentBytes) {
  public Growth {
    if (lentBytes < 0 || lentBytes > mostBytes) {
      throw new IllegalArgumentException("a share is lent no more than it may grow to: " + lentBytes);
    }
  }

  /** The same with another loan. */
  Growth lent(long bytes) {
    return new Growth(mostBytes, bytes);
  }
}
