package dev.partita.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.command.RefusingServer;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class PagePortTest {
  /** A controller's page, as if a port were forwarded to it. */
  private record Controller(HttpServer server, AtomicBoolean leads) implements LocalPortForward {
    static Controller start(boolean leads) throws IOException {
      HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      Controller controller = new Controller(server, new AtomicBoolean(leads));
      server.createContext("/api/about", exchange -> {
        byte[] body = ("{\"leads\": " + controller.leads().get() + "}").getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
      });
      server.start();
      return controller;
    }

    @Override
    public InetAddress getLocalAddress() {
      return server.getAddress().getAddress();
    }

    @Override
    public int getLocalPort() {
      return server.getAddress().getPort();
    }

    @Override
    public boolean isAlive() {
      return true;
    }

    @Override
    public boolean errorOccurred() {
      return false;
    }

    @Override
    public Collection<Throwable> getClientThrowables() {
      return List.of();
    }

    @Override
    public Collection<Throwable> getServerThrowables() {
      return List.of();
    }

    @Override
    public void close() {}
  }

  /** It alone can explain why a pod waits. */
  @Test
  void whereAnotherInstanceLeadsSinceThePageGoesOnWithThatOne() throws IOException {
    Map<String, Controller> controllers =
        new TreeMap<>(Map.of("controller-a", Controller.start(true), "controller-b", Controller.start(false)));
    Controller first = Objects.requireNonNull(controllers.get("controller-a"));
    Controller second = Objects.requireNonNull(controllers.get("controller-b"));
    try (PagePort page = new PagePort("partita-system", () -> List.copyOf(controllers.keySet()),
        (pod, _) -> Objects.requireNonNull(controllers.get(pod)))) {
      assertThat(page.open(0)).isEqualTo(first.getLocalPort());
      assertThat(page.standing()).isEqualTo(PagePort.Standing.BEST);
      first.leads().set(false);
      assertThat(page.standing()).as("nobody leads yet").isEqualTo(PagePort.Standing.BEST);
      second.leads().set(true);
      assertThat(page.standing()).isEqualTo(PagePort.Standing.OUTDONE);
      page.drop();
      assertThat(page.standing()).isEqualTo(PagePort.Standing.GONE);
      assertThat(page.open(0)).isEqualTo(second.getLocalPort());
      assertThat(page.standing()).isEqualTo(PagePort.Standing.BEST);
    } finally {
      controllers.values().forEach(controller -> controller.server().stop(0));
    }
  }

  @Test
  void whoMayNotForwardAPortIsNotToldThatThereIsNoPage() throws IOException {
    try (RefusingServer server = new RefusingServer();
        PagePort page = new PagePort(server.client(), "partita-system")) {
      assertThatThrownBy(() -> page.open(0)).isInstanceOf(CommandFailure.class)
          .hasMessageContaining("you may not create pods/portforward").hasMessageNotContaining("web.enabled");
    }
  }
}
