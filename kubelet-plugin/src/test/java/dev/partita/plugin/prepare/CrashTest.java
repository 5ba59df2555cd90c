package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.claim;
import static dev.partita.plugin.TestClaims.share;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.partita.api.node.GpuNodeSpec;
import dev.partita.plugin.TestClaims;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.step.Step;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.grpc.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The plugin dies before, in the middle of or after any step, and the next one goes on. */
class CrashTest extends OnNodeOfPlugins {
  @Test
  void afterACrashInAnyStepOfPrepareTheNextTryIsAsIfNothingHadHappened() throws IOException {
    for (int steps = 0;; steps++) {
      ResourceClaim claim = node.newClaim();
      boolean crashed = prepareWithCrashAfter(claim, steps);
      ClaimService.Outcome outcome = node.prepare(claim);
      assertThat(outcome).as("after %d steps", steps).isInstanceOf(ClaimService.Ready.class);
      assertThat(node.prepare(claim)).isEqualTo(outcome);
      assertThat(node.files("cdi")).hasSize(1);
      assertThat(node.unprepare(claim)).isEmpty();
      node.assertNothingLeft();
      if (!crashed) {
        assertThat(steps).isGreaterThan(8);
        return;
      }
    }
  }

  @Test
  void afterACrashInAnyStepOfPrepareUnprepareLeavesNothing() throws IOException {
    for (int steps = 0;; steps++) {
      ResourceClaim claim = node.newClaim();
      boolean crashed = prepareWithCrashAfter(claim, steps);
      assertThat(node.unprepare(claim)).isEmpty();
      node.assertNothingLeft();
      if (!crashed) {
        return;
      }
    }
  }

  @Test
  void afterACrashInAnyStepOfUnprepareTheNextTryLeavesNothing() throws IOException {
    for (int steps = 0; steps <= 6; steps++) {
      ResourceClaim claim = node.newClaim();
      assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
      int until = steps;
      if (steps < 6) {
        assertThatThrownBy(() -> unprepareWithCrashAfter(claim, until)).isInstanceOf(Killed.class);
      }
      client.resource(claim).delete();
      assertThat(node.unprepare(claim)).isEmpty();
      node.assertNothingLeft();
    }
  }

  @Test
  void afterACrashInAnyStepTheTimeSliceOfACardIsRestoredWithItsLastClaim() throws IOException {
    for (int steps = 0;; steps++) {
      ResourceClaim claim = inTurn();
      boolean crashed = prepareWithCrashAfter(claim, steps);
      assertThat(node.unprepare(claim)).isEmpty();
      node.assertNothingLeft();
      if (!crashed) {
        break;
      }
    }
    for (int steps = 0; steps < 6; steps++) {
      ResourceClaim claim = inTurn();
      assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
      assertThat(node.timeSlices.other).hasSize(1);
      int until = steps;
      assertThatThrownBy(() -> unprepareWithCrashAfter(claim, until)).isInstanceOf(Killed.class);
      assertThat(node.unprepare(claim)).isEmpty();
      node.assertNothingLeft();
    }
  }

  @Test
  void afterACrashInAnyStepTheMpsDaemonOfACardEndsWithItsLastClaim() throws IOException {
    for (int steps = 0;; steps++) {
      ResourceClaim claim = byMps();
      boolean crashed = prepareWithCrashAfter(claim, steps);
      assertThat(node.unprepare(claim)).isEmpty();
      node.assertNothingLeft();
      if (!crashed) {
        break;
      }
    }
    for (int steps = 0; steps < 7; steps++) {
      ResourceClaim claim = byMps();
      assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
      assertThat(node.daemons.running).hasSize(1);
      int until = steps;
      assertThatThrownBy(() -> unprepareWithCrashAfter(claim, until)).isInstanceOf(Killed.class);
      assertThat(node.unprepare(claim)).isEmpty();
      node.assertNothingLeft();
    }
  }

