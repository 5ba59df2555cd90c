package dev.partita.plugin;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.instanceShare;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.partita.serving.access.MockApiServer;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Processes in containers, seen from the node: what they say that they hold, and what NVML says. */
@MockApiServer(crud = true)
class UsageInAContainerTest {
  private static final Duration SOON = Duration.ofSeconds(60);

  /** Figures alone are written again at most once in a minute. */
  private static final Duration FIGURES = Duration.ofMinutes(2);

  @SuppressWarnings("NullAway.Init") // set by the extension
  KubernetesClient client;

  @Test
  void whatAContextTakesCountsAgainstTheShareAndIsShownApart() throws Exception {
    try (TestNode node = TestNode.withCards("node-u", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim claim = client.resource(claim("contexts", share("node-u", "gpu", 0, "8Gi", ""))).create();
        TestContainer container = TestContainer.of(node, claim);
        assertThat(node.quota(claim)).contains("generation 1\n").doesNotContain("\noverhead ");
        TestApi api = new TestApi(client);
        api.statusWhen("node-u", status -> status.setup() != null && !status.setup().cdiApplied());
        try (TestContainer.Running holder = container.hold("4Gi")) {
          assertThat(holder.firstLine()).isEqualTo("holding 4294967296");
          await().atMost(SOON).until(() -> node.quota(claim), text -> text.contains("context 314572800\n"));
          assertThat(node.quota(claim)).contains("memory 8589934592\n").doesNotContain("generation 1\n");
          // what is found before it holds all of that may be told first
          AllocatedDeviceStatus device =
              await().atMost(FIGURES).until(() -> device("contexts"),
                  d -> String.valueOf(d.getData()).contains("memoryUsed=4396Mi"));
          assertThat(condition(device, "WithinMemoryLimit").orElseThrow().getStatus()).isEqualTo("True");
          assertThat(condition(device, "Ready").orElseThrow().getStatus()).isEqualTo("True");
          assertThat(String.valueOf(device.getData())).contains("memoryOverhead=300Mi", "memoryLimit=8Gi",
              "memoryPeak=4396Mi", "processes=1");
          // only now, for they count towards the peak as well
          assertThat(container.run("alloc", "4Gi")).contains("CUDA_ERROR_OUT_OF_MEMORY");
          assertThat(container.run("alloc", "3Gi")).contains("CUDA_SUCCESS");
          await().atMost(SOON).until(container::smi, text -> text.contains("4396MiB"));
          api.statusWhen("node-u", status -> status.setup() != null && status.setup().cdiApplied());
          await("what a process takes at least to be learned").atMost(SOON)
              .until(() -> Files.exists(node.root.resolve("state/overheads")));
        }
        ResourceClaim next = client.resource(claim("next", share("node-u", "gpu", 0, "1Gi", ""))).create();
        node.prepare(next);
        // known by now
        await().atMost(SOON).until(() -> node.quota(next), text -> text.contains("context 314572800\n"));
      }
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim later = client.resource(claim("later", share("node-u", "gpu", 0, "1Gi", ""))).create();
        node.prepare(later);
        // and by the next plugin
        await().atMost(SOON).until(() -> node.quota(later), text -> text.contains("context 314572800\n"));
      }
    }
  }

  @Test
  void aContainerIsShownWhatItsOwnProcessesUseOfTheCard() throws Exception {
    try (TestNode node = TestNode.withCards("node-w", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim idle = client.resource(claim("idle", share("node-w", "gpu", 0, "8Gi", ""))).create();
        ResourceClaim claim = client.resource(claim("busy", share("node-w", "gpu", 0, "8Gi", ""))).create();
        TestContainer neighbour = TestContainer.of(node, idle);
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running _ = container.spin()) {
          await().atMost(SOON).until(container::utilization, percent -> percent > 50);
          assertThat(neighbour.utilization()).isZero();
        }
        await().atMost(SOON).until(container::utilization, percent -> percent == 0);
      }
    }
  }

  @Test
  void whoHoldsMoreThanItsShareWithALibraryOfItsOwnIsFound() throws Exception {
    try (TestNode node = TestNode.withCards("node-v", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim honest = client.resource(claim("honest", share("node-v", "gpu", 0, "8Gi", ""))).create();
        ResourceClaim claim = client.resource(claim("thief", share("node-v", "gpu", 0, "8Gi", ""))).create();
        TestContainer neighbour = TestContainer.of(node, honest);
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running good = neighbour.hold("2Gi");
            TestContainer.Running bad = container.holdPastTheShadow("20Gi")) {
          assertThat(bad.firstLine()).isEqualTo("holding 21474836480");
          Condition found =
              await().atMost(SOON).until(() -> condition(device("thief"), "WithinMemoryLimit"),
                  c -> c.filter(l -> l.getStatus().equals("False")).isPresent()).orElseThrow();
          assertThat(found.getReason()).isEqualTo("LimitExceeded");
          assertThat(found.getMessage()).contains("process " + bad.process().pid() + " ",
              "holds 20.2 GiB, of which the ledger has nothing", "the claim has 8 GiB");
          await().atMost(SOON).until(() -> event("thief", "LimitExceeded"), note -> note.isPresent());
          assertThat(good.process().isAlive()).isTrue();
          assertThat(bad.process().isAlive()).isTrue();
          // the one may be told of before the other
          assertThat(
              await().atMost(SOON).until(() -> condition(device("honest"), "WithinMemoryLimit"), Optional::isPresent)
                  .map(Condition::getStatus))
              .contains("True");
        }
        await().atMost(SOON).until(() -> condition(device("thief"), "WithinMemoryLimit"),
            c -> c.filter(l -> l.getStatus().equals("True")).isPresent());
      }
    }
  }

  @Test
  void whatIsUsedOfAShareOfAMigInstanceIsCountedByClaimAndWhoHoldsMoreIsFound() throws Exception {
    try (TestNode node = TestNode.withCards("node-i", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      for (String change : List.of("enable", "create 1g.18gb:0")) {
        node.simulator(("mig --root " + node.driverRoot() + " --gpu 0 " + change).split(" "));
      }
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        new TestApi(client).statusWhen("node-i", status -> !status.gpus().getFirst().staticMigInstances().isEmpty());
        ResourceClaim honest =
            client.resource(claim("honest", instanceShare("node-i", "gpu", 0, "1g-18gb-0", "6Gi"))).create();
        ResourceClaim claim =
            client.resource(claim("thief", instanceShare("node-i", "gpu", 0, "1g-18gb-0", "4Gi"))).create();
        TestContainer neighbour = TestContainer.of(node, honest);
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running good = neighbour.hold("4Gi");
            TestContainer.Running bad = container.holdPastTheShadow("8Gi")) {
          assertThat(good.firstLine()).isEqualTo("holding 4294967296");
          assertThat(bad.firstLine()).isEqualTo("holding 8589934592");
          Condition found =
              await().atMost(SOON).until(() -> condition(device("thief"), "WithinMemoryLimit"),
                  c -> c.filter(l -> l.getStatus().equals("False")).isPresent()).orElseThrow();
          assertThat(found.getMessage()).contains("process " + bad.process().pid() + " ", "the claim has 4 GiB");
          AllocatedDeviceStatus used = await().atMost(FIGURES).until(() -> device("honest"),
              d -> String.valueOf(d.getData()).contains("memoryUsed=4396Mi"));
          assertThat(String.valueOf(used.getData())).contains("memoryLimit=6Gi", "processes=1", "1g.18gb");
          assertThat(condition(used, "WithinMemoryLimit").map(Condition::getStatus)).contains("True");
        }
      }
    }
  }

  @Test
  void whoHoldsMemoryOfItsShareWithALibraryOfItsOwnIsFoundBeforeItExceedsIt() throws Exception {
    try (TestNode node = TestNode.withCards("node-w", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim claim = client.resource(claim("sly", share("node-w", "gpu", 0, "8Gi", ""))).create();
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running bad = container.holdPastTheShadow("5Gi")) {
          assertThat(bad.firstLine()).startsWith("holding");
          await().atMost(SOON).until(() -> condition(device("sly"), "WithinMemoryLimit"),
              c -> c.filter(l -> l.getReason().equals("LedgerBypassed")).isPresent());
          assertThat(container.run("alloc", "4Gi")).as("what it took is not granted again")
              .contains("CUDA_ERROR_OUT_OF_MEMORY");
        }
      }
    }
  }

  @Test
  void whoHoldsMoreThanItsShareIsKilledWhereThatIsAskedForAndNobodyElse() throws Exception {
    try (TestNode node = TestNode.withCards("node-x", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node, "--on-excess=kill"), client)) {
        ResourceClaim claim = client.resource(claim("killed", share("node-x", "gpu", 0, "8Gi", ""))).create();
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running good = container.hold("2Gi");
            TestContainer.Running bad = container.holdPastTheShadow("20Gi")) {
          await().atMost(SOON).until(() -> !bad.process().isAlive());
          assertThat(bad.process().waitFor()).isEqualTo(128 + 9);
          await().atMost(SOON).until(() -> event("killed", "ProcessKilled"), note -> note.isPresent());
          assertThat(good.process().isAlive()).isTrue();
        }
      }
    }
  }

  @Test
  void whoUsesMoreOfTheCardThanItsCoreLimitWithALibraryOfItsOwnIsFoundAndNotKilled() throws Exception {
    try (TestNode node = TestNode.withCards("node-y", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node, "--on-excess=kill"), client)) {
        ResourceClaim honest = client.resource(claim("patient", share("node-y", "gpu", 0, "8Gi", "30"))).create();
        ResourceClaim claim = client.resource(claim("greedy", share("node-y", "gpu", 0, "8Gi", "30"))).create();
        TestContainer neighbour = TestContainer.of(node, honest);
        TestContainer container = TestContainer.of(node, claim);
        try (TestContainer.Running _ = neighbour.spin();
            TestContainer.Running bad = container.spinPastTheShadow()) {
          Condition found =
              await().atMost(SOON).until(() -> condition(device("greedy"), "WithinCoreLimit"),
                  c -> c.filter(l -> l.getStatus().equals("False")).isPresent()).orElseThrow();
          assertThat(found.getReason()).isEqualTo("CoreLimitExceeded");
          assertThat(found.getMessage()).contains("where the claim has 30 % at most",
              "process " + bad.process().pid() + " (pid on the node)", "in no ledger");
          await().atMost(SOON).until(() -> event("greedy", "CoreLimitExceeded"), note -> note.isPresent());
          assertThat(
              await().atMost(SOON).until(() -> condition(device("patient"), "WithinCoreLimit"), c -> c.isPresent())
                  .map(Condition::getStatus))
              .contains("True");
          assertThat(bad.process().isAlive()).isTrue();
        }
      }
    }
  }

  @Test
  void coreLimitsOnSeveralCardsOfAContainerHold() throws Exception {
    try (TestNode node = TestNode.withCards("node-s", "h200x2")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim two =
            client.resource(claim("two", share("node-s", "a", 0, "8Gi", "20"), share("node-s", "b", 1, "8Gi", "20")))
                .create();
        try (TestContainer.Running _ = TestContainer.ofAll(node, two).spin()) {
          assertThat(
              await().atMost(SOON).until(() -> condition(device("two"), "WithinCoreLimit"), Optional::isPresent)
                  .map(Condition::getStatus))
              .contains("True");
          assertThat(condition(device("two"), "CoreLimitEnforced").map(Condition::getStatus)).contains("True");
        }
      }
    }
  }

  @Test
  void whereNvmlDoesNotTellWhatProcessesUseItIsUnknownWhetherACoreLimitIsKept() throws Exception {
    try (TestNode node = TestNode.withCards("node-z", "h200x1")) {
      assumeTrue(TestContainer.canRun(node.root), "no mount namespace with an overlay on this machine");
      node.simulator("fault", "--root", node.driverRoot().toString(), "--function", "nvmlDeviceGetProcessUtilization",
          "--error", "3"); // NVML_ERROR_NOT_SUPPORTED
      try (KubeletPlugin _ = TestNode.start(settings(node), client)) {
        ResourceClaim claim = client.resource(claim("unseen", share("node-z", "gpu", 0, "8Gi", "30"))).create();
        try (TestContainer.Running _ = TestContainer.of(node, claim).spinPastTheShadow()) {
          Condition unknown = await().atMost(SOON)
              .until(() -> condition(device("unseen"), "WithinCoreLimit"), Optional::isPresent).orElseThrow();
          assertThat(unknown.getStatus()).isEqualTo("Unknown");
          assertThat(unknown.getReason()).isEqualTo("NotMeasured");
          assertThat(unknown.getMessage()).contains("does not tell what its processes use of GPU-",
              "no samples of processes");
        }
      }
    }
  }

  private static PluginSettings settings(TestNode node, String... more) throws IOException {
    return TestContainer.settings(node,
        Stream.concat(Stream.of("--usage-period=0.1"), Stream.of(more)).toArray(String[]::new));
  }

  private Optional<String> event(String claim, String reason) {
    return client.events().v1().events().inNamespace("default").list().getItems().stream()
        .filter(e -> claim.equals(e.getRegarding().getName()) && reason.equals(e.getReason()))
        .map(e -> e.getNote())
        .findFirst();
  }

  private AllocatedDeviceStatus device(String claim) {
    ResourceClaim stored =
        Objects.requireNonNull(client.resources(ResourceClaim.class).inNamespace("default").withName(claim).get());
    List<AllocatedDeviceStatus> devices = stored.getStatus().getDevices();
    return devices == null || devices.isEmpty() ? new AllocatedDeviceStatus() : devices.getFirst();
  }

  private static Optional<Condition> condition(AllocatedDeviceStatus device, String type) {
    return device.getConditions() == null
        ? Optional.empty()
        : device.getConditions().stream().filter(c -> type.equals(c.getType())).findFirst();
  }
}
