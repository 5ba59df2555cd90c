package dev.partita.serving.metrics;

import java.util.Optional;

/** Decides who may read the metrics. */
public interface MetricsAccess {
  /** Everybody who reaches the port may. */
  MetricsAccess EVERYBODY = token -> new Verdict.Allowed();

  /**
   * Decides about one request.
   *
   * @param token what the request carries as bearer token; empty if it carries none
   */
  Verdict of(Optional<String> token);

  /** What was decided. */
  sealed interface Verdict {
    /** The request is answered. */
    record Allowed() implements Verdict {}

    /** The request carries no token, or one that the API server does not know. */
    record Unknown(String why) implements Verdict {}

    /** The API server knows who it is, and the user lacks the right. */
    record Forbidden(String why) implements Verdict {}

    /** It cannot be told now. */
    record Undecided(String why) implements Verdict {}
  }
}
