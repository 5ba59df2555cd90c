package dev.partita.cli.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.cli.Partita;
import dev.partita.cli.command.CommandFailure;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import dev.partita.cli.command.PaperCluster;
import dev.partita.cli.command.CommandRun;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.net.ServerSocket;
import java.net.InetAddress;
import java.util.List;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class WebCommandTest {
  @TempDir Path folder;

  @Test
  void aKubeconfigsOwnTokenIsTaken() {
    assertThat(WebToken.ofKubeconfig(new ConfigBuilder(Config.empty())
        .withOauthToken("secret").build()).orElseThrow().token()).isEqualTo("secret");
    assertThat(WebToken.ofKubeconfig(Config.empty())).isEmpty();
  }

  @Test
  void aTokenIsReadFromAFileOfOneLine() throws Exception {
    Path file = Files.writeString(folder.resolve("token"), "secret\n");
    assertThat(WebToken.read(file).token()).isEqualTo("secret");
    Path lines = Files.writeString(folder.resolve("lines"), "a\nb\n");
    assertThatThrownBy(() -> WebToken.read(lines)).isInstanceOf(CommandFailure.class).hasMessageContaining("one line");
    assertThatThrownBy(() -> WebToken.read(folder.resolve("none"))).isInstanceOf(CommandFailure.class)
        .hasMessageContaining("cannot be read");
  }

  @Test
  void aServiceAccountIsNamedWithItsNamespace() {
    assertThat(WebToken.Account.of("team/viewer")).isEqualTo(new WebToken.Account("team", "viewer"));
    assertThatThrownBy(() -> WebToken.Account.of("viewer")).isInstanceOf(CommandFailure.class)
        .hasMessageContaining("NAMESPACE/NAME");
  }

  @Test
  void theBrowserIsHandedAFileThatTheUserAloneCanRead() throws Exception {
    Path page = Desktop.page(folder, "http://127.0.0.1:1/#token=secret");
    assertThat(Files.readString(page)).contains("url=http://127.0.0.1:1/#token=secret");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(page))).isEqualTo("rw-------");
  }

  @Test
  void aPortThatSomebodyElseHasIsOneLine() throws Exception {
    Path token = Files.writeString(folder.resolve("token"), "secret\n");
    try (PaperCluster cluster = new PaperCluster(folder);
        ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      for (String name : List.of("controller-a", "controller-b")) {
        cluster.add(new PodBuilder().withNewMetadata().withNamespace("partita-system").withName(name)
            .addToLabels("app.kubernetes.io/name", "dra-controller").endMetadata().withNewSpec().endSpec()
            .withNewStatus()
            .withPhase("Running").endStatus().build());
      }
      CommandRun run = cluster.run("web", "--no-open", "--token-file", token.toString(), "--port",
          String.valueOf(taken.getLocalPort()));
      assertThat(run.status()).as(run.err()).isEqualTo(1);
      assertThat(run.err().lines()).singleElement().asString()
          .startsWith("partita: port " + taken.getLocalPort() + " of this machine cannot be had: ").contains("in use");
    }
  }

  @Test
  void aPortThatThereIsNotIsOneLine() {
    StringWriter err = new StringWriter();
    CommandLine line = Partita.commandLine().setErr(new PrintWriter(err, true));
    assertThat(line.execute("web", "--port", "70000")).isEqualTo(2);
    assertThat(err.toString().lines()).hasSize(1).first().asString().contains("--port is from 0 to 65535");
  }
}
