package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.config;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.api.node.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiJson;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.Mount;
import k8s.io.kubelet.pkg.apis.dra.v1.Device;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import k8s.io.kubelet.pkg.apis.pluginregistration.v1.PluginInfo;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.EnableKubernetesMockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

@EnableKubernetesMockClient(crud = true)
class KubeletPluginTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void reportsTheCardsAndTheirHealthAndIsRegistered() throws Exception {
    String nodeUid =
        client.resource(new NodeBuilder().withNewMetadata().withName("node-a").endMetadata().build()).create().getMetadata().getUid();
    try (TestNode node = TestNode.withCards("node-a", "h200x2,t4x1");
        KubeletPlugin _ = node.start(client)) {
      PluginInfo info = node.register();
      assertThat(info.getType()).isEqualTo("DRAPlugin");
      assertThat(info.getName()).isEqualTo("gpu.partita.dev");
      assertThat(info.getSupportedVersionsList()).containsExactly("v1.DRAPlugin", "v1beta1.DRAPlugin");
      assertThat(Files.getPosixFilePermissions(Path.of(info.getEndpoint()))).isEqualTo(PosixFilePermissions.fromString("rw-------"));

      GpuNodeStatus status = statusWhen("node-a", s -> s.isReady());
      assertThat(status.models()).isEqualTo("2x h200, 1x t4");
      assertThat(status.driverVersion()).isEqualTo("580.95.05");
      assertThat(status.gpus()).extracting("productName").startsWith("NVIDIA H200");
      assertThat(status.gpus().getFirst().memoryBytes()).isGreaterThan(140L << 30);
      assertThat(Objects.requireNonNull(status.gpus().getFirst().reserved()).driverBytes()).isEqualTo(603L << 20);
      assertThat(status.gpus().getFirst().pciBusId()).matches("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
      assertThat(status.gpus().getFirst().pcieRoot()).matches("pci[0-9a-f]{4}:[0-9a-f]{2}");
      assertThat(status.gpus().getFirst().nvlinkDomain()).isNotNull().isEqualTo(status.gpus().get(1).nvlinkDomain());
      assertThat(status.gpus().get(2).nvlinkDomain()).isNull();
      assertThat(gpuNode("node-a").getMetadata().getOwnerReferences()).extracting("uid").containsExactly(nodeUid);

      node.simulator("break", "--root", node.driverRoot().toString(), "--gpu", "1");
      GpuNodeStatus broken = statusWhen("node-a", s -> Objects.requireNonNullElse(s.gpus().get(1).health().message(), "").contains("does not answer"));
      assertThat(broken.gpus().get(1).health().reason()).isIn("GpuIsLost", "XID 79"); // as the reading or the event came first
      assertThat(broken.gpus()).extracting("index").containsExactly(0, 1, 2);
      node.simulator("heal", "--root", node.driverRoot().toString(), "--gpu", "1");
      statusWhen("node-a", s -> s.gpus().get(1).health().state() == GpuHealth.State.Healthy);
    }
  }

