package dev.partita.serving.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.NameValuePair;
import org.apache.hc.core5.http.RequestHeaderFieldsTooLargeException;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.impl.io.HttpService;
import org.apache.hc.core5.http.io.HttpServerRequestHandler;
import org.apache.hc.core5.http.io.entity.EntityTemplate;
import org.apache.hc.core5.http.io.entity.StringEntity;
import org.apache.hc.core5.http.io.support.BasicHttpServerRequestHandler;
import org.apache.hc.core5.http.protocol.HttpCoreContext;
import org.apache.hc.core5.http.protocol.HttpProcessor;
import org.apache.hc.core5.http.protocol.HttpProcessorBuilder;
import org.apache.hc.core5.http.protocol.ResponseConnControl;
import org.apache.hc.core5.http.protocol.ResponseContent;
import org.apache.hc.core5.http.protocol.ResponseDate;
import org.apache.hc.core5.net.WWWFormCodec;
import org.apache.hc.core5.util.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves HTTP/1.1, with or without encryption, and answers whatever others do to its port. One thread accepts
 * connections, every connection has a thread of its own and {@link HttpLimits}, and {@link Connections} says which one
 * is closed. Apache HttpCore reads and writes requests and answers.
 */
public final class HttpListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HttpListener.class);
  private static final int BACKLOG = 256;
  private static final int UNKNOWN_LENGTH = -1;

  /**
   * How often overdue connections are looked for: they may stay for 10 s at least, and a node has this done for ever.
   */
  private static final Duration CHECK = Duration.ofSeconds(2);

  /** What there are too many of, such as open files, is not there again at once. */
  private static final Duration AFTER_FAILURE = Duration.ofMillis(100);

  private static final HttpProcessor PROCESSOR =
      HttpProcessorBuilder.create().addAll(new ResponseDate(), new ResponseContent(), new ResponseConnControl())
          .build();

  private final ServerSocket port;
  private final Optional<Supplier<SSLContext>> encryption;
  private final Exchange.Handler handler;
  private final ThreadFactory threads;
  private final int lineBytes;
  private final Connections connections;
  private final ScheduledExecutorService timer;
  private volatile boolean closed;

  private HttpListener(
      ServerSocket port,
      String name,
      int most,
      ThreadFactory threads,
      int lineBytes,
      Optional<Supplier<SSLContext>> encryption,
      Exchange.Handler handler) {
    this.port = port;
    this.lineBytes = lineBytes;
    this.encryption = encryption;
    this.handler = handler;
    this.threads = threads;
    this.connections = new Connections(most, System::nanoTime);
    this.timer =
        Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().name(name + "-timer").daemon().factory());
    var _ = timer.scheduleWithFixedDelay(connections::endOverdue, CHECK.toMillis(), CHECK.toMillis(),
        TimeUnit.MILLISECONDS);
    Thread.ofPlatform().name(name + "-accept").daemon().start(this::accept);
  }

  /**
   * Begins to listen.
   *
   * @param name what its threads are called
   * @param most connections at a time
   * @param threads one is made for each connection
   * @param encryption what each connection is served with; empty for none
   * @throws IOException if the port cannot be had
   */
  public static HttpListener start(
      InetSocketAddress address,
      String name,
      int most,
      ThreadFactory threads,
      Optional<Supplier<SSLContext>> encryption,
      Exchange.Handler handler)
      throws IOException {
    return start(address, name, most, threads, HttpLimits.LINE_BYTES, encryption, handler);
  }

  /**
   * Begins to listen for requests with long headers.
   *
   * @param lineBytes most bytes of a header; a request with a longer one is refused, with the reason
   */
  public static HttpListener start(
      InetSocketAddress address,
      String name,
      int most,
      ThreadFactory threads,
      int lineBytes,
      Optional<Supplier<SSLContext>> encryption,
      Exchange.Handler handler)
      throws IOException {
    ServerSocket port = new ServerSocket();
    try {
      port.bind(address, BACKLOG);
      return new HttpListener(port, name, most, threads, lineBytes, encryption, handler);
    } catch (IOException e) {
      port.close();
      throw e;
    }
  }

  /** Where it listens, also if any free port would do. */
  public int port() {
    return port.getLocalPort();
  }

  /** Ends when nothing is being answered any more, or when that time is over. */
  public void close(Duration most) {
    stopAccepting();
    long end = System.nanoTime() + most.toNanos();
    while (connections.areAnswered() > 0 && System.nanoTime() - end < 0) {
      try {
        Thread.sleep(10);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    close();
  }

  @Override
  public void close() {
    stopAccepting();
    timer.shutdownNow();
    connections.endAll();
  }

  private void stopAccepting() {
    closed = true;
    try {
      port.close();
    } catch (IOException e) {
      LOG.debug("port {}: {}", port, e.getMessage());
    }
  }

  private void accept() {
    while (!closed) {
      try {
        Socket socket = port.accept();
        Optional<Connections.One> connection = connections.open(socket);
        if (connection.isEmpty()) {
          socket.close();
        } else {
          threads.newThread(() -> serve(socket, connection.get())).start();
        }
      } catch (IOException | OutOfMemoryError e) {
        if (!closed) {
          LOG.warn("port {}: cannot accept a connection: {}", port(), e.getMessage());
          pause(AFTER_FAILURE);
        }
      }
    }
  }

  private static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(Socket socket, Connections.One one) {
    Http1Config config = Http1Config.custom().setMaxLineLength(lineBytes).setMaxHeaderCount(HttpLimits.HEADERS)
        .setBufferSize(HttpLimits.BUFFER_BYTES).build();
    try (ServerConnection connection = new ServerConnection(config)) {
      socket.setTcpNoDelay(true);
      if (encryption.isPresent()) {
        SSLSocket secured = (SSLSocket) encryption.get().get().getSocketFactory().createSocket(socket,
            socket.getInetAddress().getHostAddress(), socket.getPort(), true);
        secured.setUseClientMode(false);
        secured.startHandshake();
        connection.bind(secured, socket);
      } else {
        connection.bind(socket);
      }
      while (connection.isOpen() && connection.isDataAvailable(Timeout.of(HttpLimits.IDLE))) {
        one.asks();
        serveOne(connection, one);
        one.idles();
      }
    } catch (IOException | HttpException e) {
      LOG.debug("port {}: a connection ends: {}", port(), e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("port {}: a connection failed", port(), e);
    } finally {
      one.ended();
    }
  }

  /** Says what is wrong with a head that is too large, where HttpCore speaks of its own limits. */
  private HttpService service(HttpServerRequestHandler handler) {
    return new HttpService(PROCESSOR, handler) {
      @Override
      protected void handleException(HttpException failure, ClassicHttpResponse answer) {
        super.handleException(failure, answer);
        if (failure instanceof RequestHeaderFieldsTooLargeException) {
          answer.setEntity(new StringEntity("the request has a header of more than " + (lineBytes >> 10)
              + " KiB, such as a token, more than " + HttpLimits.HEADERS + " headers, or headers of more than "
              + ((lineBytes + HttpLimits.OTHER_LINES_BYTES) >> 10) + " KiB together\n",
              ContentType.parse(HttpAnswer.TEXT)));
        }
      }
    };
  }

  private void serveOne(ServerConnection connection, Connections.One one)
      throws IOException, HttpException {
    AtomicReference<HttpAnswer.Body> body = new AtomicReference<>(new HttpAnswer.Body.Complete(""));
    HttpService service = service(new BasicHttpServerRequestHandler(
        (request, context) -> (asked, response, c) -> {
          HttpAnswer answer = answer(asked, connection, one);
          body.set(answer.body());
          fill(response, answer, connection, one);
        }));
    try {
      service.handleRequest(connection, HttpCoreContext.create());
    } finally {
      if (body.get() instanceof HttpAnswer.Body.Stream(var _, Runnable ended)) {
        ended.run();
      }
    }
  }

  private HttpAnswer answer(ClassicHttpRequest asked, ServerConnection connection, Connections.One one)
      throws IOException {
    Asked exchange = new Asked(asked, Optional.ofNullable(connection.getSSLSession()), one);
    if (asked.getEntity() == null) {
      exchange.arrived();
    }
    // what it did not want of the body is still to arrive, and may be cut off
    return handler.answer(exchange);
  }

  private static void fill(
      ClassicHttpResponse response,
      HttpAnswer answer,
      ServerConnection connection,
      Connections.One one) {
    response.setCode(answer.status());
    answer.headers().forEach(response::setHeader);
    ContentType type = ContentType.parse(answer.type());
    response.setEntity(switch (answer.body()) {
      case HttpAnswer.Body.Complete(String text) -> {
        StringEntity entity = new StringEntity(text, type);
        one.isWritten(entity.getContentLength());
        yield entity;
      }
      case HttpAnswer.Body.Stream(HttpAnswer.Source source, Runnable _) ->
          new EntityTemplate(UNKNOWN_LENGTH, type, null, out -> stream(source, new Pieces(out, connection, one)));
    });
  }

  private static void stream(HttpAnswer.Source source, Pieces pieces) throws IOException {
    pieces.out().flush(); // the head, for who waits for it before the first piece is there
    source.to(pieces);
  }

  /** Sends the pieces of an answer over the connection that asked, and tells when the one who reads them is gone. */
  private record Pieces(OutputStream out, ServerConnection connection, Connections.One one)
      implements HttpAnswer.Sink {
    /** Who reads what is sent is given as long again for the next piece. */
    @Override
    public void send(String text) throws IOException {
      out.write(text.getBytes(StandardCharsets.UTF_8));
      out.flush();
      one.isAnswered();
    }

    @Override
    public boolean awaitGone(Duration most) throws IOException {
      long end = System.nanoTime() + most.toNanos();
      boolean asks = connection.isDataAvailable(Timeout.ofMilliseconds(Math.max(1, most.toMillis())));
      if (connection.isStale()) {
        return true;
      }
      if (asks) { // for more, which waits until this is answered
        pause(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
      }
      return false;
    }
  }

  private record Asked(ClassicHttpRequest request, Optional<SSLSession> session, Connections.One one)
      implements Exchange {
    @Override
    public String method() {
      return request.getMethod();
    }

    @Override
    public String path() {
      return request.getPath().split("\\?", 2)[0];
    }

    @Override
    public Map<String, String> query() {
      String[] parts = request.getPath().split("\\?", 2);
      return parts.length < 2
          ? Map.of()
          : WWWFormCodec.parse(parts[1], StandardCharsets.UTF_8).stream()
              .filter(pair -> pair.getName() != null && pair.getValue() != null)
              .collect(Collectors.toMap(NameValuePair::getName, NameValuePair::getValue, (_, last) -> last));
    }

    @Override
    public Optional<String> header(String name) {
      return Optional.ofNullable(request.getFirstHeader(name)).map(header -> header.getValue());
    }

    @Override
    public InputStream body() throws IOException {
      return request.getEntity() == null ? InputStream.nullInputStream() : request.getEntity().getContent();
    }

    @Override
    public void arrived() throws IOException {
      if (!one.isAnswered()) {
        throw new IOException("cut off to make room for others");
      }
    }
  }
}
