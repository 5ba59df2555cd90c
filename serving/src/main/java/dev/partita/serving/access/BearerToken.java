package dev.partita.serving.access;

import dev.partita.serving.http.Exchange;
import java.util.Optional;

/** The token that a request carries in its header Authorization (RFC 6750). */
public final class BearerToken {
  private static final String BEARER = "Bearer ";

  private BearerToken() {}

  /** Empty if it carries none. */
  public static Optional<String> of(Exchange exchange) {
    return exchange.header("Authorization").filter(value -> value.startsWith(BEARER))
        .map(value -> value.substring(BEARER.length()).strip()).filter(value -> !value.isEmpty());
  }
}
