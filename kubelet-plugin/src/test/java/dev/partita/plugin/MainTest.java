package dev.partita.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class MainTest {
  @TempDir Path folder;

  @Test
  void helpNamesEveryOptionWithItsVariable() {
    Outcome help = run("--help");
    assertThat(help.status).isZero();
    CommandLine command = Main.commandLine();
    command.getCommandSpec().options().stream()
        .filter(option -> !option.usageHelp() && !option.versionHelp())
        .forEach(option -> assertThat(help.out).contains(option.longestName()));
    assertThat(help.out.split("\\[env:", -1)).hasSize(command.getCommandSpec().options().size() - 1);
  }

  @Test
  void badInputIsOneLineAndStatusTwo() {
    assertRefused("Missing required option: '--node-name=NAME'");
    assertRefused("Unknown options: '--state-rot'", "--node-name", "n", "--state-rot", "x");
    assertRefused("the node name must be the name of a Kubernetes node: \"A_b\"", "--node-name", "A_b");
    assertRefused("extra driver mount is path, path:ro or path:rw", "--node-name", "n", "--extra-driver-mounts",
        "/a:rx");
    assertRefused("an extra driver mount is an absolute path", "--node-name", "n", "--extra-driver-mounts", "a");
    assertRefused("health port must be from 0", "--node-name", "n", "--health-port", "70000");
    assertRefused("the priority threshold must be from 1 to 100 percent: 0", "--node-name", "n",
        "--priority-threshold", "0");
    assertRefused("the plausible overhead must be 1Gi at least", "--node-name", "n", "--plausible-overhead", "512Mi");
    assertRefused("the plausible overhead must be an amount such as 4Gi: \"much\"", "--node-name", "n",
        "--plausible-overhead", "much");
    assertRefused("Invalid value for option '--health-port'", "--node-name", "n", "--health-port", "many");
    assertRefused("there is no " + folder + "/none/libcuda-shadow.so", "--node-name", "n", "--hook-libraries",
        folder + "/none");
  }

  @Test
  void aPortInUseIsOneLineAndStatusTwo() throws Exception {
    Files.writeString(folder.resolve("libcuda-shadow.so"), "");
    Files.writeString(folder.resolve("libnvidia-ml-shadow.so"), "");
    Files.writeString(folder.resolve("partita-cdi-hook"), "");
    Files.createDirectories(folder.resolve("driver"));
    try (ServerSocket taken = new ServerSocket(0)) {
      assertRefused(
          "port " + taken.getLocalPort() + " for health cannot be used",
          "--node-name=n",
          "--hook-libraries=" + folder,
          "--driver-root=" + folder.resolve("driver"),
          "--install-root=" + folder.resolve("opt"),
          "--state-root=" + folder.resolve("state"),
          "--run-root=" + folder.resolve("run"),
          "--cdi-root=" + folder.resolve("cdi"),
          "--kubelet-registry-dir=" + folder.resolve("registry"),
          "--kubelet-plugins-dir=" + folder.resolve("plugins"),
          "--health-port=" + taken.getLocalPort());
    }
    assertThat(folder.resolve("registry/gpu.partita.dev-reg.sock")).doesNotExist();
  }

  private static void assertRefused(String words, String... arguments) {
    Outcome outcome = run(arguments);
    assertThat(outcome.err.lines()).as("%s", outcome).hasSize(1);
    assertThat(outcome.err).startsWith("partita-kubelet-plugin: ").contains(words);
    assertThat(outcome.status).isEqualTo(2);
  }

  private record Outcome(int status, String out, String err) {}

  private static Outcome run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true)).execute(arguments);
    return new Outcome(status, out.toString(), err.toString());
  }
}
