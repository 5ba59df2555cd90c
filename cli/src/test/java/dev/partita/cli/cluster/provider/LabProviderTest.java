package dev.partita.cli.cluster.provider;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.cli.checkout.Progress;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

  @Test
  void aLabComesUpAlsoWhereTheFolderOfAnEarlierOneWasDeletedAndItsBridgeWasLeft(@TempDir Path folder)
      throws IOException {
    Path bridge = Files.createFile(folder.resolve("bridge"));
    ClusterRecord.Access access = up(folder, new StringWriter(), """
          up) [ ! -e %1$s ] || { echo 'RTNETLINK answers: File exists' >&2; exit 2; }; touch %1$s;;
          down) rm -f %1$s;;
        """.formatted(bridge));
    assertThat(access.kubeconfig()).isEqualTo("/lab/kubeconfig");
  }

  @Test
  void aDaemonThatEndedByItselfWhileTheLabCameUpIsStartedAgain(@TempDir Path folder) throws IOException {
    StringWriter said = new StringWriter();
    up(folder, said, """
          status) printf '%%s\n' 'etcd running 12' 'node-0.holder running 13' 'node-1.holder dead' 'node-1.proxy dead';;
          start) echo "$2" >> %s;;
        """.formatted(folder.resolve("started")));
    assertThat(folder.resolve("started")).hasContent("node-1.proxy");
    assertThat(said.toString()).contains("starting node-1.proxy again, which has ended");
  }

  /** Brings up one node of a lab whose script does so for its commands. */
  private static ClusterRecord.Access up(Path folder, StringWriter said, String commands) throws IOException {
    Path lab = Files.createFile(folder.resolve("lab"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    Files.writeString(lab, """
        #!/bin/sh
        case $1 in
        %s
          env) echo 'export KUBECONFIG=/lab/kubeconfig';;
        esac
        """.formatted(commands));
    return new LabProvider(lab, folder.resolve("state"),
        StateFolder.of(Map.of("PARTITA_STATE", folder.resolve("partita").toString())))
        .up(1, Optional.empty(), new Progress(new PrintWriter(said), InstantSource.system()));
  }
}
