package dev.partita.cli.cluster.provider;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LabProviderTest {
  @Test
  void whatRunsIsEndedAtOnceButForTheHoldersOfNamespaces() {
    assertThat(LabProvider.daemons("""
        etcd running 12
        node-0.holder running 13
        node-0.kubelet running 14
        node-0.proxy dead
        """)).containsExactly("etcd", "node-0.kubelet");
    assertThat(LabProvider.daemons("")).isEmpty();
  }

  @Test
  void aLabWhoseProcessesAreAllDeadDoesNotRun() {
    assertThat(LabProvider.isRunning("etcd dead\nnode-0.kubelet dead\nnode-0.holder dead\n")).isFalse();
    assertThat(LabProvider.isRunning("etcd dead\nnode-0.holder running 13\n")).isTrue();
    assertThat(LabProvider.isRunning("* dead\n")).isFalse();
  }
}
