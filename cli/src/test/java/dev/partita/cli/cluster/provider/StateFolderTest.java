package dev.partita.cli.cluster.provider;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.cluster.install.ClusterIdentity;
import dev.partita.cli.command.CommandFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateFolderTest {
  private static final ClusterRecord RECORD =
      new ClusterRecord(
          ProviderName.LAB,
          Map.of("KUBE_LAB", "/opt/lab"),
          "partita-system",
          "h200x4",
          Instant.parse("2026-01-02T03:04:05Z"),
          new ClusterRecord.Access("/tmp/kubeconfig", List.of("/opt/bin"), new ClusterIdentity("uid-1", "test")));

  @Test
  void remembersAClusterUntilItIsForgotten(@TempDir Path folder) {
    StateFolder state = StateFolder.of(Map.of("PARTITA_STATE", folder.resolve("new").toString()));
    assertThat(state.read()).isEmpty();
    state.write(RECORD);
    assertThat(state.read()).contains(RECORD);
    state.forget();
    assertThat(state.read()).isEmpty();
  }

  @Test
  void aFolderThatIsNoneIsSaidInOneLineWithTheWayOut(@TempDir Path folder) throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    StateFolder state = StateFolder.of(Map.of("PARTITA_STATE", file.toString()));
    assertThatThrownBy(() -> state.write(RECORD))
        .isInstanceOfSatisfying(
            CommandFailure.class,
            failure -> {
              assertThat(failure).hasMessageContaining("PARTITA_STATE").hasMessageNotContaining("\n");
              assertThat(failure.exitStatus()).isEqualTo(2);
            });
  }

  @Test
  void aRecordThatCannotBeReadIsNotTakenForNone(@TempDir Path folder) throws IOException {
    Files.writeString(folder.resolve("cluster.json"), "{");
    assertThatThrownBy(() -> StateFolder.of(Map.of("PARTITA_STATE", folder.toString())).read())
        .isInstanceOf(CommandFailure.class)
        .hasMessageContaining("cluster.json");
  }

  @Test
  void theCommandThatTakesTheClusterDownWorksInAnotherShellToo() {
    assertThat(StateFolder.of(Map.of("HOME", "/home/a")).downCommand()).isEqualTo("partita cluster down");
    assertThat(StateFolder.of(Map.of("PARTITA_STATE", "/s")).downCommand())
        .isEqualTo("PARTITA_STATE=/s partita cluster down");
  }

  @Test
  void liesWhereTheXdgRulesSayUnlessItIsSet() {
    assertThat(StateFolder.of(Map.of("HOME", "/home/a")).file("x")).hasToString("/home/a/.local/state/partita/x");
    assertThat(StateFolder.of(Map.of("HOME", "/home/a", "XDG_STATE_HOME", "/s")).file("x")).hasToString("/s/partita/x");
  }
}
