package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.ClaimUnderTest;
import dev.partita.e2e.cluster.DependsOnVersion;
import dev.partita.e2e.cluster.NeedsSteadyController;
import dev.partita.e2e.cluster.OnOwnNode;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a container with a share of a card sees and may do. */
@OnRealCluster
class ShareIT {
  private static final Ask QUARTER = Ask.share("8Gi").cores(25).config("coreLimit: Hard");

  @Test
  void cudaAndNvidiaSmiShowTheQuotaAndNothingBeyondItCanBeHad(RealCluster cluster, Workspace workspace) {
    List<PodUnderTest> pods = new ArrayList<>();
    for (String node : cluster.quietNodes()) {
      pods.add(
          workspace.pod(
              "on-" + node,
              node,
              QUARTER,
              """
                  nvidia-smi --query-gpu=memory.total --format=csv,noheader
                  nvidia-smi
                  partita-probe info
                  partita-probe mem
                  partita-probe alloc 4Gi
                  partita-probe alloc 7Gi
                  partita-probe alloc 9Gi
                  echo "status $?"
                  """));
    }
    for (PodUnderTest pod : pods) {
      assertThat(pod.awaitLog())
          .contains("8192 MiB")
          .contains("8192MiB")
          // less what contexts take
          .containsPattern("device 0 uuid=GPU-\\S+ name=\"NVIDIA H200\" total=8589934592 free=[78]\\d{9}")
          .doesNotContain("device 1")
          .containsPattern("free=[78]\\d{9} total=8589934592")
          .contains("alloc 4294967296 CUDA_SUCCESS")
          .contains("alloc 7516192768 CUDA_SUCCESS")
          .contains("alloc 9663676416 CUDA_ERROR_OUT_OF_MEMORY")
          .contains("status 3");
    }
  }

  @Test
  void aNeighbourOnTheSameCardIsUnharmed(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    PodUnderTest steady =
        workspace.pod("steady", node, Ask.share("6Gi"), "exec partita-probe hold 4Gi").awaitLine("holding 4294967296");
    ClaimUnderTest claim = steady.claim();
    String card = claim.awaitAllocated().getFirst().getDevice();
    PodUnderTest greedy =
        workspace.pod("greedy", node, Ask.share("6Gi"),
            "partita-probe alloc 5Gi; partita-probe alloc 7Gi; partita-probe alloc 130Gi; true");
    assertThat(greedy.awaitLog()).contains("alloc 5368709120 CUDA_SUCCESS")
        .contains("alloc 7516192768 CUDA_ERROR_OUT_OF_MEMORY").contains("alloc 139586437120 CUDA_ERROR_OUT_OF_MEMORY");
    assertThat(steady.phase()).isEqualTo("Running");
    assertThat(steady.exec("partita-probe mem; partita-probe alloc 512Mi"))
        .containsPattern("free=[12]\\d{9} total=6442450944")
        .contains("alloc 536870912 CUDA_SUCCESS");
    assertThat(card).endsWith("-shared");
  }

  @Test
  @OnOwnNode // elsewhere another test's pod may make another card the fullest in between
  void sharesArePackedOntoOneCardWhileTheyFit(RealCluster cluster, Workspace workspace) {
    String node = cluster.ownNode();
    Ask packed = Ask.share("1Gi").config("placement: {gpus: Binpack}");
    PodUnderTest first = workspace.pod("first", node, packed, "exec sleep 600").awaitRunning();
    PodUnderTest second = workspace.pod("second", node, packed, "exec sleep 600").awaitRunning();
    assertThat(second.claim().awaitAllocated().getFirst().getDevice())
        .isEqualTo(first.claim().awaitAllocated().getFirst().getDevice());
    assertThat(second.claim().awaitAllocated().getFirst().getShareID())
        .isNotEqualTo(first.claim().awaitAllocated().getFirst().getShareID());
  }

  @Test
  void aPartOfACardInPercentIsTheBytesOfThatCard(RealCluster cluster, Workspace workspace) {
    Ask tenth = new Ask(Ask.ANY_SHARE, 1, Map.of(), "", "").config("memoryPercent: 10");
    long wholeMebibytes = ((RealCluster.CARD_MEMORY - RealCluster.CARD_RESERVED) / 10) >> 20;
    PodUnderTest pod = workspace.pod("tenth", cluster.quietNodes().getFirst(), tenth, "partita-probe info");
    assertThat(pod.awaitLog()).contains("total=" + (wholeMebibytes << 20) + " ");
  }

