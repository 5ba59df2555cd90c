package dev.partita.e2e.cluster;

import dev.partita.serving.metrics.TlsScrape;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.LocalPortForward;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;

/**
 * What a pod of ours tells who scrapes it.
 *
 * @param status of HTTP
 * @param text the metrics, or why there are none
 */
public record Scrape(int status, String text) {
  private static final int PORT = 9400;

  /** A way to the metrics' port of a node's plugin, for the caller to close. */
  public static LocalPortForward portOfPlugin(KubernetesClient admin, String node) {
    return forward(admin, new Daemons(admin).awaitPlugin(node));
  }

  /** A way to the metrics' port of the controller, for the caller to close. */
  public static LocalPortForward portOfController(KubernetesClient admin) {
    return forward(admin, Daemons.ready(admin, Controllers.LABELS).getFirst());
  }

  private static LocalPortForward forward(KubernetesClient admin, Pod pod) {
    return admin.pods().inNamespace(pod.getMetadata().getNamespace()).withName(pod.getMetadata().getName())
        .portForward(PORT);
  }

  /**
   * Scrapes the plugin of a node.
   *
   * @param token empty for none
   */
  public static Scrape ofPlugin(KubernetesClient admin, String node, String token) {
    return of(admin, new Daemons(admin).awaitPlugin(node), token);
  }

  /** Scrapes the controller, of which there is one. */
  public static Scrape ofController(KubernetesClient admin, String token) {
    return of(admin, Daemons.ready(admin, Controllers.LABELS).getFirst(), token);
  }

  /** Scrapes a pod, as Prometheus does with insecure_skip_verify. */
  private static Scrape of(KubernetesClient admin, Pod pod, String token) {
    try (LocalPortForward forward = forward(admin, pod)) {
      TlsScrape scrape = TlsScrape.of(forward.getLocalPort(), token.isEmpty() ? "" : "Bearer " + token);
      return new Scrape(scrape.status(), scrape.text());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** The first sample of that name with that text among its labels. */
  public Optional<Double> value(String name, String label) {
    return text.lines().filter(line -> line.startsWith(name + "{") && line.contains(label)).findFirst()
        .map(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)));
  }
}
