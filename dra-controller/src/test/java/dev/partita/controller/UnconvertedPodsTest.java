package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.controller.certificate.WebhookObjects;
import dev.partita.controller.unconverted.UnschedulablePods;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Pods that were made as they are while no controller answered. */
class UnconvertedPodsTest {
  private static final ControllerSettings SETTINGS =
      new ControllerSettings(
          "only", Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(),
          ControllerSettings.DEFAULT_TEMPLATE_GRACE,
          Optional.of(new ControllerSettings.Webhook(0, WebhookObjects.NAMES, Duration.ZERO, false)),
          Optional.empty(),
          false, 0);

  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aPodThatWaitsForAnotherSystemsResourceIsToldOnceAndThoseThatAdmissionLeavesAloneAreNot() throws IOException {
    new WebhookObjects(cluster.client).make();
    cluster.client.resource(new NamespaceBuilder().withNewMetadata().withName("others")
        .addToLabels("gpu.partita.dev/admission", "disabled").endMetadata().build()).create();
    waiting("others", "in-a-namespace-left-alone", Map.of());
    waiting("default", "left-alone", Map.of("gpu.partita.dev/admission", "disabled"));
    waiting(WebhookObjects.NAMES.namespace(), "of-ours", Map.of());
    waiting("default", "first", Map.of());
    try (DraController controller = DraController.start(SETTINGS, cluster.controllersClient())) {
      eventually().until(() -> told().contains("first"));
      waiting("default", "second", Map.of());
      eventually().until(() -> told().contains("second"));
      assertThat(controller.leads()).isTrue();
      assertThat(told()).containsExactlyInAnyOrder("first", "second");
      cluster.awaitQuiet();
    }
  }

  @Test
  void aPodThatKubeSchedulerMakesAClaimForIsNotTold() throws IOException {
    new WebhookObjects(cluster.client).make();
    cluster.add(GpuNodes.leftToScheduler("node-0", 1, "NVIDIA H200", 141 * GpuNodes.GIB));
    waiting("default", "by-class", Map.of(),
        "deviceclass.resource.kubernetes.io/whole.gpu.partita.dev");
    waiting("default", "of-another", Map.of());
    try (DraController controller = DraController.start(SETTINGS, cluster.controllersClient())) {
      eventually().until(() -> told().contains("of-another"));
      cluster.awaitQuiet();
      assertThat(told()).containsExactly("of-another");
      assertThat(controller.leads()).isTrue();
    }
  }

  private List<String> told() {
    return cluster.client.resources(io.fabric8.kubernetes.api.model.events.v1.Event.class).inAnyNamespace().list()
        .getItems().stream()
        .filter(event -> event.getReason().equals("NotConverted"))
        .map(event -> event.getRegarding().getName())
        .toList();
  }

  private void waiting(String namespace, String name, Map<String, String> labels) {
    waiting(namespace, name, labels, "nvidia.com/gpu");
  }

  private void waiting(String namespace, String name, Map<String, String> labels, String resource) {
    cluster.client.resource(UnschedulablePods.pod(namespace, name, labels, Map.of(resource, new Quantity("1"))))
        .create();
  }
}
