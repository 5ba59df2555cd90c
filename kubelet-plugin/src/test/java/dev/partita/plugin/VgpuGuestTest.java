package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.nvml.CardFigure;
import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.CardReading;
import dev.partita.plugin.nvml.CardSigns;
import dev.partita.plugin.nvml.NvmlException;
import dev.partita.plugin.nvml.jna.NvmlLibrary;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A virtual machine that has an NVIDIA vGPU, as far as it can be played: a card whose driver answers that it does not
 * support what nvml.h and NVIDIA's guide to vGPU leave to the host.
 */
@MockApiServer(crud = true)
class VgpuGuestTest {
  /** Of MIG, links, ECC, power and temperature, events of the card, and what processes other than CUDA's own have. */
  private static final List<String> LEFT_TO_THE_HOST = List.of("nvmlDeviceGetMigMode", "nvmlDeviceGetMaxMigDeviceCount",
      "nvmlDeviceGetGpuInstanceProfileInfoV", "nvmlDeviceGetGpuInstancePossiblePlacements_v2",
      "nvmlDeviceGetMemoryAffinity", "nvmlDeviceGetNvLinkState", "nvmlDeviceGetNvLinkRemoteDeviceType",
      "nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetGpuFabricInfo", "nvmlDeviceGetPcieReplayCounter",
      "nvmlDeviceGetMemoryErrorCounter", "nvmlDeviceGetRemappedRows", "nvmlDeviceGetFieldValues",
      "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetTotalEnergyConsumption",
      "nvmlDeviceGetTemperature", "nvmlDeviceRegisterEvents", "nvmlGpmSampleGet",
      "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v3",
      "nvmlDeviceGetProcessUtilization");

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void theCardIsPublishedWithWhatItsDriverTellsAndSharesAreCutOfIt() throws Exception {
    try (TestNode node = guest("node-g"); KubeletPlugin _ = TestNode.start(node.settings("--mig"), client)) {
      TestApi api = new TestApi(client);
      Gpu card = api.statusWhen("node-g", s -> s.isReady()).gpus().getFirst();
      assertThat(card.health()).isEqualTo(GpuHealth.HEALTHY);
      assertThat(card.product().productName()).contains("H200");
      assertThat(card.memoryBytes()).isGreaterThan(140L << 30);
      assertThat(card.migProfiles()).isEmpty();
      assertThat(card.staticMigInstances()).isEmpty();
      assertThat(card.topology().nvlinkDomain()).isNull();
      assertThat(card.topology().nvlinkPeers()).isEmpty();

      ResourceClaim claim = api.created(claim("part", share("node-g", "gpu", 0, "8Gi", "25")));
      assertThat(node.prepare(claim).getError()).isEmpty();
      ResourceClaim refused = api.created(claim("refused", instance("node-g", "gpu", 0, "1g-18gb-6")));
      assertThat(node.prepare(refused).getError()).contains("cannot be cut into such MIG instances");
    }
  }

  @Test
  void nothingIsToldOfWhatTheDriverDoesNotTell() throws IOException, InterruptedException, NvmlException {
    try (TestNode node = guest("node-f");
        CardReader nvml =
            NvmlLibrary.open(node.driverRoot().resolve("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05"))) {
      CardReading.Card card = nvml.read().cards().getFirst();
      assertThat(card.mig()).isEqualTo(CardReading.Mig.NONE);
      assertThat(card.topology().nvlink()).isEqualTo(CardReading.Nvlink.NONE);
      assertThat(card.signs().recovery()).isEqualTo(CardSigns.Recovery.NOT_TOLD);
      assertThat(nvml.figures().get(card.uuid())).containsOnlyKeys(CardFigure.MEMORY_USED_BYTES,
          CardFigure.MEMORY_FREE_BYTES, CardFigure.UTILIZATION_PERCENT, CardFigure.MEMORY_UTILIZATION_PERCENT,
          CardFigure.ENCODER_PERCENT, CardFigure.DECODER_PERCENT, CardFigure.SM_CLOCK_HERTZ,
          CardFigure.MEMORY_CLOCK_HERTZ);
      assertThat(nvml.users(card.uuid())).isEmpty();
    }
  }

  private static TestNode guest(String name) throws IOException, InterruptedException {
    TestNode node = TestNode.withCards(name, "h200x1");
    for (String function : LEFT_TO_THE_HOST) {
      node.simulator("fault", "--root", node.driverRoot().toString(), "--function", function, "--error",
          String.valueOf(NvmlException.NOT_SUPPORTED));
    }
    return node;
  }
}
