package dev.partita.controller;

import dev.partita.controller.admission.Drain;
import dev.partita.controller.certificate.WebhookNames;
import dev.partita.serving.metrics.MetricsReaders;
import java.time.Duration;
import java.util.Optional;

/**
 * Settings of a controller.
 *
 * @param identity who this instance is, in the lease and in events: unique among the instances
 * @param election how leadership is held; empty to lead at once, where there is only one instance
 * @param healthPort port of /healthz and /readyz, 0 for any free one; empty for none
 * @param explainPort port on the loopback address at which {@code partita explain} asks, 0 for any free one; empty for
 *        none
 * @param web where the web page is served; empty for nowhere
 * @param templateGrace how long a ResourceClaimTemplate of ours that no pod names is kept
 * @param webhook where admission webhooks are served; empty for nowhere
 * @param metrics where metrics are served; empty for nowhere
 * @param autoscaledNodes whether an autoscaler of nodes is to see pods that wait
 * @param hostMemory bytes of its node's memory that a container takes for each device besides what its pod requests; 0
 *        for none to be counted
 */
public record ControllerSettings(
    String identity,
    Optional<Election> election,
    Optional<Integer> healthPort,
    Optional<Integer> explainPort,
    Optional<WebPage> web,
    Duration templateGrace,
    Optional<Webhook> webhook,
    Optional<MetricsEndpoint> metrics,
    boolean autoscaledNodes,
    long hostMemory) {
  /** Where {@code partita explain} expects a controller's {@link #explainPort}. */
  public static final int DEFAULT_EXPLAIN_PORT = 8082;

  /** Where {@code partita web} expects a controller's {@link WebPage#port}. */
  public static final int DEFAULT_WEB_PORT = 8083;

  /** Long enough for a Deployment that is rolled out, scaled or rescheduled. */
  static final int TEMPLATE_GRACE_SECONDS = 600;

  public static final Duration DEFAULT_TEMPLATE_GRACE = Duration.ofSeconds(TEMPLATE_GRACE_SECONDS);

  /** A pod that stops is killed after 30 s, if nothing else is said; some of them are for giving the lease back. */
  private static final Duration MOST_DRAIN = Duration.ofSeconds(20);

  public ControllerSettings {
    if (identity.isBlank()) {
      throw new IllegalArgumentException("identity must not be empty");
    }
    if (templateGrace.isNegative()) {
      throw new IllegalArgumentException(
          "the time for which unused templates are kept must not be negative: " + templateGrace);
    }
    if (hostMemory < 0) {
      throw new IllegalArgumentException("the host memory of a container must not be negative: " + hostMemory);
    }
    healthPort.ifPresent(port -> check("health", port));
    explainPort.ifPresent(port -> check("explain", port));
  }

  /**
   * How the admission webhooks are served: on which port, by which certificate, and for how long by a controller that
   * stops.
   *
   * @param port 0 for any free one
   * @param names of the Service, the Secret with the certificate and the webhook configurations
   * @param drain for how long API servers are still answered by an instance that stops
   * @param keepsCertificate whether the leader makes and renews the certificate; else somebody does, such as
   *        cert-manager, and has the webhook configurations trust it
   */
  public record Webhook(int port, WebhookNames names, Drain drain, boolean keepsCertificate) {
    public Webhook {
      check("webhook", port);
    }

    /** @param quiet for how long nobody must have asked an instance that stops before it answers no more */
    public Webhook(int port, WebhookNames names, Duration quiet, boolean keepsCertificate) {
      this(port, names, new Drain(quiet, MOST_DRAIN), keepsCertificate);
    }
  }

  /**
   * Where the web page is served.
   *
   * @param port on the loopback address, 0 for any free one
   * @param namespace where what it shows of the last day is kept: Partita's own
   */
  public record WebPage(int port, String namespace) {
    public WebPage {
      check("web", port);
      if (namespace.isBlank()) {
        throw new IllegalArgumentException("the web page needs a namespace");
      }
    }
  }

  /**
   * Where metrics are served.
   *
   * @param port 0 for any free one
   * @param readers who may read them
   */
  public record MetricsEndpoint(int port, MetricsReaders readers) {
    public MetricsEndpoint {
      check("metrics", port);
    }
  }

  private static void check(String what, int port) {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException(what + " port must be from 0 to 65535: " + port);
    }
  }

  /** A single instance that leads at once and listens nowhere: for embedding. */
  public static ControllerSettings standalone(String identity) {
    return new ControllerSettings(identity, Optional.empty(), Optional.empty(), Optional.empty(),
        Optional.empty(), DEFAULT_TEMPLATE_GRACE, Optional.empty(), Optional.empty(), false, 0);
  }

  /**
   * How leadership is held.
   *
   * @param namespace where the Lease is
   * @param leaseName name of the Lease
   * @param leaseDuration how long other instances wait before they take over
   * @param renewDeadline how long the leader tries to renew before it stops; shorter than leaseDuration
   * @param retryPeriod pause between attempts; shorter than renewDeadline
   */
  public record Election(
      String namespace,
      String leaseName,
      Duration leaseDuration,
      Duration renewDeadline,
      Duration retryPeriod) {
    public static final String DEFAULT_LEASE = "partita-dra-controller";

    // As Kubernetes' own components have them.
    static final int LEASE_SECONDS = 15;
    static final int RENEW_SECONDS = 10;
    static final int RETRY_SECONDS = 2;

    public Election {
      if (namespace.isBlank() || leaseName.isBlank()) {
        throw new IllegalArgumentException("a lease needs a namespace and a name");
      }
      if (!retryPeriod.isPositive()
          || retryPeriod.compareTo(renewDeadline) >= 0
          || renewDeadline.compareTo(leaseDuration) >= 0) {
        throw new IllegalArgumentException(
            "a lease needs 0 < retry period < renew deadline < lease duration: "
                + retryPeriod + ", " + renewDeadline + ", " + leaseDuration);
      }
    }
  }
}
