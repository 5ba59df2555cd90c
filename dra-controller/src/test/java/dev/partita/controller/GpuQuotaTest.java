package dev.partita.controller;

import static dev.partita.controller.Cluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.quota.Amounts;
import dev.partita.api.quota.GpuQuota;
import dev.partita.api.quota.GpuQuotaSpec;
import dev.partita.api.quota.GpuQuotaStatus;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GpuQuotaTest {
  private final Cluster cluster = Cluster.empty();

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void aNamespaceGetsWhatItsQuotaAllowsAndTheRestWaitsForIt() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.labelNamespace("team", "a");
    quota("40Gi");
    cluster.start();
    cluster.claim("fits", "gpu.partita.dev", Map.of("memory", "40Gi"));
    cluster.pod("fits", "fits");
    cluster.result("fits");
    cluster.claim("more", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("more", "more");
    assertThat(cluster.note("more", "Unallocatable"))
        .isEqualTo("0 of 1 card fits: 1 card on node-0: namespace quota team-a: 40 GiB of 40 GiB memory, 8 GiB asked");
    eventually()
        .until(() -> read().getStatus() != null && read().getStatus().fullest().equals("40 GiB of 40 GiB memory"));
    assertThat(read().getStatus().used()).isEqualTo(new Amounts(new Quantity("40Gi"), 0L, 1L, 1L));
    GpuQuota larger = read();
    larger.setSpec(spec("48Gi"));
    cluster.client.resource(larger).update();
    cluster.result("more");
  }

  @Test
  void aWholeCardThatWouldBeTooMuchIsNotGiven() {
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.labelNamespace("team", "a");
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(
        new GpuQuotaSpec(
            new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
            List.of(
                new GpuQuotaSpec.Limit("", List.of(), null, new Amounts(null, 50L, null, null), Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
    cluster.start();
    cluster.claim("whole", "whole.gpu.partita.dev", Map.of());
    cluster.pod("whole", "whole");
    eventually()
        .untilAsserted(
            () -> assertThat(cluster.note("whole", "Unallocatable"))
                .endsWith("namespace quota team-a: 0 of 50 % cores, 100 % asked"));
    assertThat(cluster.isAllocated("whole")).isFalse();
  }

  @Test
  void aLimitOfOneModelLeavesTheOtherCardsOfTheNode() {
    cluster.add(
        GpuNodes.ready(
            "node-0", GpuNodeSpec.DEFAULT,
            List.of(
                GpuNodes.card("node-0", 0, "NVIDIA H200", 40 * GpuNodes.GIB, GpuHealth.HEALTHY),
                GpuNodes.card("node-0", 1, "NVIDIA A100-SXM4-80GB", 80 * GpuNodes.GIB, GpuHealth.HEALTHY))));
    cluster.labelNamespace("team", "a");
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(
        new GpuQuotaSpec(
            new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
            List.of(new GpuQuotaSpec.Limit("best", List.of("h200"), null,
                new Amounts(new Quantity("10Gi"), null, null, null), Amounts.UNLIMITED))));
    cluster.client.resource(quota).create();
    cluster.start();
    cluster.claim("small", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("small", "small");
    assertThat(cluster.result("small").getDevice()).as("packed as if there were no quota").isEqualTo("gpu-0-shared");
    cluster.claim("large", "gpu.partita.dev", Map.of("memory", "16Gi"));
    cluster.pod("large", "large");
    assertThat(cluster.result("large").getDevice()).as("it would be packed on the other one").isEqualTo("gpu-1-shared");
    cluster.claim("huge", "gpu.partita.dev", Map.of("memory", "30Gi", "cores", "100"));
    cluster.pod("huge", "huge");
    cluster.result("huge");
    cluster.claim("last", "gpu.partita.dev", Map.of("memory", "30Gi", "cores", "10"));
    cluster.pod("last", "last");
    assertThat(cluster.note("last", "Unallocatable")).as("of what was asked for, not of what was tried instead")
        .contains("namespace quota team-a/best: 8 GiB of 10 GiB memory, 30 GiB asked");
    assertThat(cluster.isAllocated("last")).isFalse();
  }

  @Test
  void withoutTheDefinitionOfQuotasNothingIsLimitedUntilItIsThere() {
    cluster.rules.undefine("gpuquotas");
    cluster.add(GpuNodes.ready("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    cluster.labelNamespace("team", "a");
    cluster.start();
    cluster.claim("unlimited", "gpu.partita.dev", Map.of("memory", "40Gi"));
    cluster.pod("unlimited", "unlimited");
    cluster.result("unlimited");
    cluster.rules.define("gpuquotas");
    quota("40Gi");
    eventually().until(() -> read().getStatus() != null);
    cluster.claim("more", "gpu.partita.dev", Map.of("memory", "8Gi"));
    cluster.pod("more", "more");
    assertThat(cluster.note("more", "Unallocatable"))
        .endsWith("namespace quota team-a: 40 GiB of 40 GiB memory, 8 GiB asked");
  }

  @Test
  void theStatusIsPutRightWhateverBecameOfIt() {
    cluster.labelNamespace("team", "a");
    quota("40Gi");
    cluster.rules.forbid("/gpuquotas/team-a/status");
    cluster.start();
    eventually().until(() -> cluster.rules.refusals() > 0);
    cluster.rules.permit("/gpuquotas/team-a/status");
    eventually().until(() -> read().getStatus() != null);
    GpuQuotaStatus right = read().getStatus();
    GpuQuota wrong = read();
    wrong.setStatus(new GpuQuotaStatus(right.namespaces(), new Amounts(new Quantity("1Gi"), 0L, 1L, 1L),
        right.fullest(), right.limits(), right.problem()));
    cluster.client.resource(wrong).updateStatus();
    eventually().untilAsserted(() -> assertThat(read().getStatus()).isEqualTo(right));
  }

  private GpuQuota read() {
    return cluster.client.resources(GpuQuota.class).withName("team-a").get();
  }

  private void quota(String memory) {
    GpuQuota quota = new GpuQuota();
    quota.getMetadata().setName("team-a");
    quota.setSpec(spec(memory));
    cluster.client.resource(quota).create();
  }

  private static GpuQuotaSpec spec(String memory) {
    return new GpuQuotaSpec(
        new LabelSelectorBuilder().addToMatchLabels("team", "a").build(),
        List.of(new GpuQuotaSpec.Limit("", List.of(), null, new Amounts(new Quantity(memory), null, null, null),
            Amounts.UNLIMITED)));
  }
}