  @Test
  void theQuotaLiesReadOnlyInTheContainerWithHamisVariablesAsAMirror(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod("quota", cluster.quietNodes().getFirst(), QUARTER,
            "cat /etc/partita/shares/*/quota; env; touch /etc/partita/shares/*/quota || echo refused; exec sleep 600")
            .awaitLine("refused");
    String share = pod.claim().awaitAllocated().getFirst().getShareID();
    assertThat(pod.log())
        .contains("partita-quota 1\n")
        .contains("memory 8589934592\n")
        .contains("cores 25\n")
        .contains("core-limit hard\n")
        .contains("claim " + workspace.namespace() + "/" + pod.claim().name() + "\n")
        .containsPattern("CUDA_DEVICE_MEMORY_LIMIT_0=\\S+")
        .contains("CUDA_DEVICE_SM_LIMIT_0=25\n");
    assertThat(pod.exec("ls /etc/partita/shares")).contains(String.valueOf(share));
  }

  @Test
  @DependsOnVersion
  void theDeviceMetadataLiesReadOnlyWhereKubernetesHasIt(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    String root = "/var/run/kubernetes.io/dra-device-attributes";
    PodUnderTest pod = workspace.pod("metadata", node, QUARTER, "exec sleep 600").awaitRunning();
    ClaimUnderTest claim = pod.claim();
    assertThat(pod.deviceMetadata())
        .startsWith("{\n  \"kind\": \"DeviceMetadata\",\n  \"apiVersion\": \"metadata.resource.k8s.io/v1beta1\",\n")
        .contains("metadata.resource.k8s.io/v1alpha1", "\"name\": \"" + claim.name() + "\"",
            "\"namespace\": \"" + workspace.namespace() + "\"", "\"podClaimName\": \"gpu\"",
            "\"pool\": \"" + node + "/gpu\"",
            "\"name\": \"" + claim.awaitAllocated().getFirst().getDevice() + "\"", "\"int\": " + (8L << 30))
        .containsPattern("\"uuid\": \\{\\s*\"string\": \"GPU-")
        .containsPattern("\"coreLimit\": \\{\\s*\"int\": 25");
    assertThat(pod.exec("find " + root + " -type f; touch " + root
        + "/resourceclaimtemplates/gpu/gpu/other 2>&1 || echo refused"))
        .startsWith(root + "/resourceclaimtemplates/gpu/gpu/gpu.partita.dev-metadata.json\n")
        .endsWith("refused\n");

    ClaimUnderTest named = workspace.claim("named", Ask.wholeCards(1));
    PodUnderTest other = workspace.podOf(named, "by-name", node, "exec sleep 600").awaitRunning();
    assertThat(other.exec("cat " + root + "/resourceclaims/named/gpu/gpu.partita.dev-metadata.json"))
        .contains("\"string\": \"whole\"", "\"name\": \"named\"").doesNotContain("podClaimName", "coreLimit");
  }

  @Test
  void theVariablesAreOnlyAMirrorAndChangeNothing(RealCluster cluster, Workspace workspace) {
    PodUnderTest pod =
        workspace.pod(
            "mirror",
            cluster.quietNodes().getFirst(),
            Ask.share("2Gi"),
            "CUDA_DEVICE_MEMORY_LIMIT_0=100g partita-probe alloc 3Gi; echo status $?; env -i /usr/bin/partita-probe alloc 3Gi; echo status $?");
    assertThat(pod.awaitLog()).containsSubsequence("OUT_OF_MEMORY", "status 3", "OUT_OF_MEMORY", "status 3");
  }

  @Test
  @DependsOnVersion
  @NeedsSteadyController // one that is killed says no more what it has done
  void theClaimTellsWhereItIsAndWhatItsLimitsAre(RealCluster cluster, Workspace workspace) {
    String node = cluster.quietNodes().getFirst();
    ClaimUnderTest claim = workspace.pod("told", node, QUARTER, "exec sleep 600").awaitRunning().claim();
    AllocatedDeviceStatus device = claim.awaitDeviceStatus().getFirst();
    var result = claim.awaitAllocated().getFirst();
    assertThat(device.getDriver()).isEqualTo("gpu.partita.dev");
    assertThat(device.getPool()).isEqualTo(node + "/gpu");
    assertThat(device.getShareID()).isEqualTo(result.getShareID());
    assertThat(result.getConsumedCapacity())
        .containsEntry("memory", new Quantity("8Gi"))
        .containsEntry("cores", new Quantity("25"));
    assertThat(device.getConditions())
        .anySatisfy(
            condition -> {
              assertThat(condition.getType()).isEqualTo("Ready");
              assertThat(condition.getStatus()).isEqualTo("True");
              assertThat(condition.getMessage()).isNotBlank();
            });
    assertThat(String.valueOf(device.getData()))
        .contains("gpuUUID", "GPU-", "productName", "NVIDIA H200", "node", node, "memoryLimit", "coreLimit",
            "cdiDevice", "guarantee=memory=8Gi,cores=25", "enforcement=Interception");
    assertThat(workspace.awaitEvent("ResourceClaim", claim.name(), "Allocated").message()).contains(node);
    workspace.awaitEvent("ResourceClaim", claim.name(), "Prepared");
  }
}