  private ResourceClaim byMps() {
    return node.newClaim(List.of(TestClaims.byMps()), share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
  }

  private ResourceClaim inTurn() {
    return node.newClaim(List.of(TestClaims.timeSlicing("Long")), share(NodeOfPlugins.NODE, "a", 0, "141Gi", ""));
  }

  @Test
  void nothingIsPreparedWhileTheNodesSpecIsNotKnown() throws IOException {
    ResourceClaim claim = node.newClaim();
    node.settings =
        () -> {
          throw new IllegalStateException("not read yet");
        };
    assertThat(node.prepare(claim)).isEqualTo(new ClaimService.Failed("not read yet"));
    node.assertNothingLeft();
    node.settings = () -> new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, 200);
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    try (Stream<Path> files = Files.walk(root.resolve("state/shares"))) {
      assertThat(files.filter(file -> file.endsWith("quota"))).isNotEmpty()
          .allSatisfy(quota -> assertThat(quota).content().contains("\nphysical "));
    }
  }

  @Test
  void aStepThatFailsIsRolledBackAndReported() throws IOException {
    for (int steps = 0; steps < 11; steps++) {
      ResourceClaim claim = node.newClaim();
      int until = steps;
      ClaimService.Outcome outcome =
          node.run(executor -> new Failing(executor, until, false), p -> p.prepare(NodeOfPlugins.ref(claim)));
      assertThat(outcome).isEqualTo(new ClaimService.Failed("the disk is full"));
      node.assertNothingLeft();
    }
  }

  @Test
  void anErrorOfThePluginItselfIsTheAnswerForThatClaimAlone() throws IOException {
    ResourceClaim claim = node.newClaim();
    NodeOfPlugins.Wrap broken =
        executor -> step -> {
          if (step instanceof Step.WriteSpec || step instanceof Step.RemoveSpec) {
            throw new UncheckedIOException(new IOException("cannot list"));
          }
          executor.execute(step);
        };
    ClaimService.Outcome outcome = node.run(broken, p -> p.prepare(NodeOfPlugins.ref(claim)));
    assertThat(outcome)
        .isInstanceOfSatisfying(ClaimService.Failed.class,
            failed -> assertThat(failed.error()).contains("cannot list"));
    assertThat(node.unprepare(broken, NodeOfPlugins.ref(claim)).orElse("")).contains("cannot list");
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
  }

