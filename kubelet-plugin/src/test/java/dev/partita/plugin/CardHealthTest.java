package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.NvlinkPeer;
import dev.partita.api.gpu.OtherServer;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.PluginInfo;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a node says of its cards, and hears of them. */
@MockApiServer(crud = true)
class CardHealthTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void linksFromCardToCardAreReportedWithTheirNumber() throws Exception {
    try (TestNode node = TestNode.withCards("node-n", "t4x2")) {
      Path conf = node.driverRoot().resolve("etc/partita-simulator/node.conf");
      Files.writeString(conf, "  nvlinks-to 0:2\n", StandardOpenOption.APPEND); // of the card that comes last
      try (KubeletPlugin _ = node.start(client)) {
        GpuNodeStatus status = api().statusWhen("node-n", s -> s.isReady());
        assertThat(status.gpus().getLast().nvlinkPeers()).containsExactly(new NvlinkPeer(0, 2));
        assertThat(status.gpus().getFirst().nvlinkDomain()).isNotNull()
            .isEqualTo(status.gpus().getLast().nvlinkDomain());
      }
    }
  }

  @Test
  void aCardThatAnotherDevicePluginHandsOutIsReportedSoUntilKubeletSaysOtherwise() throws Exception {
    try (TestNode node = TestNode.withCards("node-o", "t4x2")) {
      Path socket = node.root.resolve("pod-resources.sock");
      PluginSettings plugin = node.settings("--inventory-period=0.2", "--pod-resources-socket=" + socket);
      try (PodResourcesOfTest kubelet = new PodResourcesOfTest(socket);
          KubeletPlugin _ = TestNode.start(plugin, client)) {
        Gpu card = api().statusWhen("node-o", s -> s.isReady()).gpus().getLast();
        assertThat(card.servedBy()).isEmpty();
        kubelet.offer("nvidia.com/gpu", List.of(card.uuid()));
        assertThat(api().statusWhen("node-o", s -> !s.gpus().getLast().servedBy().isEmpty()).gpus())
            .extracting(Gpu::servedBy)
            .containsExactly(List.of(), List.of(new OtherServer("nvidia.com/gpu", true, 0)));
      }
      try (KubeletPlugin _ = TestNode.start(plugin, client)) { // kubelet does not answer it
        GpuNodeStatus status = api().statusWhen("node-o", s -> s.isReady());
        await().during(Duration.ofSeconds(1)).until(() -> !api().gpuNode("node-o").getStatus().gpus().getLast()
            .servedBy().isEmpty());
        assertThat(status.gpus().getFirst().servedBy()).isEmpty();
        try (PodResourcesOfTest kubelet = new PodResourcesOfTest(socket)) {
          kubelet.offer("nvidia.com/gpu", List.of());
          api().statusWhen("node-o", s -> s.gpus().getLast().servedBy().isEmpty());
        }
      }
    }
  }

  @Test
  void aFatalXidMakesACardUnhealthyAtOnceAndTellsItsClaims() throws Exception {
    try (TestNode node = TestNode.withCards("node-x", "h200x2");
        KubeletPlugin _ = TestNode.start(node.settings("--inventory-period=3600"), client)) {
      api().statusWhen("node-x", s -> s.isReady());
      ResourceClaim on = api().created(claim("on-it", share("node-x", "gpu", 1, "1Gi", "")));
      ResourceClaim beside = api().created(claim("beside-it", share("node-x", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(on).getError()).isEmpty();
      assertThat(node.prepare(beside).getError()).isEmpty();

      xid(node, 0, 31); // a program's own error
      xid(node, 1, 95);
      GpuNodeStatus status =
          api().statusWhen("node-x", s -> s.gpus().get(1).health().state() == GpuHealth.State.Unhealthy);
      assertThat(status.gpus().get(1).health().reason()).isEqualTo("XID 95");
      assertThat(status.gpus().get(0).health().reason()).isNull();
      assertThat(status.conditions().getFirst().getMessage()).isEqualTo("2 cards, 1 of them unhealthy");
      assertThat(api().eventWhen("on-it", "GpuUnhealthy", 1).getNote()).contains("NVIDIA H200",
          status.gpus().get(1).uuid(), "XID 95");
      assertThat(api().event("beside-it", "GpuUnhealthy")).isEmpty();
    }
  }

  @Test
  void theConditionsOfAClaimFollowTheHealthOfItsCard() throws Exception {
    try (TestNode node = TestNode.withCards("node-c", "h200x2")) {
      String root = node.driverRoot().toString();
      try (KubeletPlugin _ = node.start(client)) {
        api().statusWhen("node-c", s -> s.isReady());
        ResourceClaim on = api().created(claim("ill", share("node-c", "gpu", 1, "1Gi", "")));
        ResourceClaim beside = api().created(claim("well", share("node-c", "gpu", 0, "1Gi", "")));
        assertThat(node.prepare(on).getError()).isEmpty();
        assertThat(node.prepare(beside).getError()).isEmpty();
        awaitConditions("ill", "Ready=True/Prepared", "Healthy=True/CardHealthy");

        xid(node, 1, 95);
        awaitConditions("ill", "Ready=False/CardUnhealthy", "Healthy=False/XidError");
        assertThat(message("ill", "Ready")).contains("1 GiB of NVIDIA H200", "XID 95");
        assertThat(message("ill", "Healthy")).contains("XID 95", "nvidia-smi --gpu-reset");
        awaitConditions("well", "Ready=True/Prepared", "Healthy=True/CardHealthy");

        node.simulator("break", "--root", root, "--gpu", "1");
        await().atMost(SOON).until(() -> message("ill", "Healthy").contains("the card does not answer"));
        node.simulator("heal", "--root", root, "--gpu", "1");
        awaitConditions("ill", "Ready=True/Prepared", "Healthy=True/CardHealthy");
        assertThat(api().eventWhen("ill", "GpuHealthy", 1).getType()).isEqualTo("Normal");
        xid(node, 1, 48);
        awaitConditions("ill", "Ready=False/CardUnhealthy", "Healthy=False/XidError");
      }
      try (KubeletPlugin _ = node.start(client)) { // one that knows of no error
        awaitConditions("ill", "Ready=True/Prepared", "Healthy=True/CardHealthy");
      }
      assertThat(api().event("well", "GpuHealthy")).isEmpty();
    }
  }

  @Test
  void aCardThatIsToBeResetIsUnhealthyForTheSameErrorForTheNextPluginTooUntilItWasReset() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "t4x2")) {
      try (KubeletPlugin _ = node.start(client)) {
        api().statusWhen("node-r", s -> s.isReady());
        xid(node, 1, 95);
        GpuNodeStatus status = api().statusWhen("node-r", s -> "XID 95".equals(lastReason(s)));
        assertThat(status.gpus().getFirst().health()).isEqualTo(GpuHealth.HEALTHY);
        api().statusWhen("node-r", s -> String.valueOf(s.gpus().getLast().health().message())
            .contains("the driver asks for a reset"));
      }
      client.resource(api().gpuNode("node-r")).delete(); // so that what stands there is the next plugin's
      try (KubeletPlugin _ = node.start(client)) {
        GpuNodeStatus status = api().statusWhen("node-r", s -> s.gpus().size() == 2);
        assertThat(lastReason(status)).as("the reason by which a node evicts pods").isEqualTo("XID 95");
        reset(node, 1);
        api().statusWhen("node-r", s -> s.gpus().getLast().health().equals(GpuHealth.HEALTHY));
      }
    }
  }

  @Test
  void anErrorIsOverWithAResetDuringWhichNobodyAskedForTheCard() throws Exception {
    try (TestNode node = TestNode.withCards("node-q", "t4x2");
        KubeletPlugin _ = node.start(client)) {
      api().statusWhen("node-q", s -> s.isReady());
      xid(node, 1, 119);
      api().statusWhen("node-q", s -> String.valueOf(s.gpus().getLast().health().message())
          .contains("XID 119; the driver asks for a reset"));
      reset(node, 1); // at once: the card answers before and after it
      api().statusWhen("node-q", s -> s.gpus().getLast().health().equals(GpuHealth.HEALTHY));
    }
  }

  @Test
  void whatTheDriverAsksForAfterAnErrorIsReadAtOnce() throws Exception {
    try (TestNode node = TestNode.withCards("node-p", "t4x2");
        KubeletPlugin _ = TestNode.start(node.settings("--inventory-period=3600"), client)) {
      api().statusWhen("node-p", s -> s.isReady());
      xid(node, 1, 109); // no matter of the card by itself
      api().statusWhen("node-p", s -> "GpuResetRequired".equals(lastReason(s)));
    }
  }

  @Test
  void anOlderDriverDoesNotTellTheNextPluginThatACardIsToBeReset() throws Exception {
    try (TestNode node = TestNode.withCards("node-o", "t4x2", "560.35.05")) {
      try (KubeletPlugin _ = node.start(client)) {
        api().statusWhen("node-o", s -> s.isReady());
        xid(node, 1, 95);
        api().statusWhen("node-o", s -> "XID 95".equals(lastReason(s)));
      }
      try (KubeletPlugin _ = node.start(client)) {
        api().statusWhen("node-o", s -> lastReason(s) == null);
      }
    }
  }

  @Test
  void aCardThatSomebodyElseHasPutIntoMigModeIsNotOfferedUntilItIsOff() throws Exception {
    try (TestNode node = TestNode.withCards("node-mig", "h200x2");
        KubeletPlugin _ = node.start(client)) {
      api().statusWhen("node-mig", s -> s.isReady());
      String root = node.driverRoot().toString();
      node.simulator("mig", "--root", root, "--gpu", "0", "enable");
      GpuNodeStatus status =
          api().statusWhen("node-mig", s -> s.gpus().get(0).health().state() == GpuHealth.State.Unhealthy);
      assertThat(status.gpus().get(0).health().reason()).isEqualTo("MigModeIsOn");
      assertThat(status.gpus().get(0).health().message()).contains("-mig 0", "plugin.mig=true");
      assertThat(status.gpus().get(1).health().state()).isEqualTo(GpuHealth.State.Healthy);
      node.simulator("mig", "--root", root, "--gpu", "0", "disable");
      api().statusWhen("node-mig", s -> s.gpus().get(0).health().state() == GpuHealth.State.Healthy);
    }
  }

  @Test
  void aCardThatComesBackAfterAnXidIsHealthyAndHeardOfAgain() throws Exception {
    try (TestNode node = TestNode.withCards("node-y", "h200x2");
        KubeletPlugin _ = node.start(client)) {
      for (int xid : new int[]{48, 119}) {
        api().statusWhen("node-y",
            s -> s.isReady() && s.gpus().stream().allMatch(gpu -> gpu.health().reason() == null));
        xid(node, 1, xid);
        api().statusWhen("node-y", s -> ("XID " + xid).equals(s.gpus().get(1).health().reason()));
        node.simulator("break", "--root", node.driverRoot().toString(), "--gpu", "1");
        api().statusWhen("node-y", s -> Objects.requireNonNullElse(s.gpus().get(1).health().message(), "")
            .contains("XID 79; the card does not answer"));
        node.simulator("heal", "--root", node.driverRoot().toString(), "--gpu", "1");
      }
      api().statusWhen("node-y", s -> s.gpus().stream().allMatch(gpu -> gpu.health().reason() == null));
    }
  }

  @Test
  void whatNvmlTellsOfACardMakesItUnhealthyAndClearsByItself() throws Exception {
    try (TestNode node = TestNode.withCards("node-s", "h200x2");
        KubeletPlugin _ = node.start(client)) {
      Path conf = node.driverRoot().resolve("etc/partita-simulator/node.conf");
      String well = Files.readString(conf);
      api().statusWhen("node-s", s -> s.isReady());
      Files.writeString(conf, well + "  fabric in-progress\n"); // of the card that comes last
      GpuNodeStatus status = api().statusWhen("node-s", s -> "FabricNotReady".equals(lastReason(s)));
      assertThat(status.gpus().getLast().health().message()).contains("802", "nvidia-fabricmanager");
      assertThat(status.gpus().getFirst().health()).isEqualTo(GpuHealth.HEALTHY);
      Files.writeString(conf, well + "  fabric failed\n");
      api().statusWhen("node-s", s -> "FabricFailed".equals(lastReason(s)));
      Files.writeString(conf, well + "  row-remapping failed\n");
      api().statusWhen("node-s", s -> "RowRemappingFailed".equals(lastReason(s)));
      Files.writeString(conf, well + "  ecc-sram 1\n");
      api().statusWhen("node-s", s -> "UncorrectableEccErrors".equals(lastReason(s)));
      Files.writeString(conf, well + "  row-remapping pending\n");
      api().statusWhen("node-s", s -> "RowRemappingPending".equals(lastReason(s)));
      Files.writeString(conf, well + "  recovery drain-and-reset\n");
      api().statusWhen("node-s", s -> "DrainAndResetRequired".equals(lastReason(s)));
      Files.writeString(conf, well + "  recovery drain-p2p\n");
      api().statusWhen("node-s", s -> "PeerToPeerDrainRequired".equals(lastReason(s)));
      Files.writeString(conf, well + "  recovery reboot\n");
      api().statusWhen("node-s", s -> "NodeRebootRequired".equals(lastReason(s)));
      Files.writeString(conf, well + "  brake thermal\n  fabric completed\n");
      api().statusWhen("node-s", s -> lastReason(s) == null);
    }
  }

  private static @Nullable String lastReason(GpuNodeStatus status) {
    return status.gpus().getLast().health().reason();
  }

  @Test
  void xidErrorsAreHeardOfAgainAfterNvmlHasGivenUpWaiting() throws Exception {
    try (TestNode node = TestNode.withCards("node-z", "t4x2");
        KubeletPlugin _ = node.start(client)) {
      String root = node.driverRoot().toString();
      api().statusWhen("node-z", s -> s.isReady());
      node.simulator("fault", "--root", root, "--function", "nvmlEventSetWait_v2", "--error", "15", "--times", "1");
      await().atMost(Duration.ofSeconds(20)).until(() -> node.simulator("fault", "--root", root, "--list"),
          faults -> faults.contains("1 of "));
      // What is raised before the next set is made is lost.
      await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () -> {
                xid(node, 1, 119);
                return "XID 119".equals(
                    Objects.requireNonNull(api().gpuNode("node-z").getStatus()).gpus().get(1).health().reason());
              });
    }
  }

  @Test
  void reportsTheCardsAndTheirHealthAndIsRegistered() throws Exception {
    String nodeUid =
        client.resource(new NodeBuilder().withNewMetadata().withName("node-a").endMetadata().build()).create()
            .getMetadata().getUid();
    try (TestNode node = TestNode.withCards("node-a", "h200x2,t4x1");
        KubeletPlugin _ = node.start(client)) {
      PluginInfo info = node.register();
      assertThat(info.getType()).isEqualTo("DRAPlugin");
      assertThat(info.getName()).isEqualTo("gpu.partita.dev");
      assertThat(info.getSupportedVersionsList()).containsExactly("v1.DRAPlugin", "v1beta1.DRAPlugin",
          "v1.DRAResourceHealth",
          "v1alpha1.DRAResourceHealth");
      assertThat(Files.getPosixFilePermissions(Path.of(info.getEndpoint())))
          .isEqualTo(PosixFilePermissions.fromString("rw-------"));

      GpuNodeStatus status = api().statusWhen("node-a", s -> s.isReady());
      assertThat(status.models()).isEqualTo("2x h200, 1x t4");
      assertThat(status.driverVersion()).isEqualTo("580.95.05");
      assertThat(status.gpus()).extracting("productName").startsWith("NVIDIA H200");
      assertThat(status.gpus().getFirst().memoryBytes()).isGreaterThan(140L << 30);
      assertThat(Objects.requireNonNull(status.gpus().getFirst().reserved()).driverBytes()).isEqualTo(603L << 20);
      assertThat(status.gpus().getFirst().pciBusId()).matches("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
      assertThat(status.gpus().getFirst().pcieRoot()).matches("pci[0-9a-f]{4}:[0-9a-f]{2}");
      assertThat(status.gpus().getFirst().nvlinkDomain()).isNotNull().isEqualTo(status.gpus().get(1).nvlinkDomain());
      assertThat(status.gpus().get(2).nvlinkDomain()).isNull();
      assertThat(api().gpuNode("node-a").getMetadata().getOwnerReferences()).extracting("uid").containsExactly(nodeUid);

      node.simulator("break", "--root", node.driverRoot().toString(), "--gpu", "1");
      GpuNodeStatus broken = api().statusWhen("node-a",
          s -> Objects.requireNonNullElse(s.gpus().get(1).health().message(), "").contains("does not answer"));
      // as the reading or the event came first
      assertThat(broken.gpus().get(1).health().reason()).isIn("GpuIsLost", "XID 79");
      assertThat(broken.gpus()).extracting("index").containsExactly(0, 1, 2);
      node.simulator("heal", "--root", node.driverRoot().toString(), "--gpu", "1");
      api().statusWhen("node-a", s -> s.gpus().get(1).health().state() == GpuHealth.State.Healthy);
    }
  }

  @Test
  void staysUpWithoutADriverSaysWhyAndFindsOneThatComesLater() throws Exception {
    try (TestNode node = TestNode.withoutDriver("node-b");
        KubeletPlugin _ = node.start(client)) {
      GpuNodeStatus status = api().statusWhen("node-b", s -> !s.conditions().isEmpty());
      assertThat(status.isReady()).isFalse();
      assertThat(status.conditions().getFirst().getReason()).isEqualTo("NoDriver");
      assertThat(status.conditions().getFirst().getMessage()).contains("no libcuda.so", "install the NVIDIA driver");
      Path bus = Files.createDirectories(node.driverRoot().resolve("sys/bus"));
      api().statusWhen("node-b", s -> s.conditions().getFirst().getReason().equals("NoGpus"));
      Path card = Files.createDirectories(bus.resolve("pci/devices/0000:18:00.0"));
      Files.writeString(card.resolve("class"), "0x030200\n");
      Files.writeString(card.resolve("vendor"), "0x10de\n");
      assertThat(api().statusWhen("node-b", s -> s.conditions().getFirst().getReason().equals("NoDriver")).conditions()
          .getFirst().getMessage()).startsWith("cards of NVIDIA's on the node's PCI bus: 1; no libcuda.so");

      TestNode.withCards("unused", "t4x1").close();
      node.simulator("install", "--root", node.driverRoot().toString(), "--node", "node-b", "--gpus", "t4x1");
      api().statusWhen("node-b", GpuNodeStatus::isReady);
    }
  }

  private void awaitConditions(String claim, String... conditions) {
    await().atMost(SOON).untilAsserted(
        () -> assertThat(conditions(claim)).extracting(c -> c.getType() + "=" + c.getStatus() + "/" + c.getReason())
            .containsExactly(conditions));
  }

  private String message(String claim, String type) {
    return conditions(claim).stream().filter(c -> c.getType().equals(type)).map(Condition::getMessage).findFirst()
        .orElseThrow();
  }

  /** Of the claim's one device. */
  private List<Condition> conditions(String claim) {
    List<AllocatedDeviceStatus> devices = api().stored(claim).getStatus().getDevices();
    return devices == null || devices.isEmpty() ? List.of() : devices.getFirst().getConditions();
  }

  private static void xid(TestNode node, int gpu, int xid) throws Exception {
    node.simulator("xid", "--root", node.driverRoot().toString(), "--gpu", String.valueOf(gpu), "--xid",
        String.valueOf(xid));
  }

  private static void reset(TestNode node, int gpu) throws Exception {
    node.simulator("reset", "--root", node.driverRoot().toString(), "--gpu", String.valueOf(gpu));
  }

  private TestApi api() {
    return new TestApi(client);
  }
}
