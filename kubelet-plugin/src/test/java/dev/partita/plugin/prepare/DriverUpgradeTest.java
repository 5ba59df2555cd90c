package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.dra.ClaimService;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A driver that is replaced between two readings of the node. */
class DriverUpgradeTest extends OnNodeOfPlugins {
  @Test
  void aClaimGetsTheFilesOfTheDriverThatIsThereNow() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    ClaimService.Outcome outcome =
        node.run(
            real -> real,
            plugin -> {
              rename("libcuda.so.580.1", "libcuda.so.590.2");
              rename("libnvidia-ml.so.580.1", "libnvidia-ml.so.590.2");
              return plugin.prepare(NodeOfPlugins.ref(claim));
            });
    assertThat(outcome).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.files("cdi").getFirst()).content().contains("libcuda.so.590.2").doesNotContain("580.1");
  }

  @Test
  void aClaimWaitsForADriverThatIsBeingInstalled() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    node.run(
        real -> real,
        plugin -> {
          rename("libnvidia-ml.so.580.1", "elsewhere");
          ClaimService.Outcome early = plugin.prepare(NodeOfPlugins.ref(claim));
          assertThat(early).isInstanceOfSatisfying(ClaimService.Failed.class,
              failed -> assertThat(failed.error()).contains("install the whole NVIDIA driver", "libnvidia-ml.so"));
          rename("elsewhere", "libnvidia-ml.so.580.1");
          assertThat(plugin.prepare(NodeOfPlugins.ref(claim))).isInstanceOf(ClaimService.Ready.class);
          return early;
        });
  }

  private void rename(String library, String to) {
    Path folder = root.resolve("driver/usr/lib64");
    try {
      Files.move(folder.resolve(library), folder.resolve(to));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
