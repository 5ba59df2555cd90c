package dev.partita.serving.access;

import dev.partita.serving.http.HttpAnswer;
import java.net.HttpURLConnection;
import java.util.Map;

/**
 * What was decided about a request.
 *
 * @param <U> what is known of a user who is let in
 */
public sealed interface Verdict<U> {
  /** The request is answered. */
  record Allowed<U>(U user) implements Verdict<U> {}

  /** It is not. */
  sealed interface Refused<U> extends Verdict<U> {
    String why();

    /** What is said instead: 401, 403 or 503, and why. */
    default HttpAnswer answer() {
      return switch (this) {
        case Unknown<U> _ -> new HttpAnswer(HttpURLConnection.HTTP_UNAUTHORIZED, HttpAnswer.TEXT, why() + "\n",
            Map.of("WWW-Authenticate", "Bearer"));
        case Forbidden<U> _ -> HttpAnswer.text(HttpURLConnection.HTTP_FORBIDDEN, why());
        case Undecided<U> _ -> HttpAnswer.text(HttpURLConnection.HTTP_UNAVAILABLE, why());
      };
    }
  }

  /** The request carries no token, or one that the API server does not know. */
  record Unknown<U>(String why) implements Refused<U> {}

  /** The API server knows who it is, and the user lacks the right. */
  record Forbidden<U>(String why) implements Refused<U> {}

  /** It cannot be told now. */
  record Undecided<U>(String why) implements Refused<U> {}
}
