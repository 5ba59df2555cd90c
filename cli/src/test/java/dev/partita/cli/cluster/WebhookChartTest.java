package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.admission.dialect.Dialect;
import dev.partita.admission.dialect.DialectReader;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhook;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class WebhookChartTest {
  @Test
  void webhooksHoldUpNobodyAndSeeNeitherPartitasPodsNorTheSystems() {
    List<MutatingWebhook> pods = Chart.mutating(Map.of()).getWebhooks();
    assertThat(pods)
        .singleElement()
        .satisfies(
            webhook -> {
              assertThat(webhook.getFailurePolicy()).isEqualTo("Ignore");
              assertThat(webhook.getSideEffects()).isEqualTo("None");
              assertThat(webhook.getReinvocationPolicy()).isEqualTo("IfNeeded");
              assertThat(webhook.getTimeoutSeconds()).isLessThanOrEqualTo(5);
              assertThat(webhook.getMatchConditions()).isNotEmpty();
              assertThat(webhook.getNamespaceSelector().getMatchExpressions().getFirst().getValues())
                  .containsExactly("partita-system", "kube-system");
              assertThat(webhook.getClientConfig().getCaBundle()).as("the controller's to fill in").isNull();
            });
    assertThat(Chart.validating(Map.of()).getWebhooks())
        .hasSize(5)
        .allSatisfy(
            webhook -> {
              assertThat(webhook.getFailurePolicy()).isEqualTo("Ignore");
              assertThat(webhook.getSideEffects()).isEqualTo("None");
              assertThat(webhook.getMatchConditions()).isNotEmpty();
            });
    assertThat(Chart.mutating(Map.of("webhook.pods.failurePolicy", "Fail")).getWebhooks().getFirst().getFailurePolicy())
        .isEqualTo("Fail");
    assertThatThrownBy(() -> Chart.rendered(Map.of("webhook.pods.failurePolicy", "Sometimes")))
        .hasMessageContaining("failurePolicy");
  }

  @Test
  void whoInstallsTheChartIsToldThatPodsAreConvertedAndHowToLeaveThemAlone() {
    assertThat(Chart.notes(Map.of())).contains("nvidia.com/gpu", "gpu.partita.dev/admission=disabled",
        "webhook.pods.enabled=false");
    assertThat(Chart.notes(Map.of("webhook.pods.enabled", false))).doesNotContain("nvidia.com/gpu");
    assertThat(Chart.notes(Map.of("webhook.enabled", false))).doesNotContain("nvidia.com/gpu");
  }

  /** Every resource that a dialect knows must bring the pod to the webhook, and nothing that is no GPU's. */
  @Test
  void podsAreSentByTheResourcesOfEveryDialect() {
    Pattern sent = sentBy("amounts");
    for (Dialect dialect : Dialect.values()) {
      if (dialect.reader() instanceof DialectReader.OfResources reader) {
        assertThat(reader.resources()).extracting(name -> name.replace("<class>", "h200.gpu.partita.dev"))
            .allSatisfy(name -> assertThat(sent.matcher(name).find()).as(name).isTrue());
      }
    }
    assertThat(List.of("nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"))
        .allSatisfy(name -> assertThat(sent.matcher(name).find()).as(name).isTrue());
    assertThat(List.of("cpu", "memory", "ephemeral-storage", "amd.com/gpu", "rdma/nvidia.com/gpu", "xnvidia.com/gpu",
        "nvidia0com/gpu", "koordinator.sh/rdma", "deviceclass.resource.kubernetes.io/gpu.nvidia.com",
        "deviceclass.resource.kubernetes.io/gpu.partita.devices"))
        .allSatisfy(name -> assertThat(sent.matcher(name).find()).as(name).isFalse());
  }

  @Test
  void podsAreSentByTheAnnotationsThatAskForGpus() {
    Pattern sent = sentBy("annotations");
    assertThat(List.of("gpu-fraction", "gpu-memory", "nvidia.com/container.main.gpu-memory.request",
        "kai.scheduler/container.main.gpu-memory.portion.limit"))
        .allSatisfy(name -> assertThat(sent.matcher(name).find()).as(name).isTrue());
    assertThat(List.of("my-gpu-memory", "nvidia.com/use-gputype", "kai.scheduler/queue", "nvidia0com/container.x"))
        .allSatisfy(name -> assertThat(sent.matcher(name).find()).as(name).isFalse());
  }

  /** What names of these are looked for in pods. */
  private static Pattern sentBy(String what) {
    String expression =
        Chart.mutating(Map.of()).getWebhooks().getFirst().getMatchConditions().getFirst().getExpression();
    Matcher literal =
        Pattern.compile(what + "(?:\\.orValue\\(\\{}\\))?\\.exists\\(name, name\\.matches\\(\"([^\"]+)\"\\)")
            .matcher(expression);
    assertThat(literal.find()).isTrue();
    return Pattern.compile(literal.group(1));
  }

  @Test
  void theServiceLeadsToTheControllersPort() {
    io.fabric8.kubernetes.api.model.Service service =
        Chart.rendered(Map.of()).filter(io.fabric8.kubernetes.api.model.Service.class::isInstance)
            .map(io.fabric8.kubernetes.api.model.Service.class::cast).findFirst().orElseThrow();
    Container container = Chart.controller(Map.of("webhook.port", 9443)).getContainers().getFirst();
    assertThat(container.getPorts()).anySatisfy(port -> {
      assertThat(port.getName()).isEqualTo(service.getSpec().getPorts().getFirst().getTargetPort().getStrVal());
      assertThat(port.getContainerPort()).isEqualTo(9443);
    });
    assertThat(Chart.environment(Chart.controller(Map.of("webhook.port", 9443)))).containsEntry("PARTITA_WEBHOOK_PORT",
        "9443");
  }

  @Test
  void withoutWebhooksNothingIsLeftOfThem() {
    assertThat(Chart.text(Map.of("webhook.enabled", false))).doesNotContainIgnoringCase("webhook")
        .doesNotContain("secrets");
    assertThat(Chart.text(Map.of("webhook.pods.enabled", false))).doesNotContain("MutatingWebhookConfiguration\n")
        .contains("ValidatingWebhookConfiguration");
  }

  @Test
  void withCertManagerTheControllerWritesNeitherTheSecretNorTheConfigurations() {
    String text = Chart.text(Map.of("webhook.certManager.enabled", true));
    assertThat(text)
        .contains("kind: Issuer", "secretName: partita-webhook-certificate",
            "dnsNames: [partita-webhook.partita-system.svc]")
        .contains("cert-manager.io/inject-ca-from: partita-system/partita-webhook")
        .contains("commonName: partita-webhook", "{name: PARTITA_KEEP_WEBHOOK_CERTIFICATE, value: \"false\"}")
        .doesNotContain("kind: Secret\n")
        .doesNotContain("validatingwebhookconfigurations]");
    assertThat(
        Chart.text(Map.of("webhook.certManager.enabled", true, "webhook.certManager.issuerRef.name", "corporate")))
        .contains("name: corporate")
        .doesNotContain("kind: Issuer\nmetadata");
  }
}