  @Test
  void containersKeepWhatTheyHaveWhenARecordCannotBeRebuiltAndItIsMissedAgain() throws IOException {
    ResourceClaim claim = node.newClaim();
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    String uid = claim.getMetadata().getUid();
    for (int steps = 0; steps < 10; steps++) {
      Files.deleteIfExists(root.resolve("state/claims/" + uid + ".claim"));
      int until = steps;
      ClaimService.Outcome outcome =
          node.run(executor -> new Failing(executor, until, false), p -> p.rebuild(NodeOfPlugins.ref(claim)))
              .orElseThrow();
      assertThat(outcome).as("after %d steps", steps).isEqualTo(new ClaimService.Failed("the disk is full"));
      assertThat(node.files("state/claims")).isEmpty();
      assertThat(node.files("cdi")).hasSize(1);
      assertThat(node.files("state/shares/" + uid)).hasSize(2)
          .allSatisfy(share -> assertThat(share.resolve("quota")).exists());
      assertThat(node.files("run/shares/" + uid)).hasSize(2)
          .allSatisfy(share -> assertThat(share.resolve("usage")).exists());
      assertThat(node.files("run/metadata/" + uid + "/mounted")).hasSize(4)
          .allSatisfy(request -> assertThat(request.resolve("gpu.partita.dev-metadata.json")).exists());
      assertThat(node.cards.instances).hasSize(1);
    }
    ClaimService.Outcome rebuilt =
        node.run(executor -> executor, p -> p.rebuild(NodeOfPlugins.ref(claim))).orElseThrow();
    assertThat(rebuilt).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void aClaimThatIsReleasedAfterItsRecordWasMissedIsNotPreparedOnceMore() throws IOException {
    ResourceClaim claim = node.newClaim();
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    Files.delete(root.resolve("state/claims/" + claim.getMetadata().getUid() + ".claim"));
    assertThat(node.unprepare(claim)).isEmpty();
    Optional<ClaimService.Outcome> rebuilt = node.run(executor -> executor, p -> p.rebuild(NodeOfPlugins.ref(claim)));
    assertThat(rebuilt).isEmpty();
    node.assertNothingLeft();
  }

  /** Such a record is released without a look at who uses the claim, and what its shares use is not watched. */
  @Test
  void afterACrashInAnyStepOfARebuildNoRecordSaysThatNoContainerHasTheClaim() throws IOException {
    for (int steps = 0;; steps++) {
      ResourceClaim claim = node.newClaim();
      assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
      String uid = claim.getMetadata().getUid();
      Files.delete(root.resolve("state/claims/" + uid + ".claim"));
      boolean crashed = false;
      try {
        plugin(steps, p -> p.rebuild(NodeOfPlugins.ref(claim)));
      } catch (Killed e) {
        crashed = true;
      }
      try (Checkpoint records = new Checkpoint(root.resolve("state/claims"), Clock.systemUTC())) {
        assertThat(records.read(uid).map(PreparedClaim::phase)).as("after %d steps", steps)
            .isNotEqualTo(Optional.of(PreparedClaim.Phase.STARTED));
      }
      assertThat(node.unprepare(claim)).isEmpty();
      node.assertNothingLeft();
      if (!crashed) {
        assertThat(steps).isGreaterThan(8);
        return;
      }
    }
  }

  @Test
  void nothingIsPreparedForAKubeletThatHasGivenUpWaiting() throws Exception {
    ResourceClaim claim = node.newClaim();
    try (Context.CancellableContext call = Context.current().withCancellation()) {
      call.cancel(null);
      assertThat(call.call(() -> node.prepare(claim)))
          .isInstanceOfSatisfying(ClaimService.Failed.class,
              failed -> assertThat(failed.error()).contains("kubelet did not wait"));
    }
    node.assertNothingLeft();
  }

  @Test
  void usageRegionsAreKeptUntilTheMachineIsStartedAnew() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    ClaimService.Outcome first = node.prepare(claim);
    Path usage = node.files("run/shares/" + claim.getMetadata().getUid()).getFirst().resolve("usage");
    Files.write(usage, new byte[]{1, 2, 3}, StandardOpenOption.WRITE);
    assertThat(node.prepare(claim)).isEqualTo(first);
    assertThat(Files.readAllBytes(usage)).startsWith(1, 2, 3);
    node.bootId = "next boot";
    assertThat(node.prepare(claim)).isEqualTo(first);
    assertThat(Files.readAllBytes(usage)).hasSize(528_384).containsOnly(0);
    Files.write(usage, new byte[]{1, 2, 3}, StandardOpenOption.WRITE);
    assertThat(node.prepare(claim)).isEqualTo(first);
    assertThat(Files.readAllBytes(usage)).startsWith(1, 2, 3);
  }

