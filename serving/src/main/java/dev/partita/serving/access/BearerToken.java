package dev.partita.serving.access;

import dev.partita.serving.http.Exchange;
import java.util.Optional;

/** The token that a request carries in its header Authorization (RFC 6750), whatever the scheme's case (RFC 9110). */
public final class BearerToken {
  private static final String BEARER = "Bearer ";

  private BearerToken() {}

  /** Empty if it carries none. */
  public static Optional<String> of(Exchange exchange) {
    return exchange.header("Authorization").filter(value -> value.regionMatches(true, 0, BEARER, 0, BEARER.length()))
        .map(value -> value.substring(BEARER.length()).strip()).filter(value -> !value.isEmpty());
  }
}
