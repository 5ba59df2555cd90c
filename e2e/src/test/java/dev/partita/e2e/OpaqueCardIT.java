package dev.partita.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.partita.e2e.cluster.Ask;
import dev.partita.e2e.cluster.LockedPerTest;
import dev.partita.e2e.cluster.OnRealCluster;
import dev.partita.e2e.cluster.PodUnderTest;
import dev.partita.e2e.cluster.RealCluster;
import dev.partita.e2e.cluster.Workspace;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A card that a file on its node lists is allocated and counted, and held by nothing but the books. */
@OnRealCluster
@Order(2) // as those that wait for this lock test by test
@ResourceLock(LockedPerTest.SETTINGS_NODE) // from the first test to the last: they share the files
class OpaqueCardIT {
  private static final String CLASS = "opaque.gpu.partita.dev";

  @BeforeAll
  static void aFileListsACardOfAnotherVendorAndOneThatIsWrong(RealCluster cluster) {
    String node = cluster.settingsNode();
    cluster.files().shell(node, """
        set -e
        umask 022
        mkdir -p /etc/partita/cards.d
        cat > /etc/partita/cards.d/acme.yaml <<END
        apiVersion: gpu.partita.dev/v1alpha1
        kind: OpaqueCards
        cards:
        - {vendor: Acme, productName: Accelerator 9, serial: a9-1, memory: 8Gi, deviceNodes: [/dev/fuse],
           env: [ACME_VISIBLE=1]}
        - {vendor: Acme, productName: Accelerator 9, serial: a9-2, memory: 8Gi, deviceNodes: [/etc/shadow]}
        END
        """);
    await("the card of the file").atMost(Workspace.PATIENCE).until(() -> opaqueCards(cluster).size() == 1);
  }

  @AfterAll
  static void theFileIsGone(RealCluster cluster) {
    cluster.files().shell(cluster.settingsNode(), "rm -f /etc/partita/cards.d/acme.yaml");
    await("no opaque card").atMost(Workspace.PATIENCE).until(() -> opaqueCards(cluster).isEmpty());
  }

  @Test
  void whatIsWrongInTheFileIsSaidAndTheOtherCardIsUsed(RealCluster cluster) {
    assertThat(opaqueCards(cluster)).singleElement()
        .satisfies(card -> assertThat(card).containsEntry("memoryEnforcement", "None").containsEntry("index", 100)
            .containsEntry("model", "accelerator-9"));
    List<Map<String, Object>> conditions =
        Objects.requireNonNull(gpuNode(cluster).get("status", "conditions"));
    assertThat(conditions).filteredOn(condition -> "CardFilesValid".equals(condition.get("type"))).singleElement()
        .satisfies(condition -> assertThat(condition.get("status") + " " + condition.get("message"))
            .startsWith("False acme.yaml: cards[1].deviceNodes[0]: must be a device node below /dev"));
  }

  @Test
  void aPodGetsItsShareAndIsToldThatNothingHoldsIt(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    PodUnderTest pod = workspace.pod("acme", node, share("6Gi").cores(25),
        "[ -c /dev/fuse ] && echo device; env; ls /usr/lib/partita /etc/partita/shares; echo ready; exec sleep infinity")
        .awaitLine("ready");
    assertThat(pod.log()).contains("device\n", "ACME_VISIBLE=1", "PARTITA_CARD_100_MEMORY=" + (6L << 30),
        "PARTITA_CARD_100_CORES=25", "PARTITA_CARD_100_SERIAL=a9-1").doesNotContain("libcuda");
    assertThat(pod.claim().devices()).singleElement()
        .satisfies(device -> assertThat(device.getDevice()).isEqualTo("gpu-100-opaque"));
    assertThat(pod.claim().awaitCondition("MemoryLimitEnforced", "NotEnforced").getMessage())
        .contains("only counted");
    assertThat(pod.claim().statusData()).contains("None");

    workspace.pod("more", node, share("4Gi"), "true");
    assertThat(awaitWaiting(workspace, "more")).contains("2 GiB free of 4 GiB asked");

    String claim = pod.claim().uid();
    pod.deleteAndAwait();
    assertThat(workspace.podNamed("more").awaitLog()).isEmpty();
    await("no trace").atMost(Workspace.PATIENCE)
        .untilAsserted(() -> assertThat(cluster.files().tracesOf(claim, node)).isEmpty());
  }

  @Test
  void whoAsksForAShareOrAWholeCardOfTheDriversNeverGetsIt(RealCluster cluster, Workspace workspace) {
    String node = cluster.settingsNode();
    workspace.pod("share", node, new Ask(Ask.ANY_SHARE, 1, Map.of(), "", "").onCardOf("gpu-100-opaque"), "true");
    assertThat(awaitWaiting(workspace, "share"))
        .contains("1 card on " + node + ": not selected by class gpu.partita.dev");
    workspace.pod("whole", node, Ask.wholeCards(1).onCardOf("gpu-100-opaque"), "true");
    assertThat(awaitWaiting(workspace, "whole")).contains("1 card on " + node + ": not offered as whole");
  }

  @Test
  void whatNothingCanHoldIsRefused(Workspace workspace) {
    for (String field : List.of("oversubscribe: 150", "memoryLimit: 8Gi", "coreLimit: Soft",
        "sharing: {strategy: TimeSlicing}", "placement: {exclusive: true}")) {
      await(field + " to be refused, once a controller answers").atMost(Workspace.PATIENCE)
          .untilAsserted(() -> assertThatThrownBy(() -> workspace.dryRun("held", share("1Gi").config(field)))
              .hasMessageContaining("nothing does on an opaque card"));
    }
  }

  private static Ask share(String memory) {
    return new Ask(CLASS, 1, Map.of("memory", memory), "", "");
  }

  private static String awaitWaiting(Workspace workspace, String name) {
    return await("why pod " + name + " waits").atMost(Workspace.PATIENCE)
        .until(() -> workspace.client().pods().inNamespace(workspace.namespace()).withName(name).get().getStatus()
            .getConditions().stream()
            .filter(c -> "gpu.partita.dev/Allocated".equals(c.getType()) && "False".equals(c.getStatus()))
            .findFirst(), Optional::isPresent)
        .orElseThrow().getMessage();
  }

  private static GenericKubernetesResource gpuNode(RealCluster cluster) {
    return Objects.requireNonNull(cluster.gpuNode(cluster.settingsNode()).get());
  }

  private static List<Map<String, Object>> opaqueCards(RealCluster cluster) {
    List<Map<String, Object>> gpus = Objects.requireNonNull(gpuNode(cluster).get("status", "gpus"));
    return gpus.stream().filter(card -> card.get("opaque") != null).toList();
  }
}
