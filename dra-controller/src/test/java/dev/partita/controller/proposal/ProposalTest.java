package dev.partita.controller.proposal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.config.GpuShareConfig.Sharing;
import dev.partita.api.config.GpuShareConfig.TimeSlice;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import dev.partita.controller.request.MemoryRequest;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProposalTest {
  @Test
  void whatIsWrittenIsRead() {
    Proposal proposal =
        new Proposal(
            "node-0.example",
            List.of(
                new Booking(new CardKey("node-0.example", 0), DeviceMode.SHARED, 8589934592L, 25),
                new Booking(new CardKey("node-0.example", 11), DeviceMode.WHOLE, 0, 0),
                new Booking(new CardKey("node-0.example", 2), new DeviceName.Mig(2, new MigSlot("1g-18gb", 3)), 0, 0)),
            "5d3c");
    assertThat(proposal).hasToString("node-0.example gpu-0-shared=8589934592/25 gpu-11 gpu-2-mig-1g-18gb-3 #5d3c");
    assertThat(Proposal.parse(proposal.toString())).contains(proposal);
    Proposal looks = new Proposal("node-0", List.of(), "5d3c");
    assertThat(Proposal.parse(looks.toString())).as("devices that are only looked at").contains(looks);
  }

  /** Whoever may edit claims can write one, and 512 KiB of stack is what the controller's threads have. */
  @Test
  void aLongNameOfADeviceNeedsNoStack() throws Exception {
    String text = "node-0 gpu-0-mig" + "-a".repeat(2_000) + "-0 #1";
    CompletableFuture<Boolean> read = new CompletableFuture<>();
    new Thread(null, () -> {
      try {
        read.complete(Proposal.parse(text).isPresent());
      } catch (StackOverflowError e) {
        read.completeExceptionally(e);
      }
    }, "small stack", 512 << 10).start();
    assertThat(read.get(30, TimeUnit.SECONDS)).isFalse();
  }

  @Test
  void aTurnIsProposedByWhoAsksForTurnsAloneAndNothingElseIsByHim() {
    Proposal turn = Proposal.parse("node-0 gpu-0-shared=0/0 #1").orElseThrow();
    assertThat(turn.bookings()).containsExactly(Booking.turn(new CardKey("node-0", 0)));
    assertThat(turn).hasToString("node-0 gpu-0-shared=0/0 #1");
    Proposal share = Proposal.parse("node-0 gpu-0-shared=1/0 #1").orElseThrow();
    assertThat(turn.isWithin(asking(new Sharing.TimeSlicing(TimeSlice.LONG)))).isTrue();
    assertThat(share.isWithin(asking(new Sharing.TimeSlicing(TimeSlice.LONG)))).isFalse();
    assertThat(turn.isWithin(asking(Sharing.LIMITS))).as("it would keep all shares off the card").isFalse();
    assertThat(share.isWithin(asking(Sharing.LIMITS))).isTrue();
  }

  @Test
  void aShareByMpsIsProposedByWhoAsksForOneAlone() {
    Proposal byMps = Proposal.parse("node-0 gpu-0-shared=8/25/mps #1").orElseThrow();
    assertThat(byMps.bookings()).containsExactly(Booking.byMps(new CardKey("node-0", 0), 8, 25));
    assertThat(byMps).hasToString("node-0 gpu-0-shared=8/25/mps #1");
    Proposal free = Proposal.parse("node-0 gpu-0-shared=8/0/mps #1").orElseThrow();
    assertThat(free.isWithin(asking(Sharing.MPS))).isTrue();
    assertThat(free.isWithin(asking(Sharing.LIMITS))).as("it would keep all other shares off the card").isFalse();
    assertThat(Proposal.parse("node-0 gpu-0-shared=8/0 #1").orElseThrow().isWithin(asking(Sharing.MPS))).isFalse();
    assertThat(Proposal.parse("node-0 gpu-0-shared=0/0/mps #1")).as("a turn by MPS").isEmpty();
    assertThat(Proposal.parse("node-0 gpu-100-opaque=8/0/mps #1")).as("an opaque card by MPS").isEmpty();
    assertThat(Proposal.parse("node-0 gpu-0-mig-1g-18gb-3-shared=8/0/mps #1")).as("an instance by MPS").isEmpty();
    assertThat(Proposal.parse("node-0 gpu-0-mig-1g-18gb-3-shared=0/0 #1")).as("nothing of an instance").isEmpty();
    String ofInstance = "node-0 gpu-0-mig-1g-18gb-3-shared=8/0 #1";
    assertThat(Proposal.parse(ofInstance).orElseThrow()).hasToString(ofInstance);
  }

  private static ClaimRequest asking(Sharing sharing) {
    CapacityRequest capacity =
        new CapacityRequest(new MemoryRequest.Unsaid(), OptionalLong.empty(), 100, sharing);
    DeviceRequest request = DeviceRequest.of("gpu", List.of(), new DeviceRequest.Count.Exactly(1), capacity);
    return new ClaimRequest(new ClaimRef("default", "c", "uid-c"),
        List.of(new ClaimRequest.NamedRequest("gpu", List.of(request))), List.of());
  }

  @Test
  void whatNoCardHasIsNoProposalForItsSumsWouldStopEverything() {
    assertThat(Proposal.parse("node-0 gpu-0-shared=9000000000001/0 #1")).as("all memory that counts").isPresent();
    assertThat(Proposal.parse("node-0 gpu-0-shared=999999999999999999/0 #1")).isEmpty();
    assertThat(Proposal.parse("node-0 gpu-0-shared=1/101 #1")).isEmpty();
    assertThat(Proposal.parse("node-0" + " gpu-0-shared=1/1".repeat(32) + " #1")).isPresent();
    assertThat(Proposal.parse("node-0" + " gpu-0-shared=1/1".repeat(33) + " #1")).isEmpty();
    assertThat(Proposal.parse("n".repeat(5_000) + " gpu-0 #1")).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", " ", "node-0", " gpu-0 #1", "node-0 gpu-0-shared #1", "node-0 gpu-0=1/2 #1",
        "node-0 gpu-0-mig-1g-18gb-3=1/2 #1", "node-0 gpu-0-shared=-1/2 #1",
        "node-0 gpu-0-shared=99999999999999999999/2 #1", "node-0 nic-0 #1", "node-0 gpu-0  gpu-1 #1", "node-0 gpu-0",
        "node-0 gpu-0 #x", "#1"
      })
  void whatAUserMayHaveWrittenThereIsNoProposal(String text) {
    assertThat(Proposal.parse(text)).isEmpty();
  }
}
