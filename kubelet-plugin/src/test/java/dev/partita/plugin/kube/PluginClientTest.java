package dev.partita.plugin.kube;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import org.junit.jupiter.api.Test;

class PluginClientTest {
  private final KubernetesSerialization reading = PluginClient.serialization();

  @Test
  void ofAPodItReadsWhichContainersThereAreAndUseWhichClaimsAndNothingElse() {
    String used =
        """
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "namespace": "lab", "uid": "6e1b"},
             "spec": {
               "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "share"}, {"name": "two", "resourceClaimName": "x"}],
               "initContainers": [{"name": "load", "resources": {"claims": [{"name": "two"}]}}],
               "containers": [{"name": "main", "resources": {"claims": [{"name": "gpu", "request": "big"}]}%s}]%s},
             "status": {
               "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "train-gpu-x2f"}],
               "extendedResourceClaimStatus": {"resourceClaimName": "train-extended", "requestMappings": [
                 {"containerName": "main", "resourceName": "nvidia.com/gpu", "requestName": "container-0-request-0"}]},
               "containerStatuses": [{"name": "main", "containerID": "containerd://0c1d"%s}]}}""";
    Pod pod =
        reading.unmarshal(
            used.formatted(
                ", \"image\": \"example\", \"env\": [{\"name\": \"A\", \"value\": \"b\"}]",
                ", \"volumes\": [{\"name\": \"v\", \"emptyDir\": {}}], \"nodeName\": \"node-a\"",
                ", \"ready\": true, \"state\": {\"running\": {\"startedAt\": \"2026-01-01T00:00:00Z\"}}"),
            Pod.class);
    assertThat(pod).isEqualTo(new KubernetesSerialization().unmarshal(used.formatted("", "", ""), Pod.class));
  }

  @Test
  void ofANodeItReadsWhoItIs() {
    Node node =
        reading.unmarshal("""
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-a", "uid": "77", "managedFields": [
              {"manager": "kubelet"}]}, "status": {"images": [{"names": ["example"]}]}}""", Node.class);
    assertThat(node.getMetadata().getUid()).isEqualTo("77");
    assertThat(node.getMetadata().getManagedFields()).isEmpty();
    assertThat(node.getStatus()).isNull();
  }
}