  @Test
  void aFatalXidMakesACardUnhealthyAtOnceAndTellsItsClaims() throws Exception {
    try (TestNode node = TestNode.withCards("node-x", "h200x2");
        KubeletPlugin _ = KubeletPlugin.start(node.settings().inventoryPeriod(Duration.ofHours(1)).build(), client)) {
      statusWhen("node-x", s -> s.isReady());
      ResourceClaim on = created(claim("on-it", share("node-x", "gpu", 1, "1Gi", "")));
      ResourceClaim beside = created(claim("beside-it", share("node-x", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(on).getError()).isEmpty();
      assertThat(node.prepare(beside).getError()).isEmpty();

      xid(node, 0, 31); // a program's own error
      xid(node, 1, 95);
      GpuNodeStatus status = statusWhen("node-x", s -> s.gpus().get(1).health().state() == GpuHealth.State.Unhealthy);
      assertThat(status.gpus().get(1).health().reason()).isEqualTo("XID 95");
      assertThat(status.gpus().get(0).health().reason()).isNull();
      assertThat(status.conditions().getFirst().getMessage()).isEqualTo("2 cards, 1 of them unhealthy");
      assertThat(eventWhen("on-it", "GpuUnhealthy", 1).getNote()).contains("NVIDIA H200", status.gpus().get(1).uuid(), "XID 95");
      assertThat(event("beside-it", "GpuUnhealthy")).isEmpty();
    }
  }

  @Test
  void aCardThatComesBackAfterAnXidIsHealthyAndHeardOfAgain() throws Exception {
    try (TestNode node = TestNode.withCards("node-y", "h200x2");
        KubeletPlugin _ = node.start(client)) {
      for (int xid : new int[] {48, 119}) {
        statusWhen("node-y", s -> s.isReady() && s.gpus().stream().allMatch(gpu -> gpu.health().reason() == null));
        xid(node, 1, xid);
        statusWhen("node-y", s -> ("XID " + xid).equals(s.gpus().get(1).health().reason()));
        node.simulator("break", "--root", node.driverRoot().toString(), "--gpu", "1");
        statusWhen("node-y", s -> Objects.requireNonNullElse(s.gpus().get(1).health().message(), "").contains("XID 79; the card does not answer"));
        node.simulator("heal", "--root", node.driverRoot().toString(), "--gpu", "1");
      }
      statusWhen("node-y", s -> s.gpus().stream().allMatch(gpu -> gpu.health().reason() == null));
    }
  }

  @Test
  void xidErrorsAreHeardOfAgainAfterNvmlHasGivenUpWaiting() throws Exception {
    try (TestNode node = TestNode.withCards("node-z", "t4x2");
        KubeletPlugin _ = node.start(client)) {
      String root = node.driverRoot().toString();
      statusWhen("node-z", s -> s.isReady());
      node.simulator("fault", "--root", root, "--function", "nvmlEventSetWait_v2", "--error", "15", "--times", "1");
      await().atMost(Duration.ofSeconds(20)).until(() -> node.simulator("fault", "--root", root, "--list"), faults -> faults.contains("1 of "));
      // What is raised before the next set is made is lost.
      await()
          .atMost(Duration.ofSeconds(20))
          .until(
              () -> {
                xid(node, 1, 119);
                return "XID 119".equals(Objects.requireNonNull(gpuNode("node-z").getStatus()).gpus().get(1).health().reason());
              });
    }
  }

  private static void xid(TestNode node, int gpu, int xid) throws Exception {
    node.simulator("xid", "--root", node.driverRoot().toString(), "--gpu", String.valueOf(gpu), "--xid", String.valueOf(xid));
  }

  @Test
  void staysUpWithoutADriverSaysWhyAndFindsOneThatComesLater() throws Exception {
    try (TestNode node = TestNode.withoutDriver("node-b");
        KubeletPlugin _ = node.start(client)) {
      GpuNodeStatus status = statusWhen("node-b", s -> !s.conditions().isEmpty());
      assertThat(status.isReady()).isFalse();
      assertThat(status.conditions().getFirst().getReason()).isEqualTo("NoDriver");
      assertThat(status.conditions().getFirst().getMessage()).contains("no libcuda.so", "install the NVIDIA driver");

      TestNode.withCards("unused", "t4x1").close();
      node.simulator("install", "--root", node.driverRoot().toString(), "--node", "node-b", "--gpus", "t4x1");
      statusWhen("node-b", GpuNodeStatus::isReady);
    }
  }

  @Test
  void preparesTwoSharesOfOneCardInOneClaimApart() throws Exception {
    try (TestNode node = TestNode.withCards("node-c", "h200x1");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim claim =
          created(claim("two", share("node-c", "big", 0, "8Gi", "25"), share("node-c", "small/first", 0, "1Gi", "")));

      NodePrepareResourceResponse response = node.prepare(claim);
      assertThat(response.getError()).isEmpty();
      assertThat(response.getDevicesList()).hasSize(2);
      assertThat(response.getDevices(0).getRequestNamesList()).containsExactly("big");
      assertThat(response.getDevices(1).getRequestNamesList()).containsExactly("small");
      assertThat(response.getDevices(0).getPoolName()).isEqualTo("node-c/gpu");
      assertThat(response.getDevices(0).getDeviceName()).isEqualTo("gpu-0-shared");
      assertThat(response.getDevicesList()).extracting(Device::getShareId).doesNotHaveDuplicates().doesNotContain("");
      assertThat(response.getDevicesList()).flatExtracting(Device::getCdiDeviceIdsList).doesNotHaveDuplicates();

      String share = response.getDevices(0).getShareId();
      String uid = claim.getMetadata().getUid();
      assertThat(Files.readString(node.root.resolve("state/shares/" + uid + "/" + share + "/quota")))
          .startsWith("partita-quota 1\ngeneration 1\nclaim default/two\nclaim-uid " + uid + "\ngpu GPU-")
          .endsWith("memory 8589934592\ncores 25\ncore-limit hard\npriority 1\nend\n");
      Path usage = node.root.resolve("run/shares/" + uid + "/" + share + "/usage");
      assertThat(Files.size(usage)).isEqualTo(528384);
      assertThat(Files.getPosixFilePermissions(usage)).isEqualTo(PosixFilePermissions.fromString("rw-rw-rw-"));

      CdiSpec spec = spec(node, claim);
      CdiDevice device = spec.devices().getFirst();
      assertThat(spec.kind().idOf(device.name())).isEqualTo(response.getDevices(0).getCdiDeviceIds(0));
      assertThat(device.containerEdits().env()).contains("CUDA_DEVICE_MEMORY_LIMIT_0=9216m", "CUDA_DEVICE_SM_LIMIT_0=25");
      assertThat(device.containerEdits().deviceNodes().getFirst().hostPath()).contains("/dev/null");
      assertThat(device.containerEdits().deviceNodes().getFirst().major()).isEqualTo(1);
      assertThat(device.containerEdits().deviceNodes().getFirst().minor()).isEqualTo(3);
      assertThat(device.containerEdits().mounts())
          .extracting(Mount::containerPath)
          .contains(
              "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
              "/usr/lib/partita/libcuda-real.so.1",
              "/etc/partita/shares/" + share,
              "/run/partita/shares/" + share + "/usage");
      assertThat(spec.containerEdits().mounts()).extracting(Mount::containerPath).contains("/usr/bin/nvidia-smi");
      assertThat(spec.containerEdits().env())
          .containsExactly(
              "NVIDIA_VISIBLE_DEVICES=void",
              "TRITON_LIBCUDA_PATH=" + device.containerEdits().mounts().stream().map(Mount::containerPath).filter(path -> path.endsWith("/libcuda.so.1")).findFirst().orElseThrow().replace("/libcuda.so.1", ""));
      assertThat(spec.containerEdits().deviceNodes()).extracting("path").contains("/dev/nvidiactl");
      assertThat(device.containerEdits().hooks())
          .singleElement()
          .satisfies(
              hook -> {
                assertThat(hook.hookName()).isEqualTo("createContainer");
                assertThat(Path.of(hook.path())).isExecutable().startsWith(node.root.resolve("opt/lib"));
                assertThat(hook.args()).containsExactly("partita-cdi-hook", "cover", "--folder", "/usr/lib/x86_64-linux-gnu");
              });

      assertThat(node.unprepare(claim)).isEmpty();
      assertThat(node.cdiFile(claim)).doesNotExist();
      assertThat(node.record(claim)).doesNotExist();
      assertThat(node.root.resolve("state/shares/" + uid)).doesNotExist();
      assertThat(node.root.resolve("run/shares/" + uid)).doesNotExist();
      assertThat(node.unprepare(claim)).isEmpty();
    }
  }

  @Test
  void aWholeCardComesWithTheDriversOwnFilesOnly() throws Exception {
    try (TestNode node = TestNode.withCards("node-d", "h100x2");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim claim = created(claim("whole", whole("node-d", "gpu", 1)));
      assertThat(node.prepare(claim).getError()).isEmpty();
      assertThat(Files.readString(node.cdiFile(claim))).doesNotContain("shadow").doesNotContain("/etc/partita/shares");
      CdiDevice device = spec(node, claim).devices().getFirst();
      assertThat(device.containerEdits().env()).isEmpty();
      assertThat(device.containerEdits().deviceNodes()).extracting("path").containsExactly("/dev/nvidia1");
      assertThat(device.containerEdits().mounts())
          .extracting(Mount::containerPath)
          .contains("/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
      assertThat(device.containerEdits().hooks()).isEmpty();
      assertThat(spec(node, claim).containerEdits().hooks())
          .singleElement()
          .satisfies(
              hook ->
                  assertThat(hook.args())
                      .startsWith("partita-cdi-hook", "place", "--folder", "/usr/lib/x86_64-linux-gnu")
                      .contains("libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ml.so.580.95.05")
                      .doesNotHaveDuplicates());

      ResourceClaim clash = created(claim("clash", share("node-d", "gpu", 1, "1Gi", "")));
      assertThat(node.prepare(clash).getError()).contains("is prepared as a whole for claim default/whole");
      assertThat(node.record(clash)).doesNotExist();
      ResourceClaim unclear = created(claim("unclear", share("node-d", "gpu", 7, "1Gi", "")));
      assertThat(node.prepare(unclear).getError()).contains("no card with index 7");
    }
  }

  @Test
  void aReplayWritesTheCdiFileAgainKeepsTheLedgerAndGivesTheSameIds() throws Exception {
    try (TestNode node = TestNode.withCards("node-e", "h200x1")) {
      ResourceClaim claim = created(claim("again", share("node-e", "gpu", 0, "8Gi", "")));
      NodePrepareResourceResponse first;
      try (KubeletPlugin _ = node.start(client)) {
        first = node.prepare(claim);
        assertThat(first.getError()).isEmpty();
      }
      assertThat(node.registrationSocket()).doesNotExist();
      Path usage = node.root.resolve("run/shares/" + claim.getMetadata().getUid() + "/" + first.getDevices(0).getShareId() + "/usage");
      Files.write(usage, new byte[] {1, 2, 3}, java.nio.file.StandardOpenOption.WRITE);
      byte[] spec = Files.readAllBytes(node.cdiFile(claim));
      Files.delete(node.cdiFile(claim));
      try (KubeletPlugin _ = node.start(client)) {
        assertThat(node.prepare(claim)).isEqualTo(first);
        assertThat(Files.readAllBytes(node.cdiFile(claim))).isEqualTo(spec);
        assertThat(Files.readAllBytes(usage)).startsWith(1, 2, 3).hasSize(528384);
      }
    }
  }

  @Test
  void tellsTheClaimWhatItGotAndLeavesOtherDriversEntriesAlone() throws Exception {
    try (TestNode node = TestNode.withCards("node-f", "h200x1");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim claim = claim("told", share("node-f", "gpu", 0, "8Gi", "25"));
      AllocatedDeviceStatus other =
          new AllocatedDeviceStatusBuilder().withDriver("nic.example.com").withPool("p").withDevice("eth0").build();
      claim.getStatus().setDevices(List.of(other));
      claim = created(claim);
      String cdiId = node.prepare(claim).getDevices(0).getCdiDeviceIds(0);

      List<AllocatedDeviceStatus> devices = await().atMost(Duration.ofSeconds(20)).until(() -> stored("told").getStatus().getDevices(), d -> d.size() == 2);
      assertThat(devices.getFirst()).isEqualTo(other);
      AllocatedDeviceStatus ours = devices.get(1);
      assertThat(ours.getShareID()).isNotEmpty();
      assertThat(ours.getConditions().getFirst().getMessage()).matches("8 GiB of NVIDIA H200 \\(GPU-.*\\) on node-f, at most 25 % of its time");
      assertThat(ours.getData())
          .isInstanceOf(RawExtension.class)
          .extracting(data -> ((RawExtension) data).getValue())
          .asInstanceOf(InstanceOfAssertFactories.MAP)
          .contains(Map.entry("memoryLimit", "8Gi"), Map.entry("coreLimit", "25"), Map.entry("node", "node-f"), Map.entry("cdiDevice", cdiId));

      Event prepared = eventWhen("told", "Prepared", 1);
      assertThat(prepared.getRegarding().getUid()).isEqualTo(claim.getMetadata().getUid());
      node.unprepare(claim);
      eventWhen("told", "Released", 1);
      node.prepare(claim);
      assertThat(eventWhen("told", "Prepared", 2).getNote()).contains("8 GiB of NVIDIA H200");
    }
  }

  @Test
  void honoursTheConfigAndRefusesAMisspeltOneByItsField() throws Exception {
    try (TestNode node = TestNode.withCards("node-h", "t4x1");
        KubeletPlugin _ = node.start(client)) {
      Map<String, Object> head = Map.of("apiVersion", "gpu.partita.dev/v1alpha1", "kind", "GpuShareConfig");
      Map<String, Object> soft = new TreeMap<>(head);
      soft.put("coreLimit", "Soft");
      Map<String, Object> none = new TreeMap<>(head);
      none.put("coreLimit", "None");
      ResourceClaim claim =
          created(
              claim(
                  "soft",
                  List.of(
                      config("FromClaim", List.of("gpu"), soft), config("FromClass", List.of(), none)),
                  share("node-h", "gpu/first", 0, "", "10")));
      NodePrepareResourceResponse response = node.prepare(claim);
      assertThat(response.getError()).isEmpty();
      String quota =
          Files.readString(
              node.root.resolve(
                  "state/shares/" + claim.getMetadata().getUid() + "/" + response.getDevices(0).getShareId() + "/quota"));
      assertThat(quota).contains("core-limit soft", "memory 15644753920\n");
      node.unprepare(claim);

      Map<String, Object> misspelt = new TreeMap<>(head);
      misspelt.put("coreLimt", "Soft");
      ResourceClaim wrong =
          created(claim("wrong", List.of(config("FromClaim", List.of(), misspelt)), share("node-h", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(wrong).getError()).contains("request gpu", "coreLimt: is not a known field; did you mean coreLimit?");
      assertThat(node.cdiFile(wrong)).doesNotExist();
      assertThat(eventWhen("wrong", "PrepareFailed", 1).getType()).isEqualTo("Warning");
    }
  }

  @Test
  void aNodeThatSellsMoreThanItsCardsHaveGivesEachShareItsPartOfTheCard() throws Exception {
    GpuNode sold = new GpuNode();
    sold.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName("node-o").build());
    sold.setSpec(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 200));
    client.resource(sold).create();
    try (TestNode node = TestNode.withCards("node-o", "t4x1");
        KubeletPlugin plugin = node.start(client)) {
      assertThat(plugin).isNotNull(); // at once: what is prepared before the spec is known would stay wrong
      ResourceClaim claim = created(claim("large", share("node-o", "gpu", 0, "20Gi", "")));
      NodePrepareResourceResponse response = node.prepare(claim);
      assertThat(response.getError()).isEmpty();
      Path quota = node.root.resolve("state/shares/" + claim.getMetadata().getUid() + "/" + response.getDevices(0).getShareId() + "/quota");
      assertThat(quota).content().contains("memory 21474836480\nphysical 10737418240\n");
      ResourceClaim beyond = created(claim("beyond", share("node-o", "gpu", 0, "12Gi", "")));
      assertThat(node.prepare(beyond).getError()).contains("its shares would hold");
      assertThat(eventWhen("large", "Prepared", 1).getNote()).contains("20 GiB (10 GiB of it on the card)");
    }
  }

  @Test
  void aClaimThatIsGoneOrAnotherOneOfTheSameNameIsNotPrepared() throws Exception {
    try (TestNode node = TestNode.withCards("node-g", "t4x1");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim gone = claim("gone", share("node-g", "gpu", 0, "1Gi", ""));
      assertThat(node.prepare(gone).getError()).contains("does not exist any more");
      created(claim("gone", share("node-g", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(gone).getError()).contains("does not exist any more");
      assertThat(node.record(gone)).doesNotExist();
    }
  }

  @Test
  void anUnreadableRecordIsSetAsideAndRebuiltFromTheClaim() throws Exception {
    try (TestNode node = TestNode.withCards("node-i", "t4x1")) {
      ResourceClaim claim = created(claim("torn", share("node-i", "gpu", 0, "1Gi", "")));
      ResourceClaim orphan = created(claim("orphan", share("node-i", "gpu", 0, "1Gi", "")));
      NodePrepareResourceResponse first;
      try (KubeletPlugin _ = node.start(client)) {
        first = node.prepare(claim);
        node.prepare(orphan);
      }
      Files.writeString(node.record(claim), "garbage");
      Files.write(node.record(orphan), new byte[0]);
      client.resource(orphan).delete();
      try (KubeletPlugin _ = KubeletPlugin.start(node.settings().leftoverGrace(Duration.ZERO).build(), client)) {
        await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(node.record(claim)) && !Files.exists(node.cdiFile(orphan)));
        assertThat(node.root.resolve("state/claims").toFile().list())
            .anyMatch(name -> name.startsWith(claim.getMetadata().getUid() + ".claim.unreadable-"));
        assertThat(node.prepare(claim)).isEqualTo(first);
        assertThat(node.unprepare(claim)).isEmpty();
        assertThat(node.cdiFile(claim)).doesNotExist();
      }
    }
  }

  @Test
  void theStateOfAClaimThatWasDeletedWhilePreparedGoesAfterTheGrace() throws Exception {
    try (TestNode node = TestNode.withCards("node-j", "t4x1")) {
      ResourceClaim claim = created(claim("deleted", share("node-j", "gpu", 0, "1Gi", "")));
      try (KubeletPlugin _ =
          KubeletPlugin.start(
              node.settings().leftoverGrace(Duration.ofMillis(300)).sweepPeriod(Duration.ofMillis(100)).build(), client)) {
        assertThat(node.prepare(claim).getError()).isEmpty();
        client.resource(claim).delete();
        await()
            .atMost(Duration.ofSeconds(20))
            .until(() -> !Files.exists(node.record(claim)) && !Files.exists(node.cdiFile(claim)));
      }
    }
  }

  @Test
  void aSecondPluginOnTheSameStateIsRefused() throws Exception {
    try (TestNode node = TestNode.withoutDriver("node-k");
        KubeletPlugin _ = node.start(client)) {
      assertThatThrownBy(() -> node.start(client))
          .isInstanceOf(PluginStartException.class)
          .hasMessageContaining("is in use by another plugin");
      assertThat(node.register().getName()).isEqualTo("gpu.partita.dev");
      // The mock stands still when a watch is closed for which it has something to send.
      statusWhen("node-k", status -> !status.conditions().isEmpty());
    }
  }

  private ResourceClaim created(ResourceClaim claim) {
    String uid = claim.getMetadata().getUid();
    ResourceClaim created = client.resource(claim).create();
    if (!uid.equals(created.getMetadata().getUid())) {
      claim.getMetadata().setUid(created.getMetadata().getUid());
    }
    if (created.getStatus() == null || created.getStatus().getAllocation() == null) {
      created.setStatus(claim.getStatus());
      created = client.resource(created).updateStatus();
    }
    return created;
  }

  private ResourceClaim stored(String name) {
    return Objects.requireNonNull(client.resources(ResourceClaim.class).inNamespace("default").withName(name).get());
  }

  private Event eventWhen(String claim, String reason, int count) {
    return await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> event(claim, reason), e -> e.isPresent() && countOf(e.get()) == count)
        .orElseThrow();
  }

  private Optional<Event> event(String claim, String reason) {
    return client.events().v1().events().inNamespace("default").list().getItems().stream()
        .filter(e -> claim.equals(e.getRegarding().getName()) && reason.equals(e.getReason()))
        .findFirst();
  }

  private static int countOf(Event event) {
    return event.getSeries() == null ? 1 : event.getSeries().getCount();
  }

  private static CdiSpec spec(TestNode node, ResourceClaim claim) throws IOException {
    return CdiJson.read(Files.readAllBytes(node.cdiFile(claim)), "the claim's spec");
  }

  private GpuNode gpuNode(String name) {
    return Objects.requireNonNull(client.resources(GpuNode.class).withName(name).get());
  }

  private GpuNodeStatus statusWhen(String name, java.util.function.Predicate<GpuNodeStatus> condition) {
    GpuNode node =
        await()
            .atMost(Duration.ofSeconds(20))
            .until(
                () -> client.resources(GpuNode.class).withName(name).get(),
                n -> n != null && n.getStatus() != null && condition.test(n.getStatus()));
    return Objects.requireNonNull(node.getStatus());
  }
}
