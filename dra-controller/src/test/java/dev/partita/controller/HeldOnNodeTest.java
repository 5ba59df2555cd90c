package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.node.GpuNode;
import dev.partita.api.node.HeldClaim.Reason;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a node holds for a claim that is gone is nobody's, and its namespace's still. */
class HeldOnNodeTest {
  private static final String SHARE = "gpu.partita.dev";
  private static final String WHOLE = "whole.gpu.partita.dev";

  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aCardThatTheNodeHoldsIsGivenToNobodyAndTheReasonSaysForWhichClaim() {
    cluster.add(GpuNodes.holding(node(), held("gone-1", Reason.ClaimGone, HeldDevice.whole("GPU-node-0-0"))));
    cluster.start();
    cluster.claim("waits", SHARE, Map.of("memory", "1Gi"));
    cluster.pod("waits", "waits");
    assertSaid("waits", "taken as a whole, of which some is held on the node by a claim that is gone (UID gone-1)");
    report();
    cluster.result("waits");
  }

  @Test
  void ofACardOfWhichTheNodeHoldsAShareTheRestCanBeHad() {
    HeldDevice share = HeldDevice.share("GPU-node-0-0", 100 * GpuNodes.GIB, 50);
    cluster.add(GpuNodes.holding(node(), held("gone-1", Reason.ClaimGone, share)));
    cluster.start();
    cluster.claim("large", SHARE, Map.of("memory", "41Gi"));
    cluster.pod("large", "large");
    assertSaid("large", "40 GiB free of 41 GiB asked", "UID gone-1");
    cluster.claim("small", SHARE, Map.of("memory", "40Gi", "cores", "50"));
    cluster.pod("small", "small");
    cluster.result("small");
  }

  @Test
  void whatANodeHoldsForAClaimThatIsThereIsCountedOnceUnlessTheNodeCannotTellWhatItIs() {
    cluster.add(node());
    cluster.start();
    cluster.claim("had", SHARE, Map.of("memory", "100Gi"));
    cluster.pod("had", "had");
    cluster.result("had");
    String uid = cluster.read("had").getMetadata().getUid();
    report(held(uid, Reason.ClaimGone, HeldDevice.share("GPU-node-0-0", 100 * GpuNodes.GIB, 0)));
    cluster.claim("more", SHARE, Map.of("memory", "20Gi"));
    cluster.pod("more", "more");
    cluster.result("more");
    report(held(uid, Reason.OtherVersion, HeldDevice.whole("GPU-node-0-0")));
    cluster.claim("last", SHARE, Map.of("memory", "1Gi"));
    cluster.pod("last", "last");
    assertSaid("last", "taken as a whole", uid);
  }

  @Test
  void whoDeletesTheClaimOfHisRunningPodFreesNeitherTheCardNorHisQuota() {
    quota("200Gi");
    cluster.add(node());
    cluster.add(GpuNodes.ready("node-1", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.start();
    cluster.claim("first", WHOLE, Map.of());
    String pod = cluster.pod("first", "first").getMetadata().getUid();
    cluster.result("first");
    reserve("first", pod);
    String node = cluster.result("first").getPool().replace("/gpu", "");
    cluster.bindAndRun("first", node);
    cluster.awaitQuiet(); // what kubelet needs the claim for comes later still
    String uid = cluster.read("first").getMetadata().getUid();
    cluster.deleteWhateverProtectsIt("first");
    cluster.claim("second", SHARE, Map.of("memory", "100Gi"));
    cluster.pod("second", "second");
    assertSaid("second", "namespace quota team-a: 140 GiB of 200 GiB memory, 100 GiB asked");
    cluster.claim("third", SHARE, Map.of("memory", "60Gi"));
    cluster.pod("third", "third");
    assertThat(cluster.result("third").getPool()).as("the other node").isNotEqualTo(node + "/gpu");
    GpuNode another = GpuNodes.ready("node-2", 1, "NVIDIA H200", 140 * GpuNodes.GIB);
    cluster.add(GpuNodes.holding(another, held(uid, Reason.ClaimGone, HeldDevice.whole("GPU-node-2-0"))));
    cluster.bindAndFinish("first", node);
    cluster.claim("fourth", WHOLE, Map.of());
    cluster.pod("fourth", "fourth");
    assertSaid("fourth", "200 GiB of 200 GiB memory"); // what is reported of a namespace counts in its quota
    cluster.client.resources(GpuNode.class).withName("node-2").delete();
    eventually().until(() -> cluster.isAllocated("second") || cluster.isAllocated("fourth"));
  }

  private void assertSaid(String claim, String... words) {
    eventually().untilAsserted(() -> assertThat(cluster.note(claim, "Unallocatable")).contains(words));
  }

  private void reserve(String claim, String podUid) {
    ResourceClaim reserved =
        new ResourceClaimBuilder(cluster.read(claim))
            .editStatus()
            .addNewReservedFor(null, claim, "pods", podUid)
            .endStatus()
            .build();
    cluster.client.resource(reserved).updateStatus();
  }

  private void quota(String memory) {
    Namespace namespace =
        new NamespaceBuilder().withNewMetadata().withName("default").addToLabels("team", "a").endMetadata().build();
    cluster.client.resource(namespace).create();
    Amounts most = new Amounts(new Quantity(memory), null, null, null);
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(
        new GpuQuotaSpec(
            new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
            List.of(new GpuQuotaSpec.Limit("", List.of(), null, most, Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
  }

  private static GpuNode node() {
    return GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB);
  }

  private static HeldClaim held(String uid, Reason reason, HeldDevice device) {
    return new HeldClaim(uid, "default", "name", reason, List.of(device), "2026-01-02T03:04:05Z");
  }

  /** What the node's plugin reports next. */
  private void report(HeldClaim... held) {
    GpuNode now = cluster.client.resources(GpuNode.class).withName("node-0").get();
    cluster.client.resource(GpuNodes.holding(now, held)).updateStatus();
  }
}
