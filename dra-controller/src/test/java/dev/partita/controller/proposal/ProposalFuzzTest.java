package dev.partita.controller.proposal;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.partita.controller.booking.Booking;
import java.util.Optional;

/**
 * A claim's annotation can be written by others than the controller: it is no proposal, or one that is read back alike.
 */
class ProposalFuzzTest {
  @FuzzTest(maxDuration = "10s")
  void anyAnnotationIsNoProposalOrOneThatIsWrittenAndReadAlike(FuzzedDataProvider data) {
    Optional<Proposal> proposal = Proposal.parse(data.consumeRemainingAsString());
    proposal.ifPresent(
        read -> {
          assertThat(Proposal.parse(read.toString())).isEqualTo(proposal);
          assertThat(read.bookings())
              .allSatisfy(booking -> assertThat(booking.memory()).isBetween(0L, Booking.MOST_MEMORY));
        });
  }
}
