package dev.partita.cli.demo.controlplane;

import io.fabric8.mockwebserver.http.RecordedRequest;
import io.fabric8.mockwebserver.http.Response;
import io.fabric8.mockwebserver.http.WebSocket;
import io.fabric8.mockwebserver.http.WebSocketListener;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A watch of the mock server that gives up what it has not sent when it is closed. The mock's waits for that on the
 * server's one thread, up to a minute; that thread is the one that would have to send it, and serves nobody meanwhile.
 */
final class EndingWatch extends WebSocketListener {
  private final WebSocketListener watch;
  private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

  EndingWatch(WebSocketListener watch) {
    this.watch = watch;
  }

  @Override
  public void onBeforeAccept(WebSocket socket, Response response) {
    watch.onBeforeAccept(socket, response);
  }

  @Override
  public void onOpen(WebSocket socket, Response response) {
    watch.onOpen(new Impatient(socket, ended), response);
  }

  @Override
  public void onMessage(WebSocket socket, String text) {
    watch.onMessage(socket, text);
  }

  @Override
  public void onMessage(WebSocket socket, byte[] bytes) {
    watch.onMessage(socket, bytes);
  }

  @Override
  public void onClosing(WebSocket socket, int code, String reason) {
    watch.onClosing(socket, code, reason);
  }

  @Override
  public void onClosed(WebSocket socket, int code, String reason) {
    ended.complete(false);
    watch.onClosed(socket, code, reason);
  }

  @Override
  public void onFailure(WebSocket socket, Throwable problem, Response response) {
    ended.complete(false);
    watch.onFailure(socket, problem, response);
  }

  /** A socket whose senders wait no longer than until the watch has ended. */
  private record Impatient(WebSocket socket, CompletableFuture<Boolean> ended) implements WebSocket {
    @Override
    public RecordedRequest request() {
      return socket.request();
    }

    @Override
    public boolean send(String text) {
      return sent(() -> socket.send(text));
    }

    @Override
    public boolean send(byte[] bytes) {
      return sent(() -> socket.send(bytes));
    }

    @Override
    public boolean close(int code, String reason) {
      return socket.close(code, reason);
    }

    private boolean sent(Supplier<Boolean> send) {
      if (ended.isDone()) {
        return false;
      }
      return CompletableFuture.supplyAsync(send, Thread::startVirtualThread).applyToEither(ended, done -> done).join();
    }
  }
}
