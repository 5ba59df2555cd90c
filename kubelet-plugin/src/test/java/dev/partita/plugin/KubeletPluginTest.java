package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.config;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.cdi.CdiDevice;
import dev.partita.cdi.CdiJson;
import dev.partita.cdi.CdiSpec;
import dev.partita.cdi.Mount;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatusBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import k8s.io.kubelet.pkg.apis.dra.v1.Device;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/** What a claim gets when it is prepared. */
@MockApiServer(crud = true)
class KubeletPluginTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @Test
  void preparesTwoSharesOfOneCardInOneClaimApart() throws Exception {
    try (TestNode node = TestNode.withCards("node-c", "h200x1");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim claim =
          api().created(
              claim("two", share("node-c", "big", 0, "8Gi", "25"), share("node-c", "small/first", 0, "1Gi", "")));

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
      assertThat(device.containerEdits().env()).contains("CUDA_DEVICE_MEMORY_LIMIT_0=9216m",
          "CUDA_DEVICE_SM_LIMIT_0=25");
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
              "TRITON_LIBCUDA_PATH=" + device.containerEdits().mounts().stream().map(Mount::containerPath)
                  .filter(path -> path.endsWith("/libcuda.so.1")).findFirst().orElseThrow()
                  .replace("/libcuda.so.1", ""));
      assertThat(spec.containerEdits().deviceNodes()).extracting("path").contains("/dev/nvidiactl");
      assertThat(device.containerEdits().hooks())
          .singleElement()
          .satisfies(
              hook -> {
                assertThat(hook.hookName()).isEqualTo("createContainer");
                assertThat(Path.of(hook.path())).isExecutable().startsWith(node.root.resolve("opt/lib"));
                assertThat(hook.args()).containsExactly("partita-cdi-hook", "cover", "--folder",
                    "/usr/lib/x86_64-linux-gnu", "--driver", "580.95.05");
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
  void eachDeviceComesWithTheMetadataOfItsOwnRequestsAndUnprepareTakesItBack() throws Exception {
    try (TestNode node = TestNode.withCards("node-m", "h200x2");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim wanted =
          claim("pod-0-card-x7k2p", share("node-m", "part/large", 0, "8Gi", "25"), whole("node-m", "all", 1));
      wanted.getMetadata().setAnnotations(Map.of("resource.kubernetes.io/pod-claim-name", "card"));
      ResourceClaim claim = api().created(wanted);
      assertThat(node.prepare(claim).getError()).isEmpty();
      String inContainer = "/var/run/kubernetes.io/dra-device-attributes/resourceclaimtemplates/card/";
      CdiSpec spec = spec(node, claim);
      assertThat(spec.containerEdits().mounts()).noneMatch(mount -> mount.containerPath().startsWith("/var/run"));
      assertThat(spec.devices()).hasSize(2);
      for (int i = 0; i < 2; i++) {
        String request = List.of("part", "all").get(i);
        assertThat(spec.devices().get(i).containerEdits().mounts())
            .filteredOn(mount -> mount.containerPath().startsWith("/var/run"))
            .singleElement()
            .satisfies(mount -> {
              assertThat(mount.containerPath()).isEqualTo(inContainer + request);
              assertThat(mount.options()).contains("ro");
              assertThat(Path.of(mount.hostPath()).resolve("gpu.partita.dev-metadata.json"))
                  .isEqualTo(node.metadata(claim, request)).exists();
            });
      }
      assertThat(node.metadata(claim, "part")).content()
          .contains("\"generation\": 1\n", "\"podClaimName\": \"card\"", "\"name\": \"part/large\"",
              "\"pool\": \"node-m/gpu\"", "\"int\": 8589934592")
          .doesNotContain("\"all\"");
      assertThat(node.metadata(claim, "all")).content().contains("\"string\": \"whole\"");

      byte[] before = Files.readAllBytes(node.metadata(claim, "part"));
      assertThat(node.prepare(claim).getError()).isEmpty();
      assertThat(node.metadata(claim, "part")).as("nothing has changed").hasBinaryContent(before);
      assertThat(node.unprepare(claim)).isEmpty();
      assertThat(node.root.resolve("run/metadata")).isEmptyDirectory();
    }
  }

  @Test
  void aClaimWhoseNameInThePodWouldLeadElsewhereIsRefused() throws Exception {
    try (TestNode node = TestNode.withCards("node-n", "t4x1");
        KubeletPlugin _ = node.start(client)) {
      for (String name : List.of("../../../etc", "..", "a/b", "A")) {
        ResourceClaim hostile = claim("hostile", share("node-n", "gpu", 0, "1Gi", ""));
        hostile.getMetadata().setAnnotations(Map.of("resource.kubernetes.io/pod-claim-name", name));
        ResourceClaim created = api().created(hostile);
        assertThat(node.prepare(created).getError())
            .contains("annotation resource.kubernetes.io/pod-claim-name is not the name of a pod's claim")
            .contains('"' + name + '"');
        assertThat(node.record(created)).doesNotExist();
        assertThat(node.cdiFile(created)).doesNotExist();
        client.resource(created).delete();
      }
      ResourceClaim prepared = api().created(claim("prepared", share("node-n", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(prepared).getError()).isEmpty();
      byte[] spec = Files.readAllBytes(node.cdiFile(prepared));
      client.resources(ResourceClaim.class).inNamespace("default").withName("prepared").patch(
          PatchContext.of(PatchType.JSON_MERGE),
          "{\"metadata\": {\"annotations\": {\"resource.kubernetes.io/pod-claim-name\": \"../..\"}}}");
      assertThat(node.prepare(prepared).getError()).as("what runs goes on under its name").isEmpty();
      assertThat(node.cdiFile(prepared)).hasBinaryContent(spec);
    }
  }

  @Test
  void theClaimsOfAPodArePreparedInOneCallThatReadsThePodOnceAndNumbersTheirCardTogether() throws Exception {
    try (TestNode node = TestNode.withCards("node-p", "h200x1");
        KubeletPlugin _ = node.start(client)) {
      List<String> names = IntStream.range(0, 10).mapToObj(i -> "of-pod-" + i).toList();
      Pod pod = client.resource(TestClaims.podOf("many", names)).create();
      List<ResourceClaim> claims =
          names.stream()
              .map(name -> api().created(TestClaims.reserved(claim(name, share("node-p", "gpu", 0, "1Gi", "")), pod)))
              .toList();
      assertThat(TestNode.prepareAll(node.draSocket(), Duration.ofSeconds(45), claims).values())
          .hasSize(10)
          .allSatisfy(one -> assertThat(one.getError()).isEmpty());
      for (ResourceClaim claim : claims) {
        assertThat(spec(node, claim).devices().getFirst().containerEdits().env())
            .contains("CUDA_DEVICE_MEMORY_LIMIT_0=10240m");
      }
      assertThat(TestApi.pathsOfGets(server)).filteredOn(path -> path.endsWith("/pods/many")).hasSize(1);
    }
  }

  @Test
  void aPodWithManyClaimsFullOfWhatThePluginDoesNotNeedIsPrepared() throws Exception {
    try (TestNode node = TestNode.withCards("node-w", "h200x1");
        KubeletPlugin _ = node.start(client)) {
      List<String> names = IntStream.range(0, 40).mapToObj(i -> "full-" + i).toList();
      Pod pod = client.resource(TestClaims.podOf("full", names)).create();
      Map<String, String> labels = new TreeMap<>();
      IntStream.range(0, 1_000).forEach(i -> labels.put("l" + i, ""));
      DeviceAllocationConfiguration others =
          config("FromClaim", List.of(), Map.of("many", Collections.nCopies(2_000, Map.of())));
      others.getOpaque().setDriver("example.com");
      List<ResourceClaim> claims = names.stream().map(name -> {
        ResourceClaim claim = claim(name, List.of(others), share("node-w", "gpu", 0, "1Gi", ""));
        claim.getMetadata().setLabels(labels);
        return api().created(TestClaims.reserved(claim, pod));
      }).toList();
      TestApi.pathsOfGets(server);
      assertThat(TestNode.prepareAll(node.draSocket(), Duration.ofSeconds(45), claims).values())
          .hasSize(40)
          .allSatisfy(one -> assertThat(one.getError()).isEmpty());
      assertThat(spec(node, claims.getLast()).devices().getFirst().containerEdits().env())
          .contains("CUDA_DEVICE_MEMORY_LIMIT_0=40960m");
      assertThat(TestApi.pathsOfGets(server)).filteredOn(path -> path.endsWith("/full-39")).as("and for its status")
          .hasSizeLessThanOrEqualTo(3);
    }
  }

  @Test
  void aClaimWithAConfigLargerThanAnyThatIsRightIsRefused() throws Exception {
    try (TestNode node = TestNode.withCards("node-x", "h200x1");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim claim = api().created(claim("large",
          List.of(config("FromClaim", List.of(), Map.of("apiVersion", "gpu.partita.dev/v1alpha1", "kind",
              "GpuShareConfig", "priority", 1, "many", Collections.nCopies(2_000, Map.of())))),
          share("node-x", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(claim).getError())
          .startsWith("the device config for request gpu is wrong: too many values: is not a known field");
    }
  }

  @Test
  void aWholeCardComesWithTheDriversOwnFilesOnly() throws Exception {
    try (TestNode node = TestNode.withCards("node-d", "h100x2");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim claim = api().created(claim("whole", whole("node-d", "gpu", 1)));
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
              hook -> assertThat(hook.args())
                  .startsWith("partita-cdi-hook", "place", "--folder", "/usr/lib/x86_64-linux-gnu")
                  .contains("libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ml.so.580.95.05")
                  .doesNotHaveDuplicates());

      ResourceClaim clash = api().created(claim("clash", share("node-d", "gpu", 1, "1Gi", "")));
      assertThat(node.prepare(clash).getError()).contains("is prepared as a whole for claim default/whole");
      assertThat(node.record(clash)).doesNotExist();
      ResourceClaim unclear = api().created(claim("unclear", share("node-d", "gpu", 7, "1Gi", "")));
      assertThat(node.prepare(unclear).getError()).contains("no card with index 7");
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
      claim = api().created(claim);
      String cdiId = node.prepare(claim).getDevices(0).getCdiDeviceIds(0);

      List<AllocatedDeviceStatus> devices = await().atMost(Duration.ofSeconds(20))
          .until(() -> api().stored("told").getStatus().getDevices(), d -> d.size() == 2);
      assertThat(devices.getFirst()).isEqualTo(other);
      AllocatedDeviceStatus ours = devices.get(1);
      assertThat(ours.getShareID()).isNotEmpty();
      assertThat(ours.getConditions().getFirst().getMessage())
          .matches("8 GiB of NVIDIA H200 \\(GPU-.*\\) on node-f, at most 25 % of its time");
      assertThat(ours.getData())
          .isInstanceOf(RawExtension.class)
          .extracting(data -> ((RawExtension) data).getValue())
          .asInstanceOf(InstanceOfAssertFactories.MAP)
          .contains(Map.entry("memoryLimit", "8Gi"), Map.entry("coreLimit", "25"), Map.entry("node", "node-f"),
              Map.entry("cdiDevice", cdiId));

      Event prepared = api().eventWhen("told", "Prepared", 1);
      assertThat(prepared.getRegarding().getUid()).isEqualTo(claim.getMetadata().getUid());
      node.unprepare(claim);
      api().eventWhen("told", "Released", 1);
      node.prepare(claim);
      assertThat(api().eventWhen("told", "Prepared", 2).getNote()).contains("8 GiB of NVIDIA H200");
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
          api().created(
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
                  "state/shares/" + claim.getMetadata().getUid() + "/" + response.getDevices(0).getShareId()
                      + "/quota"));
      assertThat(quota).contains("core-limit soft", "memory 15644753920\n");
      node.unprepare(claim);

      Map<String, Object> misspelt = new TreeMap<>(head);
      misspelt.put("coreLimt", "Soft");
      ResourceClaim wrong =
          api().created(
              claim("wrong", List.of(config("FromClaim", List.of(), misspelt)), share("node-h", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(wrong).getError()).contains("request gpu",
          "coreLimt: is not a known field; did you mean coreLimit?");
      assertThat(node.cdiFile(wrong)).doesNotExist();
      assertThat(api().eventWhen("wrong", "PrepareFailed", 1).getType()).isEqualTo("Warning");
    }
  }

  @Test
  void aNodeThatOffersMoreThanItsCardsHaveGivesEachShareItsPartOfTheCard() throws Exception {
    GpuNode allocated = new GpuNode();
    allocated.setMetadata(new io.fabric8.kubernetes.api.model.ObjectMetaBuilder().withName("node-o").build());
    allocated.setSpec(new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 200));
    client.resource(allocated).create();
    try (TestNode node = TestNode.withCards("node-o", "t4x1");
        KubeletPlugin plugin = node.start(client)) {
      assertThat(plugin).isNotNull(); // at once: what is prepared before the spec is known would stay wrong
      ResourceClaim claim = api().created(claim("large", share("node-o", "gpu", 0, "20Gi", "")));
      NodePrepareResourceResponse response = node.prepare(claim);
      assertThat(response.getError()).isEmpty();
      Path quota = node.root.resolve(
          "state/shares/" + claim.getMetadata().getUid() + "/" + response.getDevices(0).getShareId() + "/quota");
      assertThat(quota).content().contains("memory 21474836480\nphysical 10737418240\n");
      ResourceClaim beyond = api().created(claim("beyond", share("node-o", "gpu", 0, "12Gi", "")));
      assertThat(node.prepare(beyond).getError()).contains("its shares would hold");
      assertThat(api().eventWhen("large", "Prepared", 1).getNote()).contains("20 GiB (10 GiB of it on the card)");
    }
  }

  @Test
  void aClaimThatIsGoneOrAnotherOneOfTheSameNameIsNotPrepared() throws Exception {
    try (TestNode node = TestNode.withCards("node-g", "t4x1");
        KubeletPlugin _ = node.start(client)) {
      ResourceClaim gone = claim("gone", share("node-g", "gpu", 0, "1Gi", ""));
      assertThat(node.prepare(gone).getError()).contains("does not exist any more");
      api().created(claim("gone", share("node-g", "gpu", 0, "1Gi", "")));
      assertThat(node.prepare(gone).getError()).contains("does not exist any more");
      assertThat(node.record(gone)).doesNotExist();
    }
  }

  private TestApi api() {
    return new TestApi(client);
  }

  private static CdiSpec spec(TestNode node, ResourceClaim claim) throws IOException {
    return CdiJson.read(Files.readAllBytes(node.cdiFile(claim)), "the claim's spec");
  }
}
