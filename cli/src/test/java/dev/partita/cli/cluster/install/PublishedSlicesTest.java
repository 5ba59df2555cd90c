package dev.partita.cli.cluster.install;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.cli.command.PaperCluster;
import dev.partita.cli.command.Waiting;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSliceBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublishedSlicesTest {
  private static final String NAMESPACE = "partita-system";
  private static final String DAEMON_SET = "partita-kubelet-plugin";
  private static final Map<String, String> LABELS = Map.of("app.kubernetes.io/name", "kubelet-plugin");

  private PaperCluster cluster;

  @BeforeEach
  void start(@TempDir Path folder) throws IOException {
    cluster = new PaperCluster(folder);
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  private Waiting.Look<List<String>> look() {
    return PublishedSlices.look(cluster.client(), NAMESPACE, 2);
  }

  private static Waiting.Look<List<String>> done(String... nodes) {
    return Waiting.done(List.of(nodes));
  }

  /** The DaemonSet as its controller has looked at it. */
  private void plugin(int wanted) {
    cluster.client().resource(new DaemonSetBuilder().withNewMetadata().withNamespace(NAMESPACE).withName(DAEMON_SET)
        .endMetadata().withNewSpec().withNewSelector().withMatchLabels(LABELS).endSelector().endSpec()
        .withNewStatus().withObservedGeneration(1L).withDesiredNumberScheduled(wanted).endStatus().build()).create();
  }

  private void pod(String node) {
    cluster.client().resource(new PodBuilder().withNewMetadata().withNamespace(NAMESPACE).withName("plugin-" + node)
        .withLabels(LABELS).endMetadata().withNewSpec().withNodeName(node).endSpec().build()).create();
  }

  private void node(String name, String ready, Instant since) {
    cluster.client().resource(new NodeBuilder().withNewMetadata().withName(name).endMetadata().withNewStatus()
        .addNewCondition().withType("Ready").withStatus(ready).withLastTransitionTime(since.toString()).endCondition()
        .endStatus().build()).create();
  }

  private void readyNodes(String... names) {
    for (String name : names) {
      node(name, "True", Instant.EPOCH);
    }
  }

  private void cards(String node) {
    cluster.client().resource(new ResourceSliceBuilder().withNewMetadata().withName(node).endMetadata().withNewSpec()
        .withDriver(Driver.NAME).withNodeName(node)
        .withNewPool().withName(Driver.poolOf(node)).withGeneration(1L).withResourceSliceCount(1L).endPool()
        .addNewDevice().withName("gpu-0").endDevice().addNewDevice().withName("gpu-0-shared").endDevice()
        .addNewDevice().withName("gpu-1").endDevice().endSpec().build()).create();
  }

  @Test
  void aNodeOnWhichNoPluginIsPlacedIsNotWaitedFor() {
    readyNodes("a", "b", "cpu");
    plugin(2);
    pod("a");
    pod("b");
    cards("b");
    assertThat(look()).isEqualTo(Waiting.notYet("a has 0 (its plugin has not reported yet)"));
    cards("a");
    assertThat(look()).isEqualTo(done("a", "b"));
  }

  @Test
  void aPluginThatIsNotPlacedYetIsWaitedFor() {
    readyNodes("a", "b");
    assertThat(look())
        .isEqualTo(Waiting.notYet("there is no DaemonSet partita-kubelet-plugin in namespace partita-system"));
    plugin(2);
    pod("a");
    cards("a");
    assertThat(look()).isEqualTo(Waiting.notYet("the DaemonSet partita-kubelet-plugin has pods on 1 of 2 nodes"));
    pod("b");
    cards("b");
    assertThat(look()).isEqualTo(done("a", "b"));
  }

  /** Its status has zeros then. */
  @Test
  void aDaemonSetAtWhichNobodyHasLookedIsNotTakenForOneWithoutNodes() {
    readyNodes("a");
    cluster.client().resource(new DaemonSetBuilder().withNewMetadata().withNamespace(NAMESPACE).withName(DAEMON_SET)
        .endMetadata().withNewSpec().withNewSelector().withMatchLabels(LABELS).endSelector().endSpec()
        .withNewStatus().withDesiredNumberScheduled(0).endStatus().build()).create();
    assertThat(look()).isEqualTo(
        Waiting.notYet("the DaemonSet partita-kubelet-plugin has no pods yet: no controller has looked at it"));
  }

  @Test
  void aDaemonSetThatIsForNoNodeIsSaidSo() {
    readyNodes("a");
    plugin(0);
    assertThat(look()).isEqualTo(Waiting.notYet("the DaemonSet partita-kubelet-plugin is for no node: look at"
        + " plugin.nodeSelector and the labels of the nodes"));
  }

  /** A DaemonSet has pods on such nodes, too: it tolerates their taint. */
  @Test
  void aNodeThatWasNotReadyBeforeIsNotWaitedForAndOneThatIsNotForAMomentIs() {
    readyNodes("a");
    node("gone", "Unknown", Instant.EPOCH);
    plugin(2);
    pod("a");
    pod("gone");
    cards("a");
    assertThat(look()).isEqualTo(done("a"));
    cluster.client().nodes().withName("gone").delete();
    node("gone", "False", Instant.now().plusSeconds(60));
    assertThat(look()).isEqualTo(Waiting.notYet("gone has 0 (its plugin has not reported yet)"));
  }

  @Test
  void whereNoNodeIsReadyNoCardsAreThere() {
    node("gone", "Unknown", Instant.EPOCH);
    plugin(1);
    pod("gone");
    assertThat(look())
        .isEqualTo(Waiting.notYet("no node on which the DaemonSet partita-kubelet-plugin has a pod is Ready"));
  }
}