  @Test
  void aClaimThatHasLostItsSpecWithARebootIsPreparedAnewThoughKubeletDoesNotAsk() throws IOException {
    ResourceClaim claim = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    ClaimService.Outcome first = node.prepare(claim);
    Path usage = node.files("run/shares/" + claim.getMetadata().getUid()).getFirst().resolve("usage");
    Files.write(usage, new byte[]{1, 2, 3}, StandardOpenOption.WRITE);
    Path spec = node.files("cdi").getFirst();
    byte[] specBefore = Files.readAllBytes(spec);

    Files.delete(spec); // under the same kernel: its containers may run
    renew(claim);
    assertThat(Files.readAllBytes(usage)).startsWith(1, 2, 3);
    Files.delete(spec);
    node.bootId = "next boot";
    renew(claim);
    assertThat(Files.readAllBytes(spec)).isEqualTo(specBefore);
    assertThat(Files.readAllBytes(usage)).hasSize(528_384).containsOnly(0);
    Files.write(usage, new byte[]{4, 5, 6}, StandardOpenOption.WRITE);
    renew(claim);
    assertThat(node.prepare(claim)).as("kubelet asks later").isEqualTo(first);
    assertThat(Files.readAllBytes(usage)).as("what its containers have noted since").startsWith(4, 5, 6);
  }

  /** As the search for leftovers does it. */
  private void renew(ResourceClaim claim) throws IOException {
    ResourceClaim other = node.newClaim(share(NodeOfPlugins.NODE, "b", 0, "1Gi", ""));
    Optional<String> problem =
        node.runParts(
            real -> real,
            parts -> {
              parts.preparer().prepare(NodeOfPlugins.ref(other)); // reads the cards
              return parts.claims().rewriter()
                  .renew(parts.checkpoint().read(claim.getMetadata().getUid()).orElseThrow());
            });
    assertThat(problem).isEmpty();
    assertThat(node.unprepare(other)).isEmpty();
  }

  @Test
  void aClaimDeletedWhileItIsPreparedIsReleasedWithItsPod() throws IOException {
    ResourceClaim claim = node.newClaim();
    ClaimService.Outcome outcome =
        node.run(
            real -> step -> {
              if (step instanceof Step.WriteSpec) {
                client.resource(claim).delete();
              }
              real.execute(step);
            },
            p -> p.prepare(NodeOfPlugins.ref(claim)));
    assertThat(outcome).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void anAllocationThatChangedReplacesTheEarlierOne() throws IOException {
    ResourceClaim claim = node.newClaim();
    ClaimService.Outcome first = node.prepare(claim);
    ResourceClaim stored = client.resource(claim).get();
    stored.getStatus().getAllocation().getDevices().setResults(List.of(share(NodeOfPlugins.NODE, "gpu", 1, "2Gi", "")));
    client.resource(stored).updateStatus();
    ClaimService.Outcome second = node.prepare(claim);
    assertThat(second).isInstanceOf(ClaimService.Ready.class).isNotEqualTo(first);
    assertThat(((ClaimService.Ready) second).devices()).hasSize(1);
    assertThat(node.files("state/shares/" + claim.getMetadata().getUid())).hasSize(1);
  }

  private boolean prepareWithCrashAfter(ResourceClaim claim, int steps) throws IOException {
    try {
      plugin(steps, p -> p.prepare(NodeOfPlugins.ref(claim)));
      return false;
    } catch (Killed e) {
      return true;
    }
  }

  private void unprepareWithCrashAfter(ResourceClaim claim, int steps) throws IOException {
    node.unprepare(executor -> new Failing(executor, steps, true), NodeOfPlugins.ref(claim));
  }

  private <T> T plugin(int dieAfter, NodeOfPlugins.Call<T> call) throws IOException {
    return node.run(executor -> new Failing(executor, dieAfter, true), call);
  }

  /** Stands for SIGKILL: nothing of the plugin runs after it. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** Lets some steps pass and then fails: for good, as a killed process does, or once, with an error. */
  private static final class Failing implements Step.Executor {
    private final Step.Executor real;
    private final boolean kill;
    private int left;

    Failing(Step.Executor real, int left, boolean kill) {
      this.real = real;
      this.left = left;
      this.kill = kill;
    }

    @Override
    public void execute(Step step) throws IOException {
      if (left-- == 0) {
        if (kill) {
          throw new Killed();
        }
        throw new IOException("the disk is full");
      }
      real.execute(step);
    }
  }
}
