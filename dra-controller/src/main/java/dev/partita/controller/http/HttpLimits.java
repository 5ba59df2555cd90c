package dev.partita.controller.http;

import java.util.Map;

/**
 * Limits of the JDK's HTTP server, which has them as system properties (module {@code jdk.httpserver}) and reads them when the
 * first server is made: without them a client that sends nothing, or does not read, holds a connection for ever. A property that
 * is set already stays as it is.
 */
public final class HttpLimits {
  /** Seconds for a handshake and a request to arrive, however slowly. */
  public static final int REQUEST_SECONDS = 10;

  private static final Map<String, Integer> LIMITS =
      Map.of(
          "sun.net.httpserver.maxReqTime", REQUEST_SECONDS,
          "sun.net.httpserver.maxRspTime", 20, // seconds, from the end of the request
          // Seconds; longer than the 90 that API servers keep an idle connection (k8s.io/apimachinery, util/net): who closes it first must be
          // the one who asks, for what he sends just then is lost.
          "sun.net.httpserver.idleInterval", 150,
          "sun.net.httpserver.maxReqHeaders", 64,
          "sun.net.httpserver.maxReqHeaderSize", 32 << 10, // bytes
          "jdk.httpserver.maxConnections", 256);

  private HttpLimits() {}

  /** To be called before a server is made. */
  public static void set() {
    LIMITS.forEach(
        (property, limit) -> {
          if (System.getProperty(property) == null) {
            System.setProperty(property, limit.toString());
          }
        });
  }
}
