package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.whole;
import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.plugin.FaultTable;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.step.Step;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Plugins in processes of their own: SIGKILL before each step, and two that want the same card. */
class KillAtEveryStepTest extends OnNodeOfPlugins {
  private static final FaultTable TABLE = new FaultTable("Faults of the plugin's process");

  /** SIGKILL's number and 128. */
  private static final int KILLED = 137;

  @AfterAll
  static void print() {
    TABLE.print();
  }

  @Test
  void afterSigkillBeforeAnyStepOfPrepareTheNextTrySucceedsAndNothingLeaks() throws Exception {
    boolean killed = true;
    for (int steps = 0; killed; steps++) {
      ResourceClaim claim = node.newClaim(twoSharesAndACard());
      List<String> output;
      try (Plugin plugin = new Plugin(root, client, "prepare", claim, steps)) {
        output = plugin.output();
        killed = plugin.status() == KILLED;
        assertThat(killed || output.getLast().startsWith("Ready")).as("%s", output).isTrue();
      }
      ClaimService.Outcome outcome = node.prepare(claim);
      boolean survived =
          outcome instanceof ClaimService.Ready && node.prepare(claim).equals(outcome) && node.files("cdi").size() == 1;
      assertThat(node.unprepare(claim)).isEmpty();
      tell("SIGKILL in prepare", killed ? "before " + output.getLast() : "after the last step", survived);
      assertThat(killed || steps > 7).as("steps: %d", steps).isTrue();
    }
  }

  @Test
  void afterSigkillBeforeAnyStepOfUnprepareTheNextTryLeavesNothing() throws Exception {
    boolean killed = true;
    for (int steps = 0; killed; steps++) {
      ResourceClaim claim = node.newClaim(twoSharesAndACard());
      assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
      List<String> output;
      try (Plugin plugin = new Plugin(root, client, "unprepare", claim, steps)) {
        output = plugin.output();
        killed = plugin.status() == KILLED;
        assertThat(killed || output.getLast().equals("released")).as("%s", output).isTrue();
      }
      client.resource(claim).delete();
      tell("SIGKILL in unprepare", killed ? "before " + output.getLast() : "after the last step",
          node.unprepare(claim).isEmpty());
      assertThat(killed || steps > 3).as("steps: %d", steps).isTrue();
    }
  }

  @Test
  void ofTwoPluginsThatPrepareTheSameCardAtOnceOneSucceeds() throws Exception {
    ResourceClaim none = node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 0));
    try (Plugin other = new Plugin(root, client, "serve", none, Integer.MAX_VALUE)) {
      assertThat(other.line()).isEqualTo("serving");
      for (int round = 0; round < 10; round++) {
        ResourceClaim theirs = node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 0));
        ResourceClaim mine = node.newClaim(whole(NodeOfPlugins.NODE, "gpu", 0));
        other.ask("prepare", theirs);
        ClaimService.Outcome outcome = node.run(real -> real, p -> p.prepare(NodeOfPlugins.ref(mine)));
        boolean won = outcome instanceof ClaimService.Ready;
        boolean lost = other.line().startsWith("Ready");
        assertThat(won).as("in round %d mine %s, theirs %s", round, won, lost).isNotEqualTo(lost);
        other.ask("unprepare", theirs);
        assertThat(other.line()).isEqualTo("released");
        assertThat(node.unprepare(mine)).isEmpty();
      }
    }
    tell("two plugins", "prepare the same card at once, 10 times", true);
  }

  private static DeviceRequestAllocationResult[] twoSharesAndACard() {
    String name = NodeOfPlugins.NODE;
    return new DeviceRequestAllocationResult[]{share(name, "a", 0, "8Gi", "25"), share(name, "b", 0, "1Gi", ""),
      whole(name, "c", 1)};
  }

  private void tell(String fault, String step, boolean survived) throws IOException {
    List<String> leaked = new ArrayList<>();
    for (String folder : List.of("cdi", "state/claims", "state/shares", "run/shares")) {
      for (Path file : node.files(folder)) {
        if (!file.toString().endsWith(".partita-tmp")) { // which the next plugin's start removes
          leaked.add(folder + "/" + file.getFileName());
        }
      }
    }
    TABLE.add(fault, step, survived, leaked);
    assertThat(survived).as(step).isTrue();
    assertThat(leaked).as(step).isEmpty();
  }

  /** The plugin's part of a call in a process of its own. */
  static final class Child {
    private Child() {}

    public static void main(String[] arguments) throws Exception {
      Config config = new ConfigBuilder(Config.empty()).withMasterUrl(arguments[1]).withTrustCerts(true).build();
      try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
        NodeOfPlugins node = new NodeOfPlugins(Path.of(arguments[0]), client);
        if (arguments[2].equals("serve")) {
          System.out.println("serving");
          BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
          for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String[] words = line.split(" ", -1);
            System.out.println(answer(node, words[0], new ClaimRef("default", words[1], words[2]), Integer.MAX_VALUE));
          }
        } else {
          ClaimRef claim = new ClaimRef("default", arguments[3], arguments[4]);
          System.out.println(answer(node, arguments[2], claim, Integer.parseInt(arguments[5])));
        }
      }
    }

    private static String answer(NodeOfPlugins node, String what, ClaimRef claim, int steps) throws IOException {
      NodeOfPlugins.Wrap dying = real -> new Dying(real, steps);
      return what.equals("prepare")
          ? node.run(dying, p -> p.prepare(claim)).toString()
          : node.unprepare(dying, claim).orElse("released");
    }
  }

  /** Sends its own process SIGKILL before a step, and says which one that is. */
  private static final class Dying implements Step.Executor {
    private final Step.Executor real;
    private int left;

    Dying(Step.Executor real, int left) {
      this.real = real;
      this.left = left;
    }

    @Override
    public void execute(Step step) throws IOException {
      if (left-- == 0) {
        System.out.println(step.getClass().getSimpleName()
            + (step instanceof Step.WriteRecord write ? " " + write.claim().phase() : ""));
        System.out.flush();
        new ProcessBuilder("kill", "-KILL", String.valueOf(ProcessHandle.current().pid())).start();
        while (true) {
          LockSupport.park();
        }
      }
      real.execute(step);
    }
  }

  private static final class Plugin implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    Plugin(Path root, KubernetesClient client, String what, ResourceClaim claim, int steps) throws IOException {
      process =
          new ProcessBuilder(
              ProcessHandle.current().info().command().orElseThrow(),
              "-XX:TieredStopAtLevel=1",
              "-XX:+UseSerialGC",
              "--enable-native-access=ALL-UNNAMED",
              "-cp",
              System.getProperty("java.class.path"),
              Child.class.getName(),
              root.toString(),
              String.valueOf(client.getConfiguration().getMasterUrl()),
              what,
              claim.getMetadata().getName(),
              claim.getMetadata().getUid(),
              String.valueOf(steps))
              .redirectError(root.resolve("plugin.log").toFile())
              .start();
      output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** All that it writes until it ends. */
    List<String> output() {
      return output.lines().toList();
    }

    String line() {
      try {
        return Objects.requireNonNullElse(output.readLine(), "it has ended");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void ask(String what, ResourceClaim claim) throws IOException {
      process
          .getOutputStream()
          .write((what + " " + claim.getMetadata().getName() + " " + claim.getMetadata().getUid() + "\n")
              .getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    }

    int status() throws InterruptedException {
      return process.waitFor();
    }

    @Override
    public void close() {
      process.destroyForcibly().onExit().join();
    }
  }
}
