package dev.partita.plugin.devicehealth;

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends every report to whoever watches: the newest one at once when a stream is opened, and then each one that comes.
 * A client that does not read costs no more than one report, the newest, and one that is gone nothing. Beyond 16
 * streams the oldest one is ended: kubelet has one for each plugin.
 */
public final class HealthStreams implements AutoCloseable {
  static final int MOST_STREAMS = 16;

  private static final Status STOPPING = Status.UNAVAILABLE.withDescription("the plugin is stopping");

  private final SequencedSet<HealthStream<?>> streams = new LinkedHashSet<>(); // oldest first
  private @Nullable HealthReport newest;
  private boolean closed;

  /**
   * Serves a call.
   *
   * @param message makes the answer of a report
   */
  synchronized <T> void watch(ServerCallStreamObserver<T> client, Function<HealthReport, T> message) {
    HealthStream<T> stream = new HealthStream<>(client, message);
    if (closed) {
      stream.end(STOPPING);
      return;
    }
    client.setOnCancelHandler(() -> remove(stream));
    client.setOnReadyHandler(() -> sendWaiting(stream));
    if (streams.size() >= MOST_STREAMS) {
      HealthStream<?> oldest = streams.getFirst();
      streams.remove(oldest);
      oldest.end(Status.RESOURCE_EXHAUSTED.withDescription("more than " + MOST_STREAMS + " streams"));
    }
    streams.add(stream);
    if (newest != null) {
      stream.send(newest);
    }
  }

  /** Tells all who watch. */
  synchronized void send(HealthReport report) {
    newest = report;
    streams.forEach(stream -> stream.send(report));
  }

  /** How many streams are open. */
  synchronized int count() {
    return streams.size();
  }

  /** Ends all streams, so that the server need not wait for them; further ones are refused. */
  @Override
  public synchronized void close() {
    closed = true;
    streams.forEach(stream -> stream.end(STOPPING));
    streams.clear();
  }

  private synchronized void remove(HealthStream<?> stream) {
    streams.remove(stream);
  }

  private synchronized void sendWaiting(HealthStream<?> stream) {
    stream.sendWaiting();
  }

  /** One client. gRPC keeps whatever is sent until the client reads it, so nothing is sent before that. */
  private static final class HealthStream<T> {
    private final ServerCallStreamObserver<T> client;
    private final Function<HealthReport, T> message;
    private @Nullable HealthReport waiting;
    private boolean ended;

    HealthStream(ServerCallStreamObserver<T> client, Function<HealthReport, T> message) {
      this.client = client;
      this.message = message;
    }

    void send(HealthReport report) {
      waiting = report;
      sendWaiting();
    }

    void sendWaiting() {
      HealthReport report = waiting;
      if (report != null && !ended && client.isReady()) {
        waiting = null;
        client.onNext(message.apply(report));
      }
    }

    void end(Status why) {
      ended = true;
      client.onError(why.asRuntimeException());
    }
  }
}
