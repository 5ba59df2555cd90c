package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.controller.ControllerSettings.Election;
import dev.partita.controller.admission.ApiServerCall;
import dev.partita.controller.certificate.MadeCertificates;
import dev.partita.controller.certificate.WebhookObjects;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceClass;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A controller as API servers meet it. */
class WebhookTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Election QUICK =
      new Election("default", "lease", Duration.ofSeconds(3), Duration.ofSeconds(2), Duration.ofMillis(200));

  private static final String DNS_NAME =
      WebhookObjects.NAMES.service() + "." + WebhookObjects.NAMES.namespace() + ".svc";

  private final Cluster cluster = Cluster.empty();
  private final WebhookObjects objects = new WebhookObjects(cluster.client).make();
  private final List<DraController> controllers = new ArrayList<>();

  @AfterEach
  void close() {
    cluster.awaitQuiet();
    controllers.forEach(DraController::close);
    cluster.close();
  }

  @Test
  void everyInstanceServesWithTheCertificateThatTheLeaderMade() throws IOException {
    DraController first = start("first");
    DraController second = start("second");
    for (DraController each : List.of(first, second)) {
      JsonNode response = ask(each, "/mutate-pods", ApiServerCall.review("", "pods", "default",
          "{\"metadata\": {\"name\": \"p\"}, \"spec\": {\"containers\": [{\"name\": \"c\"}]}}"));
      assertThat(response.path("allowed").asBoolean()).isTrue();
      assertThat(response.has("patch")).as("it asks for no GPU").isFalse();
    }
    assertThat(List.of(first.leads(), second.leads())).containsOnlyOnce(true);
  }

  @Test
  void aPodThatAsksInAnotherSystemsWayGetsAClaim() throws IOException {
    JsonNode response =
        ask(
            start("only"),
            "/mutate-pods",
            ApiServerCall.review(
                "", "pods", "default",
                """
                    {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8192"}}}]}}"""));
    String patch = new String(Base64.getDecoder().decode(response.path("patch").asText()), StandardCharsets.UTF_8);
    assertThat(patch).contains("resourceClaimTemplateName", "gpu.partita.dev/allocation").contains("\"op\":\"remove\"");
  }

  /** They may have been made just before: what the controller has not seen yet it asks for. */
  @Test
  void whatAPodNamesIsLookedUpWhereTheControllerDoesNotKnowIt() throws IOException {
    cluster.claim("of-a-class-to-come", "to-come.example", Map.of());
    DraController controller = start("only");
    for (String named : List.of("\"resourceClaimTemplateName\": \"to-come\"",
        "\"resourceClaimName\": \"of-a-class-to-come\"")) {
      String pod =
          "{\"metadata\": {\"name\": \"p\"}, \"spec\": {\"containers\": [], \"resourceClaims\": [{\"name\": \"a\", "
              + named + "}]}}";
      JsonNode response = ask(controller, "/mutate-pods", ApiServerCall.review("", "pods", "default", pod));
      assertThat(response.path("allowed").asBoolean()).isTrue();
      assertThat(response.has("patch")).as("nothing of it is ours").isFalse();
    }
    String api = "GET /apis/resource.k8s.io/v1/";
    assertThat(SentRequests.soFar())
        .contains(api + "namespaces/default/resourceclaimtemplates/to-come", api + "deviceclasses/to-come.example");
  }

  @Test
  void whereKubeSchedulerAllocatesAClaimBeyondTheQuotaIsRefused() throws IOException {
    quota("40Gi");
    cluster.add(GpuNodes.leftToScheduler("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.leftToScheduler("node-1", 2, "NVIDIA T4", 16 * GpuNodes.GIB));
    DraController controller = start("only");
    eventually().untilAsserted(
        () -> assertThat(claim(controller, "h200.gpu.partita.dev", "41Gi").path("status").path("message").asText())
            .isEqualTo("namespace quota team-a/h200: 0 bytes of 40 GiB memory, 41 GiB asked"));
    assertThat(claim(controller, "h200.gpu.partita.dev", "40Gi").path("allowed").asBoolean()).isTrue();
    assertThat(claim(controller, "t4.gpu.partita.dev", "41Gi").path("allowed").asBoolean())
        .as("the limit is for another model").isTrue();
    cluster.claim("waits", "h200.gpu.partita.dev", Map.of("memory", "30Gi"));
    eventually().untilAsserted(
        () -> assertThat(claim(controller, "h200.gpu.partita.dev", "11Gi").path("status").path("message").asText())
            .isEqualTo("namespace quota team-a/h200: 30 GiB of 40 GiB memory, 11 GiB asked"));
    JsonNode refused = claim(controller, "h200.gpu.partita.dev", "11Gi");
    assertThat(refused.path("status").path("code").asInt()).isEqualTo(403);
    assertThat(claim(controller, "h200.gpu.partita.dev", "10Gi").path("allowed").asBoolean()).isTrue();
  }

  @Test
  void whereTheControllerAllocatesAClaimBeyondTheQuotaMayWait() throws IOException {
    quota("40Gi");
    cluster.add(GpuNodes.ready("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    DraController controller = start("only");
    eventually().until(() -> cluster.slices().size() == 1);
    assertThat(claim(controller, "h200.gpu.partita.dev", "41Gi").path("allowed").asBoolean()).isTrue();
  }

  @Test
  void aClaimThatNoNodeOfKubeSchedulersCouldServeIsNotRefusedForOneOfThem() throws IOException {
    quota("40Gi");
    cluster.add(GpuNodes.leftToScheduler("node-0", 2, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.add(GpuNodes.ready("node-1", 2, "NVIDIA B200", 180 * GpuNodes.GIB));
    DraController controller = start("only");
    eventually().untilAsserted(
        () -> assertThat(placed(controller, "'models': {'choose': ['h200']}").path("status").path("code").asInt())
            .isEqualTo(403));
    assertThat(placed(controller, "'models': {'choose': ['b200']}").path("allowed").asBoolean()).isTrue();
    assertThat(placed(controller, "'models': {'avoid': ['h200']}").path("allowed").asBoolean()).isTrue();
    assertThat(placed(controller, "'uuids': {'choose': ['GPU-node-1-0']}").path("allowed").asBoolean()).isTrue();
    assertThat(placed(controller, "'uuids': {'avoid': ['GPU-node-0-0']}").path("status").path("code").asInt())
        .as("there is another card").isEqualTo(403);
  }

  private JsonNode placed(DraController controller, String placement) throws IOException {
    String parameters =
        "{'apiVersion': 'gpu.partita.dev/v1alpha1', 'kind': 'GpuShareConfig', 'placement': {" + placement + "}}";
    return claim(controller, "gpu.partita.dev", "41Gi",
        ("[{'opaque': {'driver': 'gpu.partita.dev', 'parameters': " + parameters + "}}]").replace('\'', '"'));
  }

  private JsonNode claim(DraController controller, String deviceClass, String memory) throws IOException {
    return claim(controller, deviceClass, memory, "[]");
  }

  private JsonNode claim(DraController controller, String deviceClass, String memory, String configs)
      throws IOException {
    return ask(
        controller,
        "/validate",
        ApiServerCall.review(
            "resource.k8s.io", "resourceclaims", "default",
            """
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"generateName": "c-"}, "spec": {"devices": {"requests": [
                  {"name": "gpu", "exactly": {"deviceClassName": "%s", "capacity": {"requests": {"memory": "%s"}}}}], "config": %s}}}"""
                .formatted(deviceClass, memory, configs)));
  }

  private void quota(String memory) {
    cluster.client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName("default").addToLabels("team", "a").endMetadata().build())
        .create();
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(
        new GpuQuotaSpec(
            new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
            List.of(new GpuQuotaSpec.Limit("h200", List.of("h200"), null,
                new Amounts(new Quantity(memory), null, null, null), Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
  }

  @Test
  void anInstanceThatStopsGivesTheLeaseBackAndAnswersUntilApiServersKnow() throws IOException, InterruptedException {
    DraController leaving = start("leaving", Duration.ofSeconds(20));
    eventually().until(leaving::leads);
    DraController staying = start("staying");
    String review = ApiServerCall.review("", "pods", "default", "{\"spec\": {\"containers\": []}}");
    ask(leaving, "/mutate-pods", review); // what takes long the first time is over
    Thread closing = Thread.ofVirtual().start(leaving::close);

    eventually().until(staying::leads);
    assertThat(ask(leaving, "/mutate-pods", review).path("allowed").asBoolean()).isTrue();
    assertThat(closing.isAlive()).as("the lease went first").isTrue();
    closing.interrupt();
    closing.join();
  }

  /** As where EndpointSlices take longer than usual to change. */
  @Test
  void anInstanceThatStopsAnswersForAsLongAsItIsAsked() throws IOException, InterruptedException {
    Duration quiet = Duration.ofSeconds(2);
    DraController leaving = start("leaving", quiet);
    String review = ApiServerCall.review("", "pods", "default", "{\"spec\": {\"containers\": []}}");
    ask(leaving, "/mutate-pods", review);
    ApiServerCall call = new ApiServerCall(leaving.webhookPort().orElseThrow(), DNS_NAME, objects.trusted());
    Thread closing = Thread.ofVirtual().start(leaving::close);
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < quiet.multipliedBy(2).toNanos()) {
      assertThat(call.post("/mutate-pods", review).status()).isEqualTo(200);
    }
    assertThat(closing.join(Duration.ofMinutes(1))).as("it ends when nobody asks any more").isTrue();
    assertThatThrownBy(() -> call.post("/mutate-pods", review)).isInstanceOf(IOException.class);
  }

  @Test
  void whereSomebodyElseKeepsTheCertificateItIsServedWithAndNothingOfItIsWritten() throws IOException {
    DraController controller =
        start("only", new ControllerSettings.Webhook(0, WebhookObjects.NAMES, Duration.ZERO, false));
    // it leads, and writes
    eventually().until(() -> cluster.client.resources(DeviceClass.class).withName("gpu.partita.dev").get() != null);
    assertThat(objects.areAsMade()).isTrue();
    MadeCertificates theirs = new MadeCertificates(DNS_NAME);
    objects.give(theirs);
    ApiServerCall call = new ApiServerCall(controller.webhookPort().orElseThrow(), DNS_NAME, theirs.trusted());
    String review = ApiServerCall.review("", "pods", "default", "{\"spec\": {\"containers\": []}}");
    eventually().ignoreExceptionsInstanceOf(IOException.class).until(() -> call.post("/mutate-pods", review),
        given -> given.status() == 200);
  }

  private DraController start(String identity) throws IOException {
    return start(identity, Duration.ZERO);
  }

  private DraController start(String identity, Duration drain) throws IOException {
    return start(identity, new ControllerSettings.Webhook(0, WebhookObjects.NAMES, drain, true));
  }

  private DraController start(String identity, ControllerSettings.Webhook webhook) throws IOException {
    DraController controller =
        DraController.start(
            new ControllerSettings(identity, Optional.of(QUICK), Optional.empty(), Optional.empty(), Optional.empty(),
                ControllerSettings.DEFAULT_TEMPLATE_GRACE, Optional.of(webhook), Optional.empty(), false, 0),
            cluster.controllersClient());
    controllers.add(controller);
    return controller;
  }

  /** What the webhook responds, once it has a certificate that the configurations trust. */
  private JsonNode ask(DraController controller, String path, String review) throws IOException {
    eventually().until(objects::areComplete);
    ApiServerCall call = new ApiServerCall(controller.webhookPort().orElseThrow(), DNS_NAME, objects.trusted());
    ApiServerCall.Answer answer =
        eventually().ignoreExceptionsInstanceOf(IOException.class).until(() -> call.post(path, review),
            given -> given.status() == 200);
    return JSON.readTree(answer.body()).path("response");
  }
}
