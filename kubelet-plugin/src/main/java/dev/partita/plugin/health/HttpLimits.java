package dev.partita.plugin.health;

import java.util.Map;

/**
 * Limits of the JDK's HTTP server, which has them as system properties (module {@code jdk.httpserver}) and reads them when the first
 * server is made. Whoever reaches the node's pods can connect: without limits connections that send nothing would stay, until the memory
 * is full of them. A property that is set already stays as it is.
 */
final class HttpLimits {
  private static final Map<String, Integer> LIMITS =
      Map.of(
          "sun.net.httpserver.maxReqTime", 10, // seconds
          "sun.net.httpserver.maxRspTime", 20, // seconds, from the end of the request
          "sun.net.httpserver.maxReqHeaders", 64,
          "sun.net.httpserver.maxReqHeaderSize", 32 << 10, // bytes
          "jdk.httpserver.maxConnections", 256);

  private HttpLimits() {}

  /** To be called before a server is made. */
  static void set() {
    LIMITS.forEach(
        (property, limit) -> {
          if (System.getProperty(property) == null) {
            System.setProperty(property, limit.toString());
          }
        });
  }
}
