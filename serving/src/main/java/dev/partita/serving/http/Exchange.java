package dev.partita.serving.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLSession;

/** A request that is to be answered. */
public interface Exchange {
  /** What answers. */
  interface Handler {
    /** @throws IOException if the request cannot be read to its end; it is not answered then */
    HttpAnswer answer(Exchange exchange) throws IOException;
  }

  String method();

  /** Without the query. */
  String path();

  /** What stands behind the question mark, decoded; of a name that is there more than once, the last. */
  Map<String, String> query();

  Optional<String> header(String name);

  /**
   * What was sent with it; empty where nothing was. Until {@link #arrived} is called its sender may be cut off to make
   * room for others.
   */
  InputStream body() throws IOException;

  /**
   * Says that what is wanted of the body has been read: from now on the connection is kept until the answer is there.
   *
   * @throws IOException if it was cut off before
   */
  void arrived() throws IOException;

  /** Of a connection with encryption. */
  Optional<SSLSession> session();
}
