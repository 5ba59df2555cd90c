package dev.partita.controller;

import dev.partita.api.Amount;
import dev.partita.controller.certificate.WebhookNames;
import dev.partita.controller.edge.ControllerClient;
import dev.partita.controller.uninstall.UninstallCommand;
import dev.partita.serving.log.ConsoleLog;
import dev.partita.serving.log.LogLevel;
import dev.partita.serving.metrics.MetricsReaders;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/** Starts the controller's program. */
@Command(
    name = "dra-controller",
    mixinStandardHelpOptions = true,
    version = "dra-controller 0.1.0",
    description = {
      "Publishes the cluster's GPUs as ResourceSlices and DeviceClasses, allocates ResourceClaims, and serves admission webhooks.",
      "The API server is found as kubectl finds it: KUBECONFIG, or the pod's service account."
    },
    footer = {"",
      "Every option can be given in the environment instead. Exit status 2: an option is wrong or a port is in use."},
    subcommands = UninstallCommand.class,
    sortOptions = false)
public final class Main implements Callable<Integer> {
  static final int EXIT_BAD_INPUT = 2;

  /** A pod that stops is killed after 30 s. */
  private static final Duration MOST_STOPPING = Duration.ofSeconds(25);

  private static final BigDecimal KIB = BigDecimal.valueOf(1024);

  @Option(
      names = "--identity",
      paramLabel = "NAME",
      defaultValue = "${env:PARTITA_IDENTITY:-${env:HOSTNAME:-}}",
      description = "Who this instance is, unique among the instances (env PARTITA_IDENTITY; default: the host's name).") String identity =
          "";

  @Option(
      names = "--leader-elect",
      negatable = true,
      arity = "0..1",
      defaultValue = "${env:PARTITA_LEADER_ELECT:-true}",
      fallbackValue = "true",
      description = "Work only while holding the lease (env PARTITA_LEADER_ELECT; default: ${DEFAULT-VALUE}).") boolean leaderElect;

  @Option(
      names = "--namespace",
      paramLabel = "NAME",
      defaultValue = "${env:PARTITA_NAMESPACE:-}",
      description = "Namespace of the lease (env PARTITA_NAMESPACE; default: the kubeconfig's or service account's).") String namespace =
          "";

  @Option(
      names = "--lease-name",
      paramLabel = "NAME",
      defaultValue = "${env:PARTITA_LEASE_NAME:-" + ControllerSettings.Election.DEFAULT_LEASE + "}",
      description = "Name of the lease (env PARTITA_LEASE_NAME; default: ${DEFAULT-VALUE}).") String leaseName = "";

  @Option(
      names = "--lease-duration",
      paramLabel = "SECONDS",
      defaultValue = "${env:PARTITA_LEASE_DURATION:-" + ControllerSettings.Election.LEASE_SECONDS + "}",
      description = "Seconds that others wait before they take the lease over (env PARTITA_LEASE_DURATION; default: ${DEFAULT-VALUE}).") int leaseDuration;

  @Option(
      names = "--renew-deadline",
      paramLabel = "SECONDS",
      defaultValue = "${env:PARTITA_RENEW_DEADLINE:-" + ControllerSettings.Election.RENEW_SECONDS + "}",
      description = "Seconds that the leader tries to renew before it stops (env PARTITA_RENEW_DEADLINE; default: ${DEFAULT-VALUE}).") int renewDeadline;

  @Option(
      names = "--retry-period",
      paramLabel = "SECONDS",
      defaultValue = "${env:PARTITA_RETRY_PERIOD:-" + ControllerSettings.Election.RETRY_SECONDS + "}",
      description = "Seconds between attempts at the lease (env PARTITA_RETRY_PERIOD; default: ${DEFAULT-VALUE}).") int retryPeriod;

  @Option(
      names = "--health-port",
      paramLabel = "PORT",
      defaultValue = "${env:PARTITA_HEALTH_PORT:-8081}",
      description = "Port of /healthz and /readyz (env PARTITA_HEALTH_PORT; default: ${DEFAULT-VALUE}).") int healthPort;

  @Option(
      names = "--metrics-port",
      paramLabel = "PORT",
      defaultValue = "${env:PARTITA_METRICS_PORT:-0}",
      description = "Port of /metrics for Prometheus, 0 for none (env PARTITA_METRICS_PORT; default: ${DEFAULT-VALUE}).") int metricsPort;

