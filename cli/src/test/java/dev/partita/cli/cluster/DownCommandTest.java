package dev.partita.cli.cluster;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.checkout.Progress;
import dev.partita.cli.cluster.provider.ClusterRecord;
import dev.partita.cli.cluster.provider.ProviderName;
import dev.partita.cli.cluster.provider.StateFolder;
import dev.partita.cli.command.CommandFailure;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DownCommandTest {
  @Test
  void aKubeconfigThatIsGoneIsSaidWithTheWayOut(@TempDir Path folder) {
    Path kubeconfig = folder.resolve("kubeconfig");
    ClusterRecord record =
        new ClusterRecord(ProviderName.CURRENT, Map.of("KUBECONFIG", kubeconfig.toString()), "partita-system", "h200x4",
            Instant.EPOCH, new ClusterRecord.Access(kubeconfig.toString(), List.of()));
    StateFolder state = StateFolder.of(Map.of("PARTITA_STATE", folder.toString()));
    assertThatThrownBy(() -> DownCommand.remove(record, state,
        new Progress(new PrintWriter(new StringWriter()), InstantSource.system())))
        .isInstanceOf(CommandFailure.class)
        .hasMessage(kubeconfig + " is gone, by which Partita would be removed: put it back or, if the cluster is gone"
            + " too, delete " + folder.resolve("cluster.json"));
  }
}
