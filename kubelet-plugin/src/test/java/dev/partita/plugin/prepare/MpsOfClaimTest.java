package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.byMps;
import dev.partita.plugin.TestClaims;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.share.HookLibraries;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The MPS daemon of a card runs as long as a claim has the card by MPS. */
class MpsOfClaimTest extends OnNodeOfPlugins {
  @Test
  void theFirstClaimOfACardHasItsDaemonBegunAndTheLastOneEndsIt() throws IOException {
    ResourceClaim first = prepared(0);
    ResourceClaim second = prepared(0);
    ResourceClaim elsewhere = prepared(1);
    assertThat(node.daemons.running).containsOnlyKeys("GPU-0", "GPU-1");
    assertThat(node.daemons.times).isEqualTo(2);
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.unprepare(elsewhere)).isEmpty();
    assertThat(node.daemons.running).containsOnlyKeys("GPU-0");
    assertThat(node.unprepare(second)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void noClientGetsMoreThanTheLargestClaimOfItsCardHas() throws IOException {
    prepared(0);
    assertThat(node.daemons.limits).containsEntry("GPU-0", "25 % 8192M");
    ResourceClaim larger = node.newClaim(List.of(byMps()), TestClaims.share(NodeOfPlugins.NODE, "a", 0, "16Gi", "50"));
    assertThat(node.prepare(larger)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.daemons.limits).containsEntry("GPU-0", "50 % 16384M");
    ResourceClaim without = node.newClaim(List.of(byMps()), TestClaims.share(NodeOfPlugins.NODE, "a", 0, "1Gi", ""));
    assertThat(node.prepare(without)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.daemons.limits).containsEntry("GPU-0", "100 % 16384M");
    assertThat(node.unprepare(without)).isEmpty();
    assertThat(node.unprepare(larger)).isEmpty();
    assertThat(node.daemons.limits).containsEntry("GPU-0", "25 % 8192M");
  }

  @Test
  void aContainerReachesTheDaemonAndIsHeldToItsMemoryByTheLibrary() throws IOException {
    prepared(0);
    assertThat(node.files("cdi").getFirst()).content()
        .contains("CUDA_MPS_PIPE_DIRECTORY=/tmp/nvidia-mps", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25",
            "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=8192M", root.resolve("run/mps/GPU-0/pipe").toString(),
            "\"containerPath\" : \"/dev/shm\"", HookLibraries.CUDA);
    assertThat(node.quotas()).singleElement().asString().contains("memory 8589934592\n", "cores 25\n",
        "core-limit none\n");
  }

  @Test
  void aClaimWhoseDaemonDoesNotBeginIsNotPreparedAndLeavesNothing() throws IOException {
    ResourceClaim claim = share(0);
    node.daemons.refusal = "it has a bad day";
    assertThat(node.prepare(claim)).isInstanceOfSatisfying(ClaimService.Failed.class, failed -> assertThat(
        failed.error()).isEqualTo("the MPS daemon of card GPU-0 (gpu-0) cannot be begun: it has a bad day"));
    assertThat(node.files("state/claims")).as("what may have begun is still to be ended").hasSize(1);
    node.daemons.refusal = "";
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void afterARebootTheDaemonIsBegunAgain() throws IOException {
    ResourceClaim claim = prepared(0);
    node.daemons.running.clear();
    node.bootId = "next boot";
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.daemons.running).containsOnlyKeys("GPU-0");
  }

  @Test
  void theDaemonStaysForAClaimWhoseRecordIsLostAndGoesWithIt() throws IOException {
    ResourceClaim first = prepared(0);
    ResourceClaim second = prepared(0);
    Files.write(root.resolve("state/claims/" + second.getMetadata().getUid() + ".claim"), new byte[0]);
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.daemons.running).as("programs of the second one use it").containsOnlyKeys("GPU-0");
    assertThat(node.unprepare(second)).isEmpty();
    assertThat(node.daemons.running).isEmpty();
    assertThat(node.files("run/mps")).isEmpty();
  }

  @Test
  void theDaemonStaysForAClaimThatHasLostItsSpecTooAndGoesWithIt() throws IOException {
    ResourceClaim first = prepared(0);
    ResourceClaim second = prepared(0);
    Files.write(root.resolve("state/claims/" + second.getMetadata().getUid() + ".claim"), new byte[0]);
    Files.delete(root.resolve("cdi/gpu.partita.dev-claim_" + second.getMetadata().getUid() + ".json"));
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.daemons.running).as("programs of the second one use it").containsOnlyKeys("GPU-0");
    assertThat(node.unprepare(second)).isEmpty();
    assertThat(node.daemons.running).isEmpty();
    assertThat(node.files("state/driver-notes")).isEmpty();
  }

  @Test
  void noOtherShareStandsBesideItAndTheReverse() throws IOException {
    ResourceClaim mps = prepared(0);
    ResourceClaim limited = node.newClaim(TestClaims.share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    assertThat(refusal(limited)).contains("is prepared by MPS for claim default/c0");
    assertThat(node.unprepare(mps)).isEmpty();
    assertThat(node.prepare(limited)).isInstanceOf(ClaimService.Ready.class);
    assertThat(refusal(share(0))).contains("is wanted by MPS, but claim default/c1", "which is not by MPS");
  }

  private String refusal(ResourceClaim claim) throws IOException {
    return ((ClaimService.Failed) node.prepare(claim)).error();
  }

  private ResourceClaim prepared(int card) throws IOException {
    ResourceClaim claim = share(card);
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    return claim;
  }

  private ResourceClaim share(int card) {
    return node.newClaim(List.of(byMps()), TestClaims.share(NodeOfPlugins.NODE, "a", card, "8Gi", "25"));
  }
}