  @Option(
      names = "--metrics-access",
      paramLabel = "token|everybody",
      defaultValue = "${env:PARTITA_METRICS_ACCESS:-token}",
      description = {
        "Who may read the metrics: over HTTPS who shows a token of a user that may get /metrics, or over HTTP everybody who reaches the",
        "port (env PARTITA_METRICS_ACCESS; default: ${DEFAULT-VALUE})."
      }) MetricsReaders metricsAccess = MetricsReaders.TOKEN;

  @Option(
      names = "--explain-port",
      paramLabel = "PORT",
      defaultValue = "${env:PARTITA_EXPLAIN_PORT:-" + ControllerSettings.DEFAULT_EXPLAIN_PORT + "}",
      description = "Port on the loopback address at which 'partita explain' asks (env PARTITA_EXPLAIN_PORT; default: ${DEFAULT-VALUE}).") int explainPort;

  @Option(
      names = "--web-port",
      paramLabel = "PORT",
      defaultValue = "${env:PARTITA_WEB_PORT:-0}",
      description = "Port of the web page on the loopback address, to which 'partita web' forwards; 0 for none (env PARTITA_WEB_PORT; default: ${DEFAULT-VALUE}).") int webPort;

  @Option(
      names = "--template-grace",
      paramLabel = "SECONDS",
      defaultValue = "${env:PARTITA_TEMPLATE_GRACE:-" + ControllerSettings.TEMPLATE_GRACE_SECONDS + "}",
      description = "Seconds that a ResourceClaimTemplate made for converted pods is kept when no pod names it (env PARTITA_TEMPLATE_GRACE; default: ${DEFAULT-VALUE}).") int templateGrace;

  @Option(
      names = "--autoscaled-nodes",
      negatable = true,
      arity = "0..1",
      defaultValue = "${env:PARTITA_AUTOSCALED_NODES:-false}",
      fallbackValue = "true",
      description = {
        "Take the scheduling gate off pods that wait where one more node may help: autoscalers of nodes look only at pods for which",
        "kube-scheduler has found no node (env PARTITA_AUTOSCALED_NODES; default: ${DEFAULT-VALUE})."
      }) boolean autoscaledNodes;

  @Option(
      names = "--host-memory",
      paramLabel = "QUANTITY",
      defaultValue = "${env:PARTITA_HOST_MEMORY:-0}",
      description = {
        "How much of its node's memory a container takes for each of its devices besides what its pod requests, such as 300Mi. Kubernetes",
        "counts it where the feature gate DRANodeAllocatableResources is on; 0 for none (env PARTITA_HOST_MEMORY; default: ${DEFAULT-VALUE})."
      }) String hostMemory = "0";

  @Option(
      names = "--webhook-port",
      paramLabel = "PORT",
      defaultValue = "${env:PARTITA_WEBHOOK_PORT:-}",
      description = "Port of the admission webhooks, over HTTPS (env PARTITA_WEBHOOK_PORT; default: none are served).") String webhookPort =
          "";

  @Option(
      names = "--webhook-service",
      paramLabel = "NAME",
      defaultValue = "${env:PARTITA_WEBHOOK_SERVICE:-partita-webhook}",
      description = {
        "The webhooks' Service, in the same namespace as the lease. Both webhook configurations are called the same, and the Secret with",
        "the certificate NAME-certificate (env PARTITA_WEBHOOK_SERVICE; default: ${DEFAULT-VALUE})."
      }) String webhookService = "";

  @Option(
      names = "--webhook-drain",
      paramLabel = "SECONDS",
      defaultValue = "${env:PARTITA_WEBHOOK_DRAIN:-5}",
      description = {
        "An instance that stops answers API servers until none has asked for so many seconds, but not for longer than 20 s",
        "(env PARTITA_WEBHOOK_DRAIN; at most 20; default: ${DEFAULT-VALUE})."
      }) int webhookDrain;

  @Option(
      names = "--keep-webhook-certificate",
      negatable = true,
      arity = "0..1",
      defaultValue = "${env:PARTITA_KEEP_WEBHOOK_CERTIFICATE:-true}",
      fallbackValue = "true",
      description = {
        "Make and renew the certificate in the Secret, and have the webhook configurations trust it; 'false' where cert-manager does",
        "(env PARTITA_KEEP_WEBHOOK_CERTIFICATE; default: ${DEFAULT-VALUE})."
      }) boolean keepWebhookCertificate;

