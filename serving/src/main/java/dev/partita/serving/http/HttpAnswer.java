package dev.partita.serving.http;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/**
 * An answer.
 *
 * @param type of the body, with its charset
 * @param headers besides the type and the length
 */
public record HttpAnswer(int status, String type, Body body, Map<String, String> headers) {
  public static final String TEXT = "text/plain; charset=utf-8";
  public static final String JSON = "application/json; charset=utf-8";

  public HttpAnswer {
    headers = Map.copyOf(headers);
  }

  public HttpAnswer(int status, String type, String body, Map<String, String> headers) {
    this(status, type, new Body.Complete(body), headers);
  }

  public HttpAnswer(int status, String type, String body) {
    this(status, type, body, Map.of());
  }

  /** Words for people, in one line. */
  public static HttpAnswer text(int status, String words) {
    return new HttpAnswer(status, TEXT, words + "\n");
  }

  /** What is answered. */
  public sealed interface Body {
    /** It is there. */
    record Complete(String text) implements Body {}

    /**
     * It is made while it is sent, for as long as the one who asked stays.
     *
     * @param source makes it; it is not asked for anything if the one who asked has gone before
     * @param ended runs once, when nothing of the answer is sent any more, also if nothing was
     */
    record Stream(Source source, Runnable ended) implements Body {}
  }

  /** Makes a body piece by piece, in the thread of the connection; the answer ends when it returns. */
  public interface Source {
    /** @throws IOException as the sink throws it */
    void to(Sink sink) throws IOException;
  }

  /** Takes the pieces of a body. */
  public interface Sink {
    /**
     * Sends it at once.
     *
     * @throws IOException if nobody reads any more
     */
    void send(String text) throws IOException;

    /**
     * Waits for that long, or until the one who asked has gone: a piece sent then would only seem to arrive.
     *
     * @return whether he has gone
     * @throws IOException if the connection was ended
     */
    boolean awaitGone(Duration most) throws IOException;
  }
}
