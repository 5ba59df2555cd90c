package dev.partita.serving.http;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ContentLengthStrategy;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.MessageConstraintException;
import org.apache.hc.core5.http.ProtocolException;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.impl.io.ChunkedInputStream;
import org.apache.hc.core5.http.impl.io.DefaultBHttpServerConnection;
import org.apache.hc.core5.http.impl.io.DefaultHttpRequestParser;
import org.apache.hc.core5.http.io.HttpTransportMetrics;
import org.apache.hc.core5.http.io.SessionInputBuffer;
import org.apache.hc.core5.util.CharArrayBuffer;

/**
 * Reads requests from one client, of whom nothing is known. HttpCore bounds each line of a head and their number; this
 * also bounds what all of them take, so that many clients together cannot fill the heap.
 */
final class ServerConnection extends DefaultBHttpServerConnection {
  /** What follows a body in chunks (RFC 9112, 7.1.2): nobody here asks for any. HttpCore refuses the second. */
  private static final Http1Config TRAILERS =
      Http1Config.custom().setMaxLineLength(HttpLimits.LINE_BYTES).setMaxHeaderCount(2).build();

  ServerConnection(Http1Config config) {
    super("http", config, null, null, null, null, _ -> new RequestParser(config), null); // HttpCore gives its default
  }

  @Override
  protected InputStream createContentInputStream(long length, SessionInputBuffer from, InputStream in) {
    return length == ContentLengthStrategy.CHUNKED
        ? new ChunkedInputStream(from, in, TRAILERS)
        : super.createContentInputStream(length, from, in);
  }

  /** Reads the head of a request, and refuses one that is too large or whose target is no address. */
  private static final class RequestParser extends DefaultHttpRequestParser {
    private final int most;

    private RequestParser(Http1Config config) {
      super(config);
      this.most = config.getMaxLineLength() + HttpLimits.OTHER_LINES_BYTES;
    }

    @Override
    public ClassicHttpRequest parse(SessionInputBuffer from, InputStream in) throws IOException, HttpException {
      return super.parse(new Head(from, most), in);
    }

    /** Refuses a target that is no address, such as one with the port 70000: HttpCore's own parser fails at it. */
    @Override
    protected ClassicHttpRequest createMessage(CharArrayBuffer line) throws IOException, HttpException {
      try {
        return super.createMessage(line);
      } catch (IllegalArgumentException e) {
        throw new ProtocolException("the request's target is no address: " + e.getMessage(), e);
      }
    }
  }

  /** Gives the lines of one head, as long as they do not have too many bytes together. */
  private static final class Head implements SessionInputBuffer {
    private final SessionInputBuffer from;
    private int left;

    private Head(SessionInputBuffer from, int most) {
      this.from = from;
      this.left = most;
    }

    @Override
    public int readLine(CharArrayBuffer line, InputStream in) throws IOException {
      int length = from.readLine(line, in);
      left -= Math.max(0, length);
      if (left < 0) {
        throw new MessageConstraintException("the lines of the head have too many bytes together");
      }
      return length;
    }

    @Override
    public int length() {
      return from.length();
    }

    @Override
    public int capacity() {
      return from.capacity();
    }

    @Override
    public int available() {
      return from.available();
    }

    @Override
    public int read(byte[] bytes, int at, int most, InputStream in) throws IOException {
      return from.read(bytes, at, most, in);
    }

    @Override
    public int read(byte[] bytes, InputStream in) throws IOException {
      return from.read(bytes, in);
    }

    @Override
    public int read(InputStream in) throws IOException {
      return from.read(in);
    }

    @Override
    public HttpTransportMetrics getMetrics() {
      return from.getMetrics();
    }
  }
}
