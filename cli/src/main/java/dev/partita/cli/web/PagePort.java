package dev.partita.cli.web;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.cli.command.CommandFailure;
import dev.partita.cli.connection.ClusterAnswers;
import dev.partita.cli.connection.ControllerPods;
import dev.partita.cli.connection.RefusedPort;
import dev.partita.controller.ControllerSettings;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/** Forwards a port of this machine to the page of the controller that leads, which alone can explain. */
final class PagePort implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String namespace;
  private final Supplier<List<String>> controllers;
  private final Forwarding forwarding;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
  private Optional<Forwarded> forwarded = Optional.empty();

  /** Forwards a port of this machine to the page of a pod. */
  interface Forwarding {
    /** @throws CommandFailure if the port of this machine cannot be had */
    LocalPortForward to(String pod, int port);
  }

  /** The pod whose page is open, and the port of this machine that leads to it. */
  private record Forwarded(String pod, LocalPortForward port) {}

  /** How the page that is open stands. */
  enum Standing {
    /** It leads, or no instance says that it does. */
    BEST,
    /** Another instance leads. */
    OUTDONE,
    /** It does not answer. */
    GONE
  }

  /**
   * @param namespace of Partita's pods
   * @param controllers names of those that may have the page
   * @param forwarding to them
   */
  PagePort(String namespace, Supplier<List<String>> controllers, Forwarding forwarding) {
    this.namespace = namespace;
    this.controllers = controllers;
    this.forwarding = forwarding;
  }

  /** @param namespace of Partita's pods */
  PagePort(KubernetesClient client, String namespace) {
    this(namespace, () -> controllers(client, namespace), (pod, port) -> to(client, namespace, pod, port));
  }

  /**
   * Forwards to the instance that leads, or to another one if none says that it does.
   *
   * @param port of this machine, on the loopback address; 0 for any free one
   * @return the port
   * @throws CommandFailure if no controller answers
   */
  int open(int port) {
    List<String> failures = new ArrayList<>();
    List<String> others = new ArrayList<>();
    for (String pod : controllers.get()) {
      try {
        LocalPortForward made = forwarding.to(pod, port);
        Optional<Boolean> leads = leads(made.getLocalPort());
        if (leads.equals(Optional.of(true))) {
          forwarded = Optional.of(new Forwarded(pod, made));
          return made.getLocalPort();
        }
        made.close();
        if (leads.isPresent()) {
          others.add(pod);
        } else {
          failures.add(pod + (RefusedPort.isForbidden(made)
              ? ": you may not create pods/portforward in namespace " + namespace
              : " serves no page (web.enabled of the chart)"));
        }
      } catch (KubernetesClientException e) {
        failures.add(pod + ": " + ClusterAnswers.reason(e));
      } catch (IOException e) {
        failures.add(pod + ": " + e.getMessage());
      }
    }
    if (others.isEmpty()) {
      throw CommandFailure.failed("no controller shows the page: " + String.join("; ", failures));
    }
    LocalPortForward made = forwarding.to(others.getFirst(), port);
    forwarded = Optional.of(new Forwarded(others.getFirst(), made));
    return made.getLocalPort();
  }

  /** How the page stands now. */
  Standing standing() {
    Optional<Boolean> leads = forwarded.flatMap(open -> leads(open.port().getLocalPort()));
    if (leads.isEmpty()) {
      return Standing.GONE;
    }
    return leads.get() || !leadsAnyBut(forwarded.orElseThrow().pod()) ? Standing.BEST : Standing.OUTDONE;
  }

  private boolean leadsAnyBut(String open) {
    for (String pod : controllers.get()) {
      if (!pod.equals(open)) {
        try (LocalPortForward probe = forwarding.to(pod, 0)) {
          if (leads(probe.getLocalPort()).orElse(false)) {
            return true;
          }
        } catch (KubernetesClientException | IOException e) {
          // it is asked again
        }
      }
    }
    return false;
  }

  private static LocalPortForward to(KubernetesClient client, String namespace, String pod, int port) {
    try {
      return client.pods().inNamespace(namespace).withName(pod)
          .portForward(ControllerSettings.DEFAULT_WEB_PORT, InetAddress.getLoopbackAddress(), port);
    } catch (IllegalStateException e) { // what the client makes of a port that it cannot bind
      throw CommandFailure.failed("port " + port + " of this machine cannot be had: "
          + Objects.requireNonNullElse(e.getCause(), e).getMessage() + "; --port names another");
    }
  }

  private static List<String> controllers(KubernetesClient client, String namespace) {
    try {
      return ControllerPods.running(client, namespace);
    } catch (KubernetesClientException e) {
      throw ClusterAnswers.failure(e, client.getConfiguration());
    }
  }

  /** What the page behind a port says of its instance; empty if nothing answers. */
  private Optional<Boolean> leads(int port) {
    try {
      HttpResponse<String> answer =
          http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/about")).timeout(PATIENCE)
              .build(), HttpResponse.BodyHandlers.ofString());
      return Optional.of(JSON.readTree(answer.body()).path("leads").asBoolean());
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CommandFailure.failed("interrupted");
    }
  }

  /** Ends the forwarding, to begin anew. */
  void drop() {
    forwarded.ifPresent(open -> {
      try {
        open.port().close();
      } catch (IOException e) {
        // it is gone in any case
      }
    });
    forwarded = Optional.empty();
  }

  @Override
  public void close() {
    drop();
    http.close();
  }
}
