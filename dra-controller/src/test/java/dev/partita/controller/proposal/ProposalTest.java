package dev.partita.controller.proposal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import java.util.List;
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
