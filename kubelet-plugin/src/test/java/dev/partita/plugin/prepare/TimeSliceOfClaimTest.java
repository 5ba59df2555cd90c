package dev.partita.plugin.prepare;

import static dev.partita.plugin.TestClaims.share;
import static dev.partita.plugin.TestClaims.timeSlicing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.plugin.TestClaims;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.leftover.SpecRenewal;
import dev.partita.plugin.share.HookLibraries;
import dev.partita.plugin.step.Step;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The time slice of a card is as its claims want it. */
class TimeSliceOfClaimTest extends OnNodeOfPlugins {
  private static final Duration SOON = Duration.ofSeconds(20);

  @Test
  void theShortestThatClaimsOfACardAskForCountsAndGoesWithThem() throws IOException {
    ResourceClaim any = prepared("Default");
    assertThat(node.timeSlices.times).as("nobody asks for any").isZero();
    ResourceClaim longer = prepared("Long");
    assertThat(node.timeSlices.other).containsExactly(entry("GPU-0", TimeSlice.LONG));
    ResourceClaim shorter = prepared("Short");
    assertThat(node.timeSlices.other).containsExactly(entry("GPU-0", TimeSlice.SHORT));
    assertThat(node.unprepare(shorter)).isEmpty();
    assertThat(node.timeSlices.other).containsExactly(entry("GPU-0", TimeSlice.LONG));
    assertThat(node.unprepare(longer)).isEmpty();
    assertThat(node.timeSlices.other).isEmpty();
    assertThat(node.unprepare(any)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void whoeverSetsItWhileAClaimIsReleasedDoesNotCountThatClaim() throws IOException {
    ResourceClaim stays = prepared("Long");
    ResourceClaim goes = prepared("Short");
    AtomicReference<NodeOfPlugins.Parts> plugin = new AtomicReference<>();
    Thread another = new Thread(() -> setTimeSlice(Objects.requireNonNull(plugin.get()), stays));
    node.runParts(real -> step -> {
      if (step instanceof Step.RemoveRecord) {
        another.start();
        await().atMost(SOON)
            .until(() -> !another.isAlive() || another.getState() == Thread.State.WAITING); // for the card
      }
      real.execute(step);
    }, parts -> {
      plugin.set(parts);
      assertThat(parts.claims().releaser().unprepare(NodeOfPlugins.ref(goes))).isEmpty();
      await().atMost(SOON).until(() -> !another.isAlive());
      return true;
    });
    assertThat(node.timeSlices.other).containsExactly(entry("GPU-0", TimeSlice.LONG));
  }

  /** As after a driver was loaded anew. */
  private static void setTimeSlice(NodeOfPlugins.Parts parts, ResourceClaim claim) {
    try {
      PreparedClaim record = parts.checkpoint().read(claim.getMetadata().getUid()).orElseThrow();
      parts.claims().rewriter().setTimeSlice(record, record.grants().getFirst());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aContainerGetsTheDriversOwnLibrariesAndNoQuota() throws IOException {
    prepared("Long");
    assertThat(node.files("cdi").getFirst()).content().contains("/dev/nvidia0")
        .contains("/run/driver/usr/lib64/libcuda.so.580.1")
        .doesNotContain("/etc/partita", HookLibraries.CUDA, HookLibraries.NVML, "libcuda-real", "MEMORY_LIMIT");
    assertThat(node.files("state/shares")).isEmpty();
  }

  @Test
  void aClaimWhoseTimeSliceCannotBeSetIsNotPreparedAndLeavesNothing() throws IOException {
    ResourceClaim claim = inTurn("Long");
    node.timeSlices.refusal = "nvidia-smi has a bad day";
    assertThat(node.prepare(claim)).isInstanceOfSatisfying(ClaimService.Failed.class, failed -> assertThat(
        failed.error()).isEqualTo(
            "the time slice of card GPU-0 (gpu-0) cannot be set to LONG: nvidia-smi has a bad day"));
    assertThat(node.files("state/claims")).as("what may have been set is still to be restored").hasSize(1);
    node.timeSlices.refusal = "";
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void aClaimWhoseTimeSliceCannotBeRestoredIsReleasedWithTheNextTry() throws IOException {
    ResourceClaim claim = prepared("Medium");
    node.timeSlices.refusal = "nvidia-smi has a bad day";
    assertThat(node.unprepare(claim).orElseThrow()).contains("cannot be set to DEFAULT", "a bad day");
    assertThat(node.files("state/claims")).hasSize(1);
    node.timeSlices.refusal = "";
    assertThat(node.unprepare(claim)).isEmpty();
    node.assertNothingLeft();
  }

  @Test
  void whatAClaimAsksForWhoseRecordIsLostCountsAndGoesWithIt() throws IOException {
    ResourceClaim first = prepared("Long");
    ResourceClaim second = prepared("Short");
    Files.write(root.resolve("state/claims/" + second.getMetadata().getUid() + ".claim"), new byte[0]);
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.timeSlices.other).as("the second one asks for it").containsExactly(entry("GPU-0", TimeSlice.SHORT));
    assertThat(node.unprepare(second)).isEmpty();
    assertThat(node.timeSlices.other).isEmpty();
  }

  @Test
  void whatAClaimAsksForThatHasLostItsSpecTooCountsAndGoesWithIt() throws IOException {
    ResourceClaim first = prepared("Long");
    ResourceClaim second = prepared("Short");
    Files.write(root.resolve("state/claims/" + second.getMetadata().getUid() + ".claim"), new byte[0]);
    Files.delete(root.resolve("cdi/gpu.partita.dev-claim_" + second.getMetadata().getUid() + ".json"));
    assertThat(node.unprepare(first)).isEmpty();
    assertThat(node.timeSlices.other).as("the second one asks for it").containsExactly(entry("GPU-0", TimeSlice.SHORT));
    assertThat(node.unprepare(second)).isEmpty();
    assertThat(node.timeSlices.other).isEmpty();
    assertThat(node.files("state/driver-notes")).isEmpty();
  }

  @Test
  void aNewKernelHasForgottenItAndIsToldAgain() throws IOException {
    ResourceClaim claim = prepared("Long");
    node.timeSlices.other.clear();
    node.bootId = "next boot";
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    assertThat(node.timeSlices.other).containsExactly(entry("GPU-0", TimeSlice.LONG));
  }

  @Test
  void aDriverThatWasLoadedAnewHasForgottenItAndIsToldAgain() throws IOException {
    prepared("Default");
    prepared("Long");
    node.timeSlices.other.clear();
    node.timeSlices.times = 0;
    node.runParts(real -> real, parts -> { // the driver cannot be unloaded while a plugin has it open
      SpecRenewal renewal = new SpecRenewal(parts.inventory()::current, parts.store(), parts.claims().rewriter());
      renewal.lookIfDriverChanged();
      assertThat(node.timeSlices.other).as("the cards have not been read yet").isEmpty();
      parts.inventory().refresh();
      renewal.lookIfDriverChanged();
      assertThat(node.timeSlices.other).containsExactly(entry("GPU-0", TimeSlice.LONG));
      renewal.lookIfDriverChanged();
      assertThat(node.timeSlices.times).as("once for each card and driver").isOne();
      return true;
    });
  }

  @Test
  void aCardThatWasResetHasForgottenItAndIsToldAgain() throws IOException {
    prepared("Long");
    node.runParts(real -> real, parts -> { // which can be while a plugin has the others open
      SpecRenewal renewal = new SpecRenewal(parts.inventory()::current, parts.store(), parts.claims().rewriter());
      parts.inventory().afterReadings(renewal::cardsWereRead);
      parts.inventory().refresh();
      renewal.lookIfDriverChanged();
      node.cards.present = List.of("GPU-1", "GPU-2");
      parts.inventory().refresh();
      parts.inventory().refresh(); // when it begins, all is done that comes after the one before
      node.timeSlices.other.clear();
      node.cards.present = List.of("GPU-0", "GPU-1", "GPU-2");
      parts.inventory().refresh();
      node.timeSlices.times = 0;
      node.timeSlices.refusal = "it has just come back";
      renewal.lookIfDriverChanged();
      node.timeSlices.refusal = "";
      renewal.lookIfDriverChanged();
      assertThat(node.timeSlices.other).containsExactly(entry("GPU-0", TimeSlice.LONG));
      renewal.lookIfDriverChanged();
      assertThat(node.timeSlices.times).as("once").isOne();
      return true;
    });
  }

  @Test
  void aTimeSliceIsSetAgainThoughTheFirstClaimOfItsCardGoesMeanwhile() throws IOException {
    prepared(inTurn("0-before", 1, "Short"));
    ResourceClaim goes = prepared(inTurn("1-goes", 0, "Default"));
    prepared(inTurn("2-stays", 0, "Long"));
    node.timeSlices.other.clear();
    AtomicReference<NodeOfPlugins.Parts> plugin = new AtomicReference<>();
    Thread another = new Thread(() -> release(Objects.requireNonNull(plugin.get()), goes));
    node.runParts(real -> step -> {
      real.execute(step);
      if (step instanceof Step.SetTimeSlice && another.getState() == Thread.State.NEW) { // of the other card
        another.start();
        await().atMost(SOON).until(() -> !another.isAlive());
      }
    }, parts -> {
      plugin.set(parts);
      SpecRenewal renewal = new SpecRenewal(parts.inventory()::current, parts.store(), parts.claims().rewriter());
      parts.inventory().refresh();
      renewal.lookIfDriverChanged();
      assertThat(node.timeSlices.other).containsExactly(entry("GPU-1", TimeSlice.SHORT));
      renewal.lookIfDriverChanged();
      assertThat(node.timeSlices.other)
          .containsExactly(entry("GPU-0", TimeSlice.LONG), entry("GPU-1", TimeSlice.SHORT));
      return true;
    });
  }

  private static void release(NodeOfPlugins.Parts parts, ResourceClaim claim) {
    assertThat(parts.claims().releaser().unprepare(NodeOfPlugins.ref(claim))).isEmpty();
  }

  /** Of this UID, in whose order records are read. */
  private ResourceClaim inTurn(String uid, int card, String interval) {
    ResourceClaim claim = TestClaims.claim(uid, List.of(timeSlicing(interval)),
        share(NodeOfPlugins.NODE, "a", card, "141Gi", ""));
    claim.getMetadata().setUid(uid);
    return node.create(claim);
  }

  @Test
  void noShareWithLimitsStandsBesideItAndTheReverse() throws IOException {
    ResourceClaim inTurn = prepared("Long");
    ResourceClaim limited = node.newClaim(share(NodeOfPlugins.NODE, "a", 0, "8Gi", ""));
    assertThat(refusal(limited)).contains("is prepared by time-slicing, which limits nobody, for claim default/c0");
    assertThat(node.unprepare(inTurn)).isEmpty();
    assertThat(node.prepare(limited)).isInstanceOf(ClaimService.Ready.class);
    assertThat(refusal(inTurn("Long")))
        .contains("is wanted by time-slicing, which limits nobody, but claim default/c1");
  }

  private String refusal(ResourceClaim claim) throws IOException {
    return ((ClaimService.Failed) node.prepare(claim)).error();
  }

  private ResourceClaim prepared(String interval) throws IOException {
    return prepared(inTurn(interval));
  }

  private ResourceClaim prepared(ResourceClaim claim) throws IOException {
    assertThat(node.prepare(claim)).isInstanceOf(ClaimService.Ready.class);
    return claim;
  }

  private ResourceClaim inTurn(String interval) {
    return node.newClaim(List.of(timeSlicing(interval)), share(NodeOfPlugins.NODE, "a", 0, "141Gi", ""));
  }
}
