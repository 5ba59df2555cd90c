package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.instance;
import static dev.partita.plugin.TestClaims.instanceShare;
import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.api.gpu.StaticMigInstance;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeStatus;
import dev.partita.cdi.driver.DriverRoot;
import dev.partita.cdi.driver.DriverSearch;
import dev.partita.plugin.nvml.CardReader;
import dev.partita.plugin.nvml.CardUser;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.ProcessMemory;
import dev.partita.plugin.nvml.jna.NvmlLibrary;
import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Cards cut into MIG instances, on the simulated driver. */
@MockApiServer(crud = true)
class MigInAContainerTest {
  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void thePluginTellsWhatCardsCanBeCutIntoOnlyIfItMayCutThem() throws Exception {
    try (TestNode node = TestNode.withCards("node-r", "h200,t4")) {
      try (KubeletPlugin _ = TestNode.start(node.settings("--mig"), client)) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(profiles("node-r", 0)).isNotEmpty());
        MigProfile smallest = profiles("node-r", 0).getFirst();
        assertThat(smallest).isEqualTo(new MigProfile("1g.18gb", 16L << 30, 16, 1, 7,
            java.util.stream.IntStream.range(0, 7).mapToObj(start -> new MigProfile.Placement(start, 1)).toList()));
        assertThat(profiles("node-r", 0)).extracting(MigProfile::name).containsExactlyInAnyOrder("1g.18gb",
            "1g.18gb+me", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb");
        assertThat(profiles("node-r", 1)).as("a T4 has none").isEmpty();
      }
      try (KubeletPlugin _ = TestNode.start(node.settings(), client)) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(profiles("node-r", 0)).isEmpty());
        ResourceClaim refused = client.resource(claim("refused", instance("node-r", "gpu", 0, "1g-18gb-6"))).create();
        assertThat(node.prepare(refused).getError()).contains("cannot be cut into such MIG instances", "--mig");
      }
    }
  }

  @Test
  void anInstanceIsMadeForAClaimAndEndedWithItAndTheCardCanThenBeUsedAsAWhole() throws Exception {
    try (TestNode node = TestNode.withCards("node-c", "h200")) {
      try (KubeletPlugin _ = TestNode.start(node.settings("--mig"), client)) {
        ResourceClaim first = client.resource(claim("first", instance("node-c", "gpu", 0, "1g-18gb-6"))).create();
        ResourceClaim second = client.resource(claim("second", instance("node-c", "gpu", 0, "3g-71gb-0"))).create();
        ResourceClaim all = client.resource(claim("all", whole("node-c", "gpu", 0))).create();
        ResourceClaim shared = client.resource(claim("shared", share("node-c", "gpu", 0, "8Gi", ""))).create();
        assertThat(node.prepare(first).getError()).isEmpty();
        assertThat(node.prepare(second).getError()).isEmpty();
        assertThat(node.prepare(second).getError()).as("again").isEmpty();
        assertThat(instances(node)).contains("1g.18gb at 6:1", "3g.71gb at 0:4").contains("MIG device 1")
            .doesNotContain("MIG device 2");
        assertThat(node.prepare(all).getError()).contains("wanted as a whole");
        assertThat(node.prepare(shared).getError()).contains("is cut into MIG instances");
        assertThat(node.cdiFile(first)).content().contains("nvidia-caps/nvidia-cap").doesNotContain("shadow",
            "/etc/partita/shares");

        assertThat(node.unprepare(first)).isEmpty();
        assertThat(instances(node)).doesNotContain("1g.18gb at").contains("3g.71gb at 0:4");
        assertThat(node.unprepare(second)).isEmpty();
        assertThat(node.prepare(all).getError()).isEmpty();
        assertThat(instances(node)).contains("MIG disabled");
      }
    }
  }

  @Test
  void instancesThatAnAdministratorMadeAreReportedGivenToClaimsAndLeftStanding() throws Exception {
    try (TestNode node = TestNode.withCards("node-s", "h200x2")) {
      cut(node, "enable");
      cut(node, "create", "3g.71gb:4");
      cut(node, "create", "1g.18gb:0");
      try (KubeletPlugin _ = node.start(client)) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(ofCard("node-s", 0)).hasSize(2));
        assertThat(ofCard("node-s", 0)).extracting(StaticMigInstance::profile, i -> i.placement().start())
            .containsExactly(tuple("1g.18gb", 0), tuple("3g.71gb", 4));
        assertThat(ofCard("node-s", 0)).allMatch(instance -> instance.uuid().startsWith("MIG-"));
        GpuNodeStatus status = client.resources(GpuNode.class).withName("node-s").get().getStatus();
        assertThat(status.gpus()).extracting(gpu -> gpu.health().state()).containsOnly(GpuHealth.State.Healthy);
        assertThat(ofCard("node-s", 1)).isEmpty();

        ResourceClaim claim = client.resource(claim("claim", instance("node-s", "gpu", 0, "3g-71gb-4"))).create();
        assertThat(node.prepare(claim).getError()).isEmpty();
        assertThat(node.cdiFile(claim)).content().contains("nvidia-caps/nvidia-cap").doesNotContain("shadow",
            "/etc/partita/shares");
        assertThat(node.prepare(client.resource(claim("whole", whole("node-s", "gpu", 0))).create()).getError())
            .contains("cut the card into MIG instances");
        assertThat(node.unprepare(claim)).isEmpty();
        assertThat(instances(node)).contains("3g.71gb at 4:4", "1g.18gb at 0:1");

        assertThat(node.prepare(claim).getError()).isEmpty();
        cut(node, "disable");
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(condition("claim", "Healthy"))
            .hasValueSatisfying(healthy -> {
              assertThat(healthy.getStatus()).isEqualTo("False");
              assertThat(healthy.getReason()).isEqualTo("MigInstanceIsGone");
              assertThat(healthy.getMessage()).contains("3g.71gb at memory slice 4 is not there any more");
            }));
        // the claim and the node's report are written by threads of their own
        await().atMost(Duration.ofSeconds(60)).untilAsserted(
            () -> assertThat(ofCard("node-s", 0)).as("what no claim has is not listed any more").singleElement()
                .satisfies(gone -> assertThat(gone.isHealthy()).isFalse()));
        cut(node, "enable");
        cut(node, "create", "3g.71gb:4");
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(condition("claim", "Healthy"))
            .hasValueSatisfying(healthy -> assertThat(healthy.getStatus()).isEqualTo("True")));
        assertThat(node.unprepare(claim)).isEmpty();
        assertThat(instances(node)).contains("3g.71gb at 4:4");
      }
    }
  }

  @Test
  void aPluginThatMayCutCardsLeavesAloneWhatAnAdministratorMade() throws Exception {
    try (TestNode node = TestNode.withCards("node-l", "h200x2")) {
      cut(node, "enable");
      cut(node, "create", "1g.18gb:0");
      try (KubeletPlugin _ = TestNode.start(node.settings("--mig"), client)) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(ofCard("node-l", 0)).hasSize(1));
        assertThat(profiles("node-l", 0)).isNotEmpty();
        ResourceClaim overlapping =
            client.resource(claim("overlapping", instance("node-l", "gpu", 0, "3g-71gb-0"))).create();
        assertThat(node.prepare(overlapping).getError()).contains("somebody else has cut the card");
        ResourceClaim whole = client.resource(claim("whole", whole("node-l", "gpu", 0))).create();
        assertThat(node.prepare(whole).getError()).contains("somebody else has cut the card");
        ResourceClaim made = client.resource(claim("made", instance("node-l", "gpu", 1, "3g-71gb-0"))).create();
        assertThat(node.prepare(made).getError()).as("of the other card").isEmpty();
        assertThat(ofCard("node-l", 1)).as("which Partita made").isEmpty();
        assertThat(instances(node)).contains("1g.18gb at 0:1");

        cut(node, "disable");
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(ofCard("node-l", 0)).isEmpty());
        assertThat(node.prepare(overlapping).getError()).as("the card is Partita's again").isEmpty();
        assertThat(ofCard("node-l", 0)).isEmpty();
        assertThat(node.unprepare(overlapping)).isEmpty();
        assertThat(instances(node)).doesNotContain("3g.71gb at");
      }
    }
  }

  private static void cut(TestNode node, String... what) throws Exception {
    node.simulator(Stream.concat(Stream.of("mig", "--root", node.driverRoot().toString(), "--gpu", "0"),
        Stream.of(what)).toArray(String[]::new));
  }

  private List<StaticMigInstance> ofCard(String node, int card) {
    GpuNode found = client.resources(GpuNode.class).withName(node).get();
    return found == null || found.getStatus() == null || found.getStatus().gpus().size() <= card
        ? List.of()
        : found.getStatus().gpus().get(card).staticMigInstances();
  }

  private Optional<Condition> condition(String claim, String type) {
    ResourceClaim found = client.resources(ResourceClaim.class).inNamespace("default").withName(claim).get();
    return found.getStatus() == null || found.getStatus().getDevices() == null
        ? Optional.empty()
        : found.getStatus().getDevices().stream().flatMap(device -> device.getConditions().stream())
            .filter(condition -> condition.getType().equals(type)).findFirst();
  }

  @Test
  void aContainerSeesItsOwnInstanceAndNothingElseOfTheCard() throws Exception {
    try (TestNode node = TestNode.withCards("node-v", "h200")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(TestContainer.settings(node, "--mig"), client)) {
        TestContainer small =
            TestContainer.of(node, client.resource(claim("small", instance("node-v", "gpu", 0, "1g-18gb-6"))).create());
        TestContainer large =
            TestContainer.of(node, client.resource(claim("large", instance("node-v", "gpu", 0, "3g-71gb-0"))).create());
        assertThat(small.run("info")).contains("device 0 ", "total=" + (16384L << 20)).doesNotContain("device 1 ");
        assertThat(large.run("info")).contains("device 0 ", "total=" + (71424L << 20)).doesNotContain("device 1 ");
        assertThat(small.run("alloc", "20Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
        assertThat(large.run("alloc", "20Gi")).contains("CUDA_SUCCESS");
        try (TestContainer.Running holder = small.hold("1Gi");
            CardReader nvml = NvmlLibrary.open(nvml(node))) {
          String card = nvml.read().cards().getFirst().uuid();
          OptionalInt place =
              nvml.mig(card).instances().stream().filter(i -> i.start() == 6).mapToInt(MigControl.GpuInstance::id)
                  .findFirst();
          assertThat(place).isPresent();
          assertThat(nvml.users(card)).containsExactly(new CardUser(holder.process().pid(), place));
          assertThat(nvml.processes().get(card)).containsExactly(
              new ProcessMemory(holder.process().pid(), (1024L + 300) << 20, place));
        }
      }
    }
  }

  @Test
  void containersWithSharesOfOneInstanceAreEachHeldToTheirs() throws Exception {
    try (TestNode node = TestNode.withCards("node-p", "h200")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      cut(node, "enable");
      cut(node, "create", "1g.18gb:0");
      cut(node, "create", "1g.18gb:1");
      try (KubeletPlugin _ = TestNode.start(TestContainer.settings(node), client)) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(ofCard("node-p", 0)).hasSize(2));
        TestContainer six = TestContainer.of(node,
            client.resource(claim("six", instanceShare("node-p", "gpu", 0, "1g-18gb-1", "6Gi"))).create());
        TestContainer ten = TestContainer.of(node,
            client.resource(claim("ten", instanceShare("node-p", "gpu", 0, "1g-18gb-1", "10Gi"))).create());
        assertThat(six.run("info")).contains("device 0 ", "total=" + (6L << 30)).doesNotContain("device 1 ");
        assertThat(ten.run("info")).contains("total=" + (10L << 30));
        assertThat(six.run("alloc", "7Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
        assertThat(ten.run("alloc", "7Gi")).contains("CUDA_SUCCESS");
        try (TestContainer.Running _ = six.hold("4Gi")) {
          assertThat(six.run("alloc", "4Gi")).as("beside its own").contains("CUDA_ERROR_OUT_OF_MEMORY");
          assertThat(ten.run("alloc", "7Gi")).as("beside the other's").contains("CUDA_SUCCESS");
        }
        ResourceClaim beyond =
            client.resource(claim("beyond", instanceShare("node-p", "gpu", 0, "1g-18gb-1", "1Gi"))).create();
        assertThat(node.prepare(beyond).getError()).contains("its shares would hold");
        assertThat(instances(node)).contains("1g.18gb at 0:1", "1g.18gb at 1:1");
      }
    }
  }

  private static Path nvml(TestNode node) {
    DriverRoot root = new DriverRoot(node.driverRoot(), node.driverRoot().toString());
    return ((DriverSearch.Found) root.search()).files().nvml().orElseThrow().localPath();
  }

  private List<MigProfile> profiles(String node, int card) {
    GpuNode found = client.resources(GpuNode.class).withName(node).get();
    return found == null || found.getStatus() == null ? List.of() : found.getStatus().gpus().get(card).migProfiles();
  }

  private static String instances(TestNode node) throws Exception {
    return node.simulator("mig", "--root", node.driverRoot().toString(), "--gpu", "0", "list");
  }
}
