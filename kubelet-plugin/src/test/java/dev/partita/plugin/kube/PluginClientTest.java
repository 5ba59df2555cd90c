package dev.partita.plugin.kube;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.ShareConfigs;
import dev.partita.api.resize.GrantedSizes;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

  @Test
  void ofAClaimItReadsWhatIsPreparedByAndNothingThatAnybodyMayWriteThere() {
    String claim =
        """
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
             "metadata": {"name": "gpu", "namespace": "lab", "uid": "6e1b", "resourceVersion": "7"%s,
               "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"%s}}%s,
             "status": {"reservedFor": [{"resource": "pods", "name": "train", "uid": "77"}],
               "allocation": {"devices": {"results": [{"driver": "gpu.partita.dev", "device": "gpu-0"}], "config": [
                 {"source": "FromClaim", "requests": ["a"], "opaque": {"driver": "gpu.partita.dev", "parameters":
                   {"apiVersion": "gpu.partita.dev/v1alpha1", "kind": "GpuShareConfig", "priority": 1}}},
                 {"source": "FromClass", "opaque": {"driver": "example.com"%s}}]}%s}}}""";
    String labels = numbered("\"l%d\": \"\"", 60_000);
    String read =
        claim.formatted(
            ", \"labels\": {" + labels + "}, \"finalizers\": [\"a/b\"]", ", \"other\": {}, " + labels,
            ", \"spec\": {\"devices\": {\"requests\": [{\"name\": \"a\"}]}}",
            ", \"parameters\": [" + numbered("{}", 3_000) + "]", ", \"nodeSelector\": {\"nodeSelectorTerms\": []}");
    assertThat(reading.unmarshal(read, ResourceClaim.class))
        .isEqualTo(new KubernetesSerialization().unmarshal(claim.formatted("", "", "", "", ""), ResourceClaim.class));
  }

  @Test
  void ofTheMetadataOfAPodItReadsWhoItIs() {
    Pod pod = reading.unmarshal("""
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train", "namespace": "lab", "uid": "6e1b",
         "labels": {"app": "x"}, "annotations": {"a": "b"}, "ownerReferences": [{"name": "job"}]}}""", Pod.class);
    assertThat(pod.getMetadata())
        .isEqualTo(new ObjectMetaBuilder().withName("train").withNamespace("lab").withUid("6e1b").build());
  }

  @Test
  void anAnnotationThatNobodyTakesForRightIsCut() {
    ResourceClaim claim = reading.unmarshal("{\"metadata\": {\"annotations\": {\"" + Driver.GRANTED_SIZES_ANNOTATION
        + "\": \"" + "0:memory=8Gi,cores=40;".repeat(10_000) + "\"}}}", ResourceClaim.class);
    assertThat(claim.getMetadata().getAnnotations().get(Driver.GRANTED_SIZES_ANNOTATION)).hasSize(16 * 1024 + 1);
    assertThat(GrantedSizes.isOn(claim)).isFalse();
  }

  @Test
  void aConfigOfOursIsReadWhateverTheOrderOfItsFields() {
    assertThat(priority(configs(1, OURS_LAST.formatted(", \"priority\": 0")))).isZero();
    assertThat(priority(configs(1, OURS.formatted(", \"priority\": 0")))).isZero();
  }

  @Test
  void theLargestConfigThatIsRightIsRead() {
    String models = numbered("\"nvidia-model-%d\"", 64);
    assertThat(decoded(configs(1, OURS.formatted(", \"placement\": {\"models\": {\"choose\": [" + models
        + "]}, \"uuids\": {\"choose\": [" + numbered("\"GPU-00000000-1111-2222-3333-4444%08d\"", 64) + "], \"avoid\": ["
        + numbered("\"GPU-00000000-1111-2222-3333-5555%08d\"", 64) + "]}}")))).isInstanceOf(Decoded.Valid.class);
  }

  @Test
  void aConfigOfOursThatIsTooLargeIsNeitherKeptNorTakenForAnotherOne() {
    for (String parameters : List.of("[" + numbered("{}", 3_000) + "]",
        OURS_PARAMETERS.formatted(", \"coreLimit\": [" + numbered("{}", 1_001) + "]"),
        OURS_PARAMETERS.formatted(", \"" + "x".repeat(20_000) + "\": 1"))) {
      ResourceClaim claim =
          configs(1, "{\"parameters\": " + parameters + ", \"driver\": \"gpu.partita.dev\"}");
      assertThat(configOf(claim, 0).toString()).hasSizeLessThan(200);
      assertThat(decoded(claim)).isInstanceOfSatisfying(Decoded.Invalid.class,
          invalid -> assertThat(invalid.message()).contains("too many values: is not a known field"));
    }
  }

  /** Else the claim could not be read, and each try of it would keep others waiting. */
  @Test
  void aConfigOfOursThatIsNoKubernetesObjectIsRefusedAndItsClaimIsRead() {
    ResourceClaim claim = configs(1, OURS.formatted(", \"metadata\": 5"));
    assertThat(decoded(claim)).isInstanceOfSatisfying(Decoded.Invalid.class,
        invalid -> assertThat(invalid.message()).contains("metadata of another kind: is not a known field"));
  }

  @Test
  void ofManyLargeConfigsOfOneClaimOnlyTheFirstAreKept() {
    ResourceClaim claim = configs(32, OURS.formatted(", \"coreLimit\": [" + numbered("{}", 900) + "]"));
    assertThat(IntStream.range(0, 32).filter(i -> configOf(claim, i).toString().length() > 200)).hasSize(8);
    assertThat(decoded(claim)).isInstanceOf(Decoded.Invalid.class);
  }

  private static final String OURS_PARAMETERS =
      "{\"apiVersion\": \"gpu.partita.dev/v1alpha1\", \"kind\": \"GpuShareConfig\"%s}";

  private static final String OURS = "{\"driver\": \"gpu.partita.dev\", \"parameters\": " + OURS_PARAMETERS + "}";

  private static final String OURS_LAST =
      "{\"parameters\": " + OURS_PARAMETERS + ", \"driver\": \"gpu.partita.dev\"}";

  private static String numbered(String format, int count) {
    return IntStream.range(0, count).mapToObj(format::formatted).collect(Collectors.joining(","));
  }

  private ResourceClaim configs(int count, String opaque) {
    return reading.unmarshal("{\"status\": {\"allocation\": {\"devices\": {\"config\": ["
        + numbered("{\"source\": \"FromClaim\", \"opaque\": " + opaque + "}", count) + "]}}}}", ResourceClaim.class);
  }

  private static Object configOf(ResourceClaim claim, int index) {
    return Objects.requireNonNull(
        claim.getStatus().getAllocation().getDevices().getConfig().get(index).getOpaque().getParameters());
  }

  private static Decoded<GpuShareConfig> decoded(ResourceClaim claim) {
    return ShareConfigs.ofAllocation(claim.getStatus().getAllocation().getDevices().getConfig(), "a");
  }

  private static int priority(ResourceClaim claim) {
    return ((Decoded.Valid<GpuShareConfig>) decoded(claim)).value().priority();
  }
}
