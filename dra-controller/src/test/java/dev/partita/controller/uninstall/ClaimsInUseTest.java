package dev.partita.controller.uninstall;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimsInUseTest {
  @Test
  void aClaimOfOursThatAPodHasIsInUse() {
    assertThat(ClaimsInUse.among(List.of(claim("one", "gpu.partita.dev", "trains"))).names())
        .containsExactly("team/one (pod trains)");
  }

  @Test
  void neitherAnotherDriversNorOneThatNobodyHasNorOneThatIsNotAllocatedIs() {
    ResourceClaim notAllocated =
        new ResourceClaimBuilder().withNewMetadata().withNamespace("team").withName("new").endMetadata().build();
    ResourceClaim released =
        new ResourceClaimBuilder(claim("idle", "gpu.partita.dev", "x")).editStatus().withReservedFor(List.of())
            .endStatus().build();
    assertThat(ClaimsInUse.among(List.of(claim("other", "gpu.nvidia.com", "trains"), released, notAllocated)).isEmpty())
        .isTrue();
  }

  @Test
  void theRefusalNamesTenOfThem() {
    List<ResourceClaim> many =
        IntStream.range(10, 25).mapToObj(i -> claim("claim-" + i, "gpu.partita.dev", "pod-" + i)).toList();
    assertThat(ClaimsInUse.among(many).refusal())
        .startsWith("Partita is not uninstalled: pods use 15 claims of it, and cannot end once the plugins are gone. ")
        .contains("\n  team/claim-10 (pod pod-10)\n", "\n  team/claim-19 (pod pod-19)\n").endsWith("\n  and 5 more");
  }

  static ResourceClaim claim(String name, String driver, String pod) {
    return new ResourceClaimBuilder().withNewMetadata().withNamespace("team").withName(name).endMetadata()
        .withNewStatus().withNewAllocation().withNewDevices()
        .addNewResult().withRequest("gpu").withDriver(driver).withPool("node/gpu").withDevice("gpu-0").endResult()
        .endDevices().endAllocation()
        .addNewReservedFor().withResource("pods").withName(pod).withUid("uid-" + pod).endReservedFor()
        .endStatus().build();
  }
}
