package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.dra.ClaimService;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Vulkan, EGL and OptiX find a whole card, and no share, since nothing would hold to it what they allocate. */
class GraphicsOfClaimTest extends OnNodeOfPlugins {
  private static final String VULKAN = "/usr/share/vulkan/icd.d/nvidia_icd.json";

  @BeforeEach
  void installVulkan() throws IOException {
    Path file = root.resolve("driver" + VULKAN);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "{}");
  }

  @Test
  void aContainerWithAWholeCardIsToldOfVulkansLibrary() throws IOException {
    assertThat(specOf(whole(NodeOfPlugins.NODE, "a", 0))).contains("/run/driver" + VULKAN,
        "/etc/vulkan/icd.d/nvidia_icd.json");
  }

  @Test
  void aContainerWithAShareIsNot() throws IOException {
    assertThat(specOf(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""))).doesNotContain("nvidia_icd");
  }

  private String specOf(DeviceRequestAllocationResult result) throws IOException {
    ResourceClaim claim = node.newClaim(result);
    ClaimService.Outcome outcome = node.run(real -> real, plugin -> plugin.prepare(NodeOfPlugins.ref(claim)));
    assertThat(outcome).isInstanceOf(ClaimService.Ready.class);
    return Files.readString(node.files("cdi").getFirst());
  }
}
