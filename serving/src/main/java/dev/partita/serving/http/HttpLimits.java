package dev.partita.serving.http;

import java.time.Duration;

/**
 * Limits for one connection of a server. Whoever reaches a port may open one, so a client that sends nothing, or half a
 * request, must cost others nothing.
 */
public final class HttpLimits {
  /** Seconds for a handshake and a request to arrive, however slowly. */
  public static final int REQUEST_SECONDS = 10;

  static final Duration REQUEST = Duration.ofSeconds(REQUEST_SECONDS);

  /** From the end of the request until the answer is there, and as long again until it has been read. */
  static final Duration ANSWER = Duration.ofSeconds(30);

  /** Bytes of all answers of a server that wait to be read; of a single answer there may be more. */
  static final long UNSENT_BYTES = 32 << 20;

  /**
   * Between two requests; longer than the 90 s that API servers keep an idle connection (k8s.io/apimachinery,
   * util/net): who closes it first must be the one who asks, for what he sends just then is lost.
   */
  static final Duration IDLE = Duration.ofSeconds(150);

  /** A line of a request's head: a header, or the first with the path. */
  static final int LINE_BYTES = 8 << 10;

  /** All other lines of a head together, however many there are. */
  static final int OTHER_LINES_BYTES = 24 << 10;

  static final int HEADERS = 64;
  static final int BUFFER_BYTES = 2 << 10;

  private HttpLimits() {}
}
