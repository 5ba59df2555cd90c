package dev.partita.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.certificate.WebhookNames;
import dev.partita.serving.metrics.MetricsReaders;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {
  private static final Config CLUSTER = new ConfigBuilder(Config.empty()).withNamespace("partita").build();

  @Test
  void theDefaultsAreKubernetesOwn() {
    ControllerSettings settings = settings("--identity=me");
    assertThat(settings.identity()).isEqualTo("me");
    assertThat(settings.healthPort()).contains(8081);
    assertThat(settings.templateGrace()).isEqualTo(Duration.ofMinutes(10));
    assertThat(settings.explainPort()).contains(8082);
    assertThat(settings.web()).isEmpty();
    assertThat(settings.election())
        .contains(
            new ControllerSettings.Election(
                "partita", "partita-dra-controller", Duration.ofSeconds(15), Duration.ofSeconds(10),
                Duration.ofSeconds(2)));
  }

  @Test
  void theWebPageIsServedWhereAPortIsGiven() {
    assertThat(settings("--web-port=8083").web()).contains(new ControllerSettings.WebPage(8083, "partita"));
  }

  @Test
  void electionCanBeLeftOut() {
    assertThat(settings("--no-leader-elect").election()).isEmpty();
    assertThat(settings("--leader-elect=false").election()).isEmpty();
    assertThat(settings("--leader-elect").election()).isPresent();
  }

  @Test
  void webhooksAreServedWhereAPortIsGiven() {
    assertThat(settings().webhook()).isEmpty();
    ControllerSettings.Webhook webhook = settings("--webhook-port=8443").webhook().orElseThrow();
    assertThat(webhook.port()).isEqualTo(8443);
    assertThat(webhook.drain().quiet()).isEqualTo(Duration.ofSeconds(5));
    assertThat(webhook.keepsCertificate()).isTrue();
    assertThat(
        settings("--webhook-port=8443", "--keep-webhook-certificate=false").webhook().orElseThrow().keepsCertificate())
        .isFalse();
    assertThat(webhook.names()).isEqualTo(new WebhookNames("partita", "partita-webhook"));
    assertThat(webhook.names().secret()).isEqualTo("partita-webhook-certificate");
  }

  @Test
  void metricsAreServedWhereAPortIsGivenToWhoMayReadThem() {
    assertThat(settings().metrics()).isEmpty();
    assertThat(settings("--metrics-port=9400").metrics())
        .contains(new ControllerSettings.MetricsEndpoint(9400, MetricsReaders.TOKEN));
    assertThat(settings("--metrics-port=9400", "--metrics-access=everybody").metrics())
        .contains(new ControllerSettings.MetricsEndpoint(9400, MetricsReaders.EVERYBODY));
  }

  @Test
  void whatACardCostsOfTheHostsMemoryIsNothingUntilSomebodySaysHowMuch() {
    assertThat(settings().hostMemory()).isZero();
    assertThat(settings("--host-memory=300Mi").hostMemory()).isEqualTo(300L << 20);
    assertThat(settings("--host-memory=300M").hostMemory()).as("in KiB, rounded up").isEqualTo(292_969L << 10);
    assertThat(settings("--host-memory=0.3Gi").hostMemory()).isEqualTo(314_573L << 10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--webhook-port=many", "--webhook-port=70000", "--health-port=many",
    "--health-port=70000", "--explain-port=-1", "--web-port=-1", "--metrics-port=70000", "--metrics-access=nobody",
    "--lease-duration=5",
    "--renew-deadline=0", "--template-grace=-1",
    "--host-memory=much", "--host-memory=-1Mi",
    "--webhook-port=8443 --webhook-drain=21", "--colour=red"})
  void badInputIsOneLineAndExitStatusTwo(String arguments) {
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine().setErr(new PrintWriter(err, true));
    assertThat(line.execute(arguments.split(" "))).isEqualTo(Main.EXIT_BAD_INPUT);
    assertThat(err.toString().lines().findFirst()).hasValueSatisfying(first -> assertThat(first).isNotBlank());
  }

  @Test
  void helpNamesEveryOptionsTwinInTheEnvironment() {
    String help = new CommandLine(new Main()).getUsageMessage(CommandLine.Help.Ansi.OFF);
    for (String name : new String[]{"IDENTITY", "LEADER_ELECT", "NAMESPACE", "LEASE_NAME", "LEASE_DURATION",
      "RENEW_DEADLINE", "RETRY_PERIOD", "HEALTH_PORT", "METRICS_PORT", "METRICS_ACCESS", "EXPLAIN_PORT", "WEBHOOK_PORT",
      "WEBHOOK_SERVICE",
      "HOST_MEMORY", "WEBHOOK_DRAIN", "KEEP_WEBHOOK_CERTIFICATE", "TEMPLATE_GRACE"}) {
      assertThat(help).contains("PARTITA_" + name);
    }
  }

  private static ControllerSettings settings(String... arguments) {
    Main main = new Main();
    new CommandLine(main).parseArgs(arguments);
    return main.settings(CLUSTER);
  }
}
