package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.partita.admission.webhook.ClaimLookup;
import dev.partita.admission.webhook.PodMutation;
import dev.partita.api.Driver;
import dev.partita.controller.edge.ApiEdge;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplate;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimTemplateBuilder;
import io.fabric8.zjsonpatch.JsonPatch;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Pods as admission leaves them, and the templates that the controller makes for them. */
class ConvertedPodTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration NEVER = Duration.ofDays(1);
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void oneTemplateIsMadeForEachRequestAndNamespace() {
    cluster.start(NEVER);
    Pod first = pod("default", "first", 8);
    pod("default", "second", 8);
    pod("default", "other", 4);
    pod("team", "third", 8);

    eventually().until(() -> templates("default").size() == 2 && templates("team").size() == 1);
    ResourceClaimTemplate made =
        cluster.client.resources(ResourceClaimTemplate.class).inNamespace("default").withName(templateOf(first)).get();
    assertThat(made.getMetadata().getLabels()).containsEntry(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER);
    var request = made.getSpec().getSpec().getDevices().getRequests().getFirst().getExactly();
    assertThat(request.getDeviceClassName()).isEqualTo(Driver.SHARE_CLASS);
    assertThat(request.getCapacity().getRequests()).containsEntry("memory", new Quantity("8Gi"));
  }

  @Test
  void podsThatCameWhileNobodyLedGetTheirTemplates() {
    Pod pod = pod("default", "early", 8);
    cluster.start(NEVER);
    eventually().until(() -> templates("default").equals(List.of(templateOf(pod))));
    cluster.stopControllers();
    Pod late = pod("default", "late", 4);
    cluster.start(NEVER);
    eventually().until(() -> templates("default").contains(templateOf(late)));
  }

  @Test
  void aTemplateThatSomebodyDeletedComesAgainAsLongAsAPodNamesIt() {
    cluster.start(NEVER);
    Pod pod = pod("default", "pod", 8);
    eventually().until(() -> templates("default").size() == 1);
    String uid = template(templateOf(pod)).getMetadata().getUid();
    cluster.client.resource(template(templateOf(pod))).delete();
    eventually()
        .until(() -> templates("default").size() == 1 && !template(templateOf(pod)).getMetadata().getUid().equals(uid));
  }

  @Test
  void aTemplateThatNobodyNamesAnyMoreIsDeletedAndOneThatAFinishedPodNamesIsKept() {
    cluster.start(Duration.ZERO);
    Pod over = pod("default", "over", 8);
    Pod gone = pod("default", "gone", 4);
    eventually().until(() -> templates("default").size() == 2);
    cluster.bindAndFinish("over", "node-0");
    cluster.client.resource(gone).delete();
    eventually().until(() -> templates("default").equals(List.of(templateOf(over))));
    cluster.client.pods().inNamespace("default").withName("over").delete();
    eventually().until(() -> templates("default").isEmpty());
  }

  @Test
  void anUnusedTemplateThatAnEarlierLeaderLeftIsDeletedAndOthersAreNot() {
    cluster.start(NEVER);
    Pod pod = pod("default", "pod", 8);
    eventually().until(() -> templates("default").size() == 1);
    copy(pod, "users", Map.of(Driver.MANAGED_BY_LABEL, Driver.MANAGED_BY_CONTROLLER));
    copy(pod, "partita-00000000000000000000", Map.of());
    cluster.stopControllers();
    cluster.client.resource(pod).delete();
    cluster.start(Duration.ZERO);
    eventually().until(() -> !templates("default").contains(templateOf(pod)));
    assertThat(templates("default")).containsExactlyInAnyOrder("users", "partita-00000000000000000000");
  }

  @Test
  void aTemplateThatChangedSinceItWasSeenIsNotDeleted() {
    cluster.start(NEVER);
    Pod pod = pod("default", "pod", 8);
    eventually().until(() -> templates("default").size() == 1);
    ResourceClaimTemplate seen = template(templateOf(pod));
    cluster.client
        .resource(
            new ResourceClaimTemplateBuilder(seen).editMetadata().addToLabels("kept", "yes").endMetadata().build())
        .update();
    assertThatThrownBy(
        () -> cluster.client.resource(seen).lockResourceVersion(seen.getMetadata().getResourceVersion()).delete())
        .as("what the loop asks the server for")
        .matches(ApiEdge::isConflict);
    assertThat(templates("default")).hasSize(1);
  }

  @Test
  void aPodWhoseNoteIsForgedGetsNoTemplateAndAnEvent() {
    cluster.start(NEVER);
    ObjectNode pod = converted("default", "forged", 8);
    ObjectNode annotations = (ObjectNode) pod.at("/metadata/annotations");
    annotations.put(Driver.CONVERTED_REQUESTS_ANNOTATION,
        annotations.path(Driver.CONVERTED_REQUESTS_ANNOTATION).asText().replace("}]", ",\"cel\":\"true\"}]"));
    create(pod);
    assertThat(cluster.note("forged", "TemplateNotMade"))
        .contains("is not made: annotation gpu.partita.dev/converted-requests");
    pod("default", "honest", 4);
    eventually().until(() -> templates("default").size() == 1);
  }

  @Test
  void somebodyElsesTemplateOfThatNameIsLeftAsItIsAndThePodIsTold() {
    ObjectNode pod = converted("default", "pod", 8);
    String name = pod.at("/spec/resourceClaims/0/resourceClaimTemplateName").asText();
    cluster.client
        .resource(
            new ResourceClaimTemplateBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace("default")
                .endMetadata()
                .withNewSpec()
                .withNewSpec()
                .endSpec()
                .endSpec()
                .build())
        .create();
    cluster.start(Duration.ZERO);
    create(pod);
    assertThat(cluster.note("pod", "TemplateNotMade")).contains("is somebody else's");
    assertThat(template(name).getSpec().getSpec().getDevices()).isNull();
  }

  @Test
  void theGateOfAPodWhoseClaimIsNeverMadeFromItsTemplateIsRemovedInTheEnd() {
    cluster.start(NEVER);
    pod("default", "pod", 8);
    eventually().until(() -> templates("default").size() == 1);
    assertThat(cluster.gates("pod")).as("its claim may still come").containsExactly(Driver.ALLOCATION_GATE);
    cluster.stopControllers();
    cluster.start(Clock.offset(Clock.systemUTC(), Duration.ofHours(1)));
    eventually().until(() -> cluster.gates("pod").isEmpty());
  }

  private void copy(Pod pod, String name, Map<String, String> labels) {
    ResourceClaimTemplate template = template(templateOf(pod));
    cluster.client.resource(new ResourceClaimTemplateBuilder(template).withNewMetadata().withName(name)
        .withNamespace("default").withLabels(labels).endMetadata().build()).create();
  }

  private Pod pod(String namespace, String name, int gibibytes) {
    return create(converted(namespace, name, gibibytes));
  }

  private Pod create(ObjectNode pod) {
    return cluster.client.resource(JSON.convertValue(pod, Pod.class)).create();
  }

  /** As it comes out of admission. */
  private static ObjectNode converted(String namespace, String name, int gibibytes) {
    Pod asked =
        new PodBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace(namespace)
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .withName("cuda")
            .withNewResources()
            .addToLimits("aliyun.com/gpu-mem", new Quantity(Integer.toString(gibibytes)))
            .endResources()
            .endContainer()
            .endSpec()
            .build();
    JsonNode before = JSON.valueToTree(asked);
    return (ObjectNode) JsonPatch.apply(new PodMutation(ClaimLookup.NONE).mutate(before, namespace).patch(), before);
  }

  private static String templateOf(Pod pod) {
    return pod.getSpec().getResourceClaims().getFirst().getResourceClaimTemplateName();
  }

  private ResourceClaimTemplate template(String name) {
    return cluster.client.resources(ResourceClaimTemplate.class).inNamespace("default").withName(name).require();
  }

  private List<String> templates(String namespace) {
    return cluster.client.resources(ResourceClaimTemplate.class).inNamespace(namespace).list().getItems().stream()
        .map(template -> template.getMetadata().getName())
        .toList();
  }
}
