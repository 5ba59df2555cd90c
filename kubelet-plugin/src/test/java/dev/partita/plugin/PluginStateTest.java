package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import dev.partita.api.node.GpuNodeStatus;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import k8s.io.kubelet.pkg.apis.dra.v1.NodePrepareResourceResponse;
import org.junit.jupiter.api.Test;

/** What the plugin keeps of claims, and finds again. */
@MockApiServer(crud = true)
class PluginStateTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesMockServer server;

  @Test
  void anUnreadableRecordIsSetAsideAndRebuiltFromTheClaim() throws Exception {
    try (TestNode node = TestNode.withCards("node-i", "t4x1")) {
      ResourceClaim claim = api().created(claim("torn", share("node-i", "gpu", 0, "1Gi", "")));
      ResourceClaim orphan = api().created(claim("orphan", share("node-i", "gpu", 0, "1Gi", "")));
      NodePrepareResourceResponse first;
      try (KubeletPlugin _ = node.start(client)) {
        first = node.prepare(claim);
        node.prepare(orphan);
      }
      Files.writeString(node.record(claim), "garbage");
      Files.write(node.record(orphan), new byte[0]);
      client.resource(orphan).delete();
      try (KubeletPlugin _ = TestNode.start(node.settings("--leftover-grace=0"), client)) {
        await().atMost(Duration.ofSeconds(20))
            .until(() -> Files.exists(node.record(claim)) && !Files.exists(node.cdiFile(orphan)));
        assertThat(node.root.resolve("state/claims").toFile().list())
            .anyMatch(name -> name.startsWith(claim.getMetadata().getUid() + ".claim.unreadable-"));
        assertThat(node.prepare(claim)).isEqualTo(first);
        assertThat(node.unprepare(claim)).isEmpty();
        assertThat(node.cdiFile(claim)).doesNotExist();
      }
      assertThat(TestApi.pathsOfGets(server)).as("claims are asked for one by one")
          .noneMatch(path -> path.matches(".*/resourceclaims(\\?.*)?"));
    }
  }

  @Test
  void theStateOfAClaimThatWasDeletedWhilePreparedGoesAfterTheGrace() throws Exception {
    try (TestNode node = TestNode.withCards("node-j", "t4x1")) {
      ResourceClaim claim = api().created(claim("deleted", share("node-j", "gpu", 0, "1Gi", "")));
      try (KubeletPlugin _ =
          TestNode.start(
              node.settings("--leftover-grace=0.3", "--sweep-period=0.1"),
              client)) {
        assertThat(node.prepare(claim).getError()).isEmpty();
        client.resource(claim).delete();
        await()
            .atMost(Duration.ofSeconds(20))
            .until(() -> !Files.exists(node.record(claim)) && !Files.exists(node.cdiFile(claim)));
      }
    }
  }

  @Test
  void deviceMetadataThatWasWipedIsMadeAnewAndWhatAClaimThatIsReleasedHasLeftGoes() throws Exception {
    try (TestNode node = TestNode.withCards("node-y", "t4x1")) {
      ResourceClaim claim = api().created(claim("wiped", share("node-y", "gpu", 0, "1Gi", "")));
      ResourceClaim released = api().created(claim("left", share("node-y", "gpu", 0, "1Gi", "")));
      Files.createDirectories(node.metadata(released, "gpu"));
      try (KubeletPlugin _ = TestNode.start(node.settings("--sweep-period=0.1"), client)) {
        assertThat(node.prepare(claim).getError()).isEmpty();
        Files.delete(node.metadata(claim, "gpu"));
        await().atMost(Duration.ofSeconds(20))
            .until(() -> Files.exists(node.metadata(claim, "gpu"))
                && !Files.exists(node.root.resolve("run/metadata/" + released.getMetadata().getUid())));
        assertThat(node.prepare(released).getError()).isEmpty();
        assertThat(node.metadata(released, "gpu")).exists();
      }
    }
  }

  /** As a plugin of an earlier version leaves it. */
  @Test
  void aClaimThatWasPreparedWithoutDeviceMetadataGetsItOnceKubeletHasItPreparedAgain() throws Exception {
    try (TestNode node = TestNode.withCards("node-z", "t4x1")) {
      ResourceClaim claim = api().created(claim("earlier", share("node-z", "gpu", 0, "1Gi", "")));
      try (KubeletPlugin _ = node.start(client)) {
        assertThat(node.prepare(claim).getError()).isEmpty();
      }
      try (Checkpoint records = new Checkpoint(node.root.resolve("state/claims"), Clock.systemUTC())) {
        PreparedClaim now = records.read(claim.getMetadata().getUid()).orElseThrow();
        records.write(
            new PreparedClaim(now.claim(), now.phase(), now.bootId(), now.grants(), now.env(), now.mixed()));
      }
      TestFolder.delete(node.root.resolve("run/metadata"));
      Files.delete(node.cdiFile(claim));
      try (KubeletPlugin _ = TestNode.start(node.settings("--sweep-period=0.1"), client)) {
        await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(node.cdiFile(claim)));
        assertThat(node.metadata(claim, "gpu")).as("its name in the pod is not known").doesNotExist();
        assertThat(node.prepare(claim).getError()).isEmpty();
        assertThat(node.metadata(claim, "gpu")).exists();
        assertThat(node.cdiFile(claim)).content().contains("resourceclaims/earlier/gpu");
        assertThat(node.unprepare(claim)).isEmpty();
        assertThat(node.root.resolve("run/metadata")).isEmptyDirectory();
      }
    }
  }

  @Test
  void aClaimWhoseStateCannotBeLookedAtKeepsNoOthersStateFromGoing() throws Exception {
    try (TestNode node = TestNode.withCards("node-v", "t4x1")) {
      ResourceClaim odd = api().created(claim("odd", share("node-v", "gpu", 0, "1Gi", "")));
      ResourceClaim deleted = api().created(claim("deleted", share("node-v", "gpu", 0, "1Gi", "")));
      assertThat(deleted.getMetadata().getUid()).as("it is looked at later").isGreaterThan(odd.getMetadata().getUid());
      NodePrepareResourceResponse first;
      try (KubeletPlugin _ = node.start(client)) {
        first = node.prepare(odd);
        assertThat(first.getError()).isEmpty();
        assertThat(node.prepare(deleted).getError()).isEmpty();
      }
      // no plugin runs: it would make the file anew before the folder is there
      Path usage = node.root
          .resolve("run/shares/" + odd.getMetadata().getUid() + "/" + first.getDevices(0).getShareId() + "/usage");
      Files.delete(usage);
      Files.createDirectory(usage);
      client.resource(deleted).delete();
      try (KubeletPlugin _ =
          TestNode.start(node.settings("--leftover-grace=0", "--sweep-period=0.1"),
              client)) {
        await().atMost(Duration.ofSeconds(20))
            .until(() -> !Files.exists(node.record(deleted)) && !Files.exists(node.cdiFile(deleted)));
        assertThat(node.record(odd)).exists();
      }
    }
  }

  /** As of a spec that somebody has copied. */
  @Test
  void aSpecThatIsOfNoClaimKeepsNothingFromBeingRemovedOrReported() throws Exception {
    try (TestNode node = TestNode.withCards("node-c", "t4x1")) {
      ResourceClaim claim = api().created(claim("deleted", share("node-c", "gpu", 0, "1Gi", "")));
      try (KubeletPlugin _ = TestNode.start(
          node.settings("--leftover-grace=0", "--sweep-period=0.1", "--inventory-period=0.1"), client)) {
        assertThat(node.prepare(claim).getError()).isEmpty();
        Path copy = node.cdiFile(claim).resolveSibling("gpu.partita.dev-claim_copy.of-it.json");
        Files.copy(node.cdiFile(claim), copy);
        client.resource(claim).delete();
        await().atMost(Duration.ofSeconds(20))
            .until(() -> !Files.exists(node.record(claim)) && !Files.exists(node.cdiFile(claim)));
        Files.writeString(copy, "{}");
        ResourceClaim next = api().created(claim("next", share("node-c", "gpu", 0, "1Gi", "")));
        assertThat(node.prepare(next).getError()).isEmpty();
        client.resource(next).delete();
        await().atMost(Duration.ofSeconds(20)).until(() -> !Files.exists(node.record(next)));
        node.simulator("break", "--root", node.driverRoot().toString(), "--gpu", "0");
        api().statusWhen("node-c", s -> s.gpus().getFirst().health().reason() != null);
        assertThat(copy).exists();
      }
    }
  }

  @Test
  void whoseContainersMayUseWhatAnotherVersionHasPreparedIsNotForgotten() throws Exception {
    try (TestNode node = TestNode.withCards("node-f", "t4x1")) {
      Path pods = Files.createDirectories(node.root.resolve("run/pods"));
      Path foreign = pods.resolve("0b5e8a9e-0000-4000-8000-000000000001");
      Files.writeString(foreign, "6f1c\n");
      Path records = Files.createDirectories(node.root.resolve("state/claims"));
      Files.writeString(records.resolve(foreign.getFileName() + ".claim"),
          "partita-checkpoint 2 x\n{\"a\": \"GPU-1\"}");
      try (KubeletPlugin _ = TestNode.start(node.settings("--sweep-period=0.1"), client)) {
        for (String stranger : new String[]{"0b5e8a9e-0000-4000-8000-000000000002",
          "0b5e8a9e-0000-4000-8000-000000000003"}) { // when the second one goes, the search in which the first went has ended
          Files.writeString(pods.resolve(stranger), "6f1c\n");
          await().atMost(Duration.ofSeconds(20)).until(() -> !Files.exists(pods.resolve(stranger)));
        }
        assertThat(foreign).hasContent("6f1c");
      }
    }
  }

  @Test
  void whatADeletedClaimHasIsReportedUntilKubeletReleasesIt() throws Exception {
    try (TestNode node = TestNode.withCards("node-x", "t4x2")) {
      ResourceClaim share = api().created(claim("share", share("node-x", "gpu", 0, "1Gi", "25")));
      ResourceClaim whole = api().created(claim("whole", whole("node-x", "gpu", 1)));
      ResourceClaim kept = api().created(claim("kept", share("node-x", "gpu", 0, "1Gi", "")));
      try (KubeletPlugin _ = TestNode.start(node.settings("--sweep-period=0.1"), client)) {
        for (ResourceClaim claim : List.of(share, whole, kept)) {
          assertThat(node.prepare(claim).getError()).isEmpty();
        }
        client.resource(share).delete();
        client.resource(whole).delete();
        GpuNodeStatus status = api().statusWhen("node-x", s -> s.held().size() == 2);
        String first = status.gpus().get(0).uuid();
        String second = status.gpus().get(1).uuid();
        assertThat(status.held())
            .allSatisfy(held -> assertThat(held.reason()).isEqualTo(HeldClaim.Reason.ClaimGone))
            .extracting(HeldClaim::claimUid, HeldClaim::namespace, HeldClaim::name, HeldClaim::devices)
            .containsExactlyInAnyOrder(
                tuple(share.getMetadata().getUid(), "default", "share", List.of(HeldDevice.share(first, 1L << 30, 25))),
                tuple(whole.getMetadata().getUid(), "default", "whole", List.of(HeldDevice.whole(second))));
        assertThat(node.unprepare(share)).isEmpty();
        assertThat(api().statusWhen("node-x", s -> s.held().size() == 1).held())
            .extracting(HeldClaim::claimUid)
            .containsExactly(whole.getMetadata().getUid());
        assertThat(node.unprepare(whole)).isEmpty();
        api().statusWhen("node-x", s -> s.held().isEmpty());
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
      api().statusWhen("node-k", status -> !status.conditions().isEmpty());
    }
  }

  @Test
  void aReplayWritesTheCdiFileAgainKeepsTheLedgerAndGivesTheSameIds() throws Exception {
    try (TestNode node = TestNode.withCards("node-e", "h200x1")) {
      ResourceClaim claim = api().created(claim("again", share("node-e", "gpu", 0, "8Gi", "")));
      NodePrepareResourceResponse first;
      try (KubeletPlugin _ = node.start(client)) {
        first = node.prepare(claim);
        assertThat(first.getError()).isEmpty();
      }
      assertThat(node.registrationSocket()).doesNotExist();
      Path usage = node.root
          .resolve("run/shares/" + claim.getMetadata().getUid() + "/" + first.getDevices(0).getShareId() + "/usage");
      Files.write(usage, new byte[]{1, 2, 3}, java.nio.file.StandardOpenOption.WRITE);
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
  void theSpecOfAPreparedClaimFollowsTheDriversUpgradeSoThatAContainerCanBeStartedAgain() throws Exception {
    try (TestNode node = TestNode.withCards("node-u", "t4x1")) {
      ResourceClaim claim = api().created(claim("upgraded", share("node-u", "gpu", 0, "1Gi", "")));
      try (KubeletPlugin _ = node.start(client)) {
        assertThat(node.prepare(claim).getError()).isEmpty();
        String before = Files.readString(node.cdiFile(claim));
        removeDriver(node);
        node.simulator("install", "--root", node.driverRoot().toString(), "--node", "node-u", "--gpus", "t4x1",
            "--driver-version", "591.2.3");
        // a reading may come upon a part of the new driver's files, and the next one upon all
        await().atMost(Duration.ofSeconds(20)).untilAsserted(
            () -> assertThat(Files.readString(node.cdiFile(claim))).as("nothing else is new")
                .isEqualTo(before.replace(driverOf(before), "591.2.3")));
        assertThat(node.unprepare(claim)).isEmpty();
      }
    }
  }

  @Test
  void aSpecThatSomebodyRemovedIsWrittenAnewAndAReleasedOneIsNot() throws Exception {
    try (TestNode node = TestNode.withCards("node-w", "t4x1")) {
      ResourceClaim claim = api().created(claim("lost", share("node-w", "gpu", 0, "1Gi", "")));
      ResourceClaim released = api().created(claim("released", share("node-w", "gpu", 0, "1Gi", "")));
      try (KubeletPlugin _ = TestNode.start(node.settings("--sweep-period=0.1"), client)) {
        assertThat(node.prepare(claim).getError()).isEmpty();
        assertThat(node.prepare(released).getError()).isEmpty();
        assertThat(node.unprepare(released)).isEmpty();
        byte[] spec = Files.readAllBytes(node.cdiFile(claim));
        Files.delete(node.cdiFile(claim));
        await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(node.cdiFile(claim)));
        assertThat(Files.readAllBytes(node.cdiFile(claim))).isEqualTo(spec);
        assertThat(node.cdiFile(released)).doesNotExist();
      }
    }
  }

  @Test
  void aPreparedClaimGetsBackWhatARebootTookAlongThoughKubeletDoesNotAsk() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "t4x1")) {
      ResourceClaim claim = client.resource(claim("kept", share("node-r", "gpu", 0, "8Gi", ""))).create();
      NodePrepareResourceResponse first;
      try (KubeletPlugin _ = node.start(client)) {
        first = node.prepare(claim);
        assertThat(first.getError()).isEmpty();
      }
      byte[] spec = Files.readAllBytes(node.cdiFile(claim));
      TestFolder.delete(node.root.resolve("cdi"));
      TestFolder.delete(node.root.resolve("run"));
      try (KubeletPlugin _ = node.start(client)) {
        await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(node.cdiFile(claim)));
        assertThat(Files.readAllBytes(node.cdiFile(claim))).isEqualTo(spec);
        awaitUsageRegion(node, claim, first);
      }
      TestFolder.delete(node.root.resolve("run/shares"));
      try (KubeletPlugin _ = node.start(client)) {
        awaitUsageRegion(node, claim, first);
      }
    }
  }

  private static void awaitUsageRegion(TestNode node, ResourceClaim claim, NodePrepareResourceResponse prepared) {
    Path usage = node.root.resolve(
        "run/shares/" + claim.getMetadata().getUid() + "/" + prepared.getDevices(0).getShareId() + "/usage");
    await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(usage));
  }

  private static void removeDriver(TestNode node) throws IOException {
    try (Stream<Path> files = Files.walk(node.driverRoot())) {
      for (Path library : files.filter(file -> file.getFileName().toString().contains(".so")).toList()) {
        Files.delete(library);
      }
    }
  }

  private static String driverOf(String spec) {
    Matcher name = Pattern.compile("libnvidia-ml\\.so\\.([0-9.]*[0-9])\"").matcher(spec);
    assertThat(name.find()).isTrue();
    return name.group(1);
  }

  private TestApi api() {
    return new TestApi(client);
  }
}