  @Option(
      names = "--log-level",
      paramLabel = "off|error|warn|info|debug",
      defaultValue = "${env:PARTITA_LOG_LEVEL:-info}",
      description = "How much the log tells (env PARTITA_LOG_LEVEL; default: ${DEFAULT-VALUE}).") LogLevel logLevel =
          LogLevel.INFO;

  @Spec CommandSpec spec;

  /** Runs until the process is told to stop. */
  public static void main(String[] arguments) {
    ConsoleLog.use(LogLevel.INFO, 10);
    Thread.setDefaultUncaughtExceptionHandler(Main::ended);
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    // For a handler of its own picocli drops the command's writer where somebody replaces System.err meanwhile.
    return new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionStrategy(parsed -> new CommandLine.RunLast().execute(parsed));
  }

  /**
   * A thread that an error ends may leave an instance that leads and does not work: another one, or the next start,
   * does better.
   */
  private static void ended(Thread thread, Throwable problem) {
    LoggerFactory.getLogger(Main.class).error("{} ended", thread.getName(), problem);
    if (problem instanceof Error) {
      System.exit(1);
    }
  }

  @Override
  public Integer call() {
    ConsoleLog.setLevel(logLevel);
    Config config = new ConfigBuilder(Config.autoConfigure(null)).withRequestRetryBackoffLimit(0).build();
    ControllerSettings settings = settings(config);
    CountDownLatch stop = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    try (KubernetesClient client = ControllerClient.of(config);
        DraController _ = DraController.start(settings, client)) {
      Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> stopAndWait(stop, ended)));
      stop.await();
      return 0;
    } catch (IOException e) {
      spec.commandLine().getErr().println(e.getMessage());
      return EXIT_BAD_INPUT;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    } finally {
      ended.countDown();
    }
  }

  ControllerSettings settings(Config config) {
    @Nullable String own = config.getNamespace();
    String leaseNamespace = namespace.isEmpty() ? Objects.requireNonNullElse(own, "default") : namespace;
    try {
      Optional<ControllerSettings.Election> election =
          leaderElect
              ? Optional.of(
                  new ControllerSettings.Election(
                      leaseNamespace,
                      leaseName,
                      Duration.ofSeconds(leaseDuration),
                      Duration.ofSeconds(renewDeadline),
                      Duration.ofSeconds(retryPeriod)))
              : Optional.empty();
      String who = identity.isEmpty() ? "dra-controller-" + ProcessHandle.current().pid() : identity;
      Optional<ControllerSettings.Webhook> webhook =
          webhookPort.isEmpty()
              ? Optional.empty()
              : Optional.of(
                  new ControllerSettings.Webhook(
                      Integer.parseInt(webhookPort), new WebhookNames(leaseNamespace, webhookService),
                      Duration.ofSeconds(webhookDrain), keepWebhookCertificate));
      return new ControllerSettings(who, election, Optional.of(healthPort), Optional.of(explainPort),
          webPort == 0 ? Optional.empty() : Optional.of(new ControllerSettings.WebPage(webPort, leaseNamespace)),
          Duration.ofSeconds(templateGrace), webhook,
          metricsPort == 0
              ? Optional.empty()
              : Optional.of(new ControllerSettings.MetricsEndpoint(metricsPort, metricsAccess)),
          autoscaledNodes, hostMemory(hostMemory));
    } catch (NumberFormatException e) {
      throw new ParameterException(spec.commandLine(), "--webhook-port must be a number: " + webhookPort, e);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  /** In bytes, rounded up to whole KiB: API servers write those as we do, so that slices stay as they were written. */
  private static long hostMemory(String quantity) {
    try {
      BigDecimal kibibytes = Amount.of(new Quantity(quantity)).divide(KIB, 0, RoundingMode.CEILING);
      return kibibytes.multiply(KIB).longValueExact();
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new IllegalArgumentException("--host-memory must be an amount such as 300Mi: " + quantity, e);
    }
  }

  /** Waits for what was begun to end, and not for the thread: that one exits, and waits for this. */
  private static void stopAndWait(CountDownLatch stop, CountDownLatch ended) {
    stop.countDown();
    try {
      boolean _ = ended.await(MOST_STOPPING.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
