package dev.partita.plugin.allocation;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.GpuProduct;
import dev.partita.api.gpu.GpuTopology;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.cdi.driver.DriverFiles;
import dev.partita.plugin.claim.MetadataNames;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** Whatever an allocation says, reading it gives grants within the card, or the reason why it is refused. */
class AllocationDecoderFuzzTest {
  private static final JsonMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();
  private static final long MEMORY = 80L << 30;
  private static final Gpu CARD =
      new Gpu(0, 0, "GPU-0", GpuProduct.named("NVIDIA H100", "Nvidia", "Hopper", "9.0"), MEMORY, GpuTopology.UNKNOWN,
          GpuHealth.HEALTHY);
  private static final Inventory.Cards CARDS =
      new Inventory.Cards(
          new DriverFiles("580.1", "/usr/lib", List.of(), List.of(), List.of(), List.of(), new TreeMap<>()), "580.1",
          Optional.empty(), List.of(CARD));

  @FuzzTest(maxDuration = "10s")
  void anyAllocationGivesGrantsWithinTheCardOrAReason(byte[] document) {
    ResourceClaim claim;
    try {
      JsonNode tree = JSON.readTree(document);
      dropNulls(tree);
      claim = JSON.treeToValue(tree, ResourceClaim.class);
    } catch (IOException | IllegalArgumentException notAClaim) {
      return;
    }
    if (claim == null) {
      return;
    }
    switch (AllocationDecoder.read(claim, "node-0/gpu", CARDS, GpuNodeSpec.DEFAULT)) {
      case AllocationDecoder.Refused(String reason) -> assertThat(reason).isNotBlank();
      case AllocationDecoder.Granted(List<Grant> grants, MetadataNames _) ->
          assertThat(grants)
              .allSatisfy(
                  grant -> {
                    assertThat(grant.shareKey()).matches("[a-z0-9-]{1,64}");
                    grant.share().ifPresent(share -> assertThat(share.physicalBytes()).isBetween(1L, MEMORY));
                  });
    }
  }

  /** The API server sends no null in the place of an object. */
  private static void dropNulls(JsonNode tree) {
    for (Iterator<JsonNode> children = tree.elements(); children.hasNext();) {
      JsonNode child = children.next();
      if (child.isNull()) {
        children.remove();
      } else {
        dropNulls(child);
      }
    }
  }
}
