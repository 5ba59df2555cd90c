package dev.partita.serving.http;

import java.util.Map;

/**
 * A complete answer.
 *
 * @param type of the body, with its charset
 * @param headers besides the type and the length
 */
public record HttpAnswer(int status, String type, String body, Map<String, String> headers) {
  public static final String TEXT = "text/plain; charset=utf-8";
  public static final String JSON = "application/json; charset=utf-8";

  public HttpAnswer {
    headers = Map.copyOf(headers);
  }

  public HttpAnswer(int status, String type, String body) {
    this(status, type, body, Map.of());
  }

  /** Words for people, in one line. */
  public static HttpAnswer text(int status, String words) {
    return new HttpAnswer(status, TEXT, words + "\n");
  }
}
