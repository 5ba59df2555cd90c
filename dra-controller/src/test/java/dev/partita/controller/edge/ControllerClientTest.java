package dev.partita.controller.edge;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import org.junit.jupiter.api.Test;

class ControllerClientTest {
  private static final String POD =
      """
          {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": "p", "uid": "u", "labels": {"a": "b"},
             "managedFields": [{"manager": "kubelet", "operation": "Update", "fieldsV1": {"f:metadata": {"f:labels": {}}}}],
             "somethingNew": {"kept": true}},
           "spec": {"nodeName": "n"}}
          """;

  @Test
  void whoSetWhichFieldIsNeitherReadNorSentAndAllElseIs() {
    try (KubernetesClient client =
        ControllerClient.of(new ConfigBuilder().withMasterUrl("http://localhost:1").build())) {
      KubernetesSerialization serialization = client.getKubernetesSerialization();
      Pod pod = serialization.unmarshal(POD, Pod.class);
      assertThat(pod.getMetadata().getManagedFields()).isEmpty();
      assertThat(pod.getMetadata().getAdditionalProperties()).containsOnlyKeys("somethingNew");
      assertThat(pod.getMetadata().getLabels()).containsEntry("a", "b");
      assertThat(pod.getSpec().getNodeName()).isEqualTo("n");
      assertThat(serialization.asJson(pod)).doesNotContain("managedFields")
          .contains("\"somethingNew\":{\"kept\":true}");
    }
  }
}
