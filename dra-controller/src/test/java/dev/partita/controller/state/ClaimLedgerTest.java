package dev.partita.controller.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.controller.HeldClock;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.proposal.OthersProposals;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClaimLedgerTest {
  private static final ClaimRef CLAIM = new ClaimRef("default", "c", "uid");
  private static final CardKey CARD = new CardKey("node-0", 0);
  private static final List<Booking> EIGHT = List.of(new Booking(CARD, DeviceMode.SHARED, 8, 25));

  private static final ClaimRequest ASK =
      new ClaimRequest(
          CLAIM,
          List.of(
              new ClaimRequest.NamedRequest(
                  "gpu",
                  List.of(
                      DeviceRequest.of("gpu", List.of(), new DeviceRequest.Count.Exactly(1),
                          CapacityRequest.of(OptionalLong.of(8), OptionalLong.of(25)))))),
          List.of());

  private final Set<String> bound = new HashSet<>(Set.of("pod-uid"));
  private final Set<String> running = new HashSet<>();
  private final HeldClock clock = new HeldClock(Instant.EPOCH);
  private final OthersProposals others = new OthersProposals(claim -> Optional.of(ASK), clock);
  private final ClaimLedger ledger = new ClaimLedger(bound::contains, running::contains, others);

  @Test
  void whatIsDecidedCountsBeforeTheServerShowsIt() {
    ledger.assume(CLAIM, "node-0", EIGHT);
    assertThat(taken()).isEqualTo(new Account(1, 0, 8, 25));
    assertThat(ledger.observe("uid", open("5"))).as("seen as it was before the write")
        .isEqualTo(new ClaimLedger.Change.None());
    ledger.written("uid", "7");
    assertThat(ledger.observe("uid", open("6"))).as("the finalizer's version").isEqualTo(new ClaimLedger.Change.None());
    assertThat(taken().memory()).isEqualTo(8);
    ledger.observe("uid", allocated("7", "8", false));
    assertThat(ledger.isAssumed("uid")).isFalse();
    assertThat(taken().memory()).isEqualTo(8);
  }

  @Test
  void aFailedWriteIsForgotten() {
    ledger.assume(CLAIM, "node-0", EIGHT);
    ledger.dropped("uid");
    assertThat(taken()).isEqualTo(Account.EMPTY);
  }

  @Test
  void whatCouldNotBeWrittenMayBeTakenBackOnceMore() {
    assertThat(ledger.releasing("uid")).isTrue();
    assertThat(ledger.releasing("uid")).as("it is under way").isFalse();
    ledger.assume(CLAIM, "node-0", EIGHT);
    ledger.dropped("uid");
    assertThat(ledger.releasing("uid")).as("what was under way may have ended meanwhile").isTrue();
  }

  @Test
  void aFailedWriteThatTheServerShowsAllTheSameStays() {
    ledger.assume(CLAIM, "node-0", EIGHT);
    ledger.observe("uid", allocated("7", "8", false));
    ledger.dropped("uid");
    assertThat(taken().memory()).isEqualTo(8);
  }

  @Test
  void anAllocationThatNobodyUsedAndThatIsGoneIsAVeto() {
    ledger.observe("uid", allocated("7", "8", false));
    assertThat(ledger.observe("uid", open("8"))).isEqualTo(new ClaimLedger.Change.Freed(Optional.of("node-0")));
    assertThat(taken()).isEqualTo(Account.EMPTY);
  }

  @Test
  void aUsedAllocationThatIsGoneIsARelease() {
    ledger.observe("uid", allocated("7", "8", true));
    assertThat(ledger.observe("uid", open("8"))).isEqualTo(new ClaimLedger.Change.Freed(Optional.empty()));
  }

  @Test
  void anAllocationThatWasReservedForAPodAndIsGoneBeforeThePodWasBoundIsAVeto() {
    bound.clear();
    ledger.observe("uid", allocated("7", "8", true));
    assertThat(ledger.observe("uid", open("8"))).isEqualTo(new ClaimLedger.Change.Freed(Optional.of("node-0")));
    ledger.observe("uid", allocated("9", "8", true));
    bound.add("pod-uid");
    assertThat(ledger.observe("uid", open("10"))).as("by now it is bound")
        .isEqualTo(new ClaimLedger.Change.Freed(Optional.empty()));
  }

  @Test
  void whatThisInstanceTakesBackIsNoVeto() {
    ledger.observe("uid", allocated("7", "8", false));
    assertThat(ledger.releasing("uid")).isTrue();
    assertThat(ledger.releasing("uid")).as("once").isFalse();
    assertThat(ledger.observe("uid", open("8"))).isEqualTo(new ClaimLedger.Change.Freed(Optional.empty()));
  }

  @Test
  void whatIsAllocatedAnewWhileTheOldIsTakenBackCanBeTakenBackLater() {
    ledger.observe("uid", allocated("7", "8", false));
    assertThat(ledger.releasing("uid")).isTrue();
    ledger.assume(CLAIM, "node-0", EIGHT);
    assertThat(ledger.observe("uid", open("8"))).as("that the old one is gone says nothing of the new one")
        .isEqualTo(new ClaimLedger.Change.None());
    ledger.written("uid", "9");
    ledger.observe("uid", allocated("9", "8", false));
    assertThat(ledger.releasing("uid")).isTrue();
  }

  @Test
  void aVetoIsSeenEvenIfTheAllocationNeverWas() {
    ledger.assume(CLAIM, "node-0", EIGHT);
    ledger.written("uid", "7");
    assertThat(ledger.observe("uid", open("8"))).isEqualTo(new ClaimLedger.Change.Freed(Optional.of("node-0")));
  }

  @Test
  void aVetoOfWhatOnlyLooksIsSeenEvenIfTheAllocationNeverWas() {
    ledger.assume(CLAIM, "node-0", List.of());
    ledger.written("uid", "7");
    assertThat(ledger.observe("uid", open("8"))).isEqualTo(new ClaimLedger.Change.Freed(Optional.of("node-0")));
  }

  @Test
  void aVetoIsSeenEvenIfItCameBeforeTheWriteWasReported() {
    ledger.assume(CLAIM, "node-0", EIGHT);
    assertThat(ledger.observe("uid", open("5"))).isEqualTo(new ClaimLedger.Change.None());
    assertThat(ledger.observe("uid", open("8"))).as("before or after the write, who knows")
        .isEqualTo(new ClaimLedger.Change.None());
    assertThat(ledger.written("uid", "7")).isEqualTo(new ClaimLedger.Change.Freed(Optional.of("node-0")));
    assertThat(ledger.isAssumed("uid")).as("it can be allocated again").isFalse();
    assertThat(taken()).isEqualTo(Account.EMPTY);
  }

  @Test
  void whatAnotherInstanceIsAboutToAllocateIsTakenAndItsEndIsNoVeto() {
    assertThat(ledger.observe("uid", proposed("5"))).isEqualTo(new ClaimLedger.Change.None());
    assertThat(taken()).isEqualTo(new Account(1, 0, 8, 25));
    assertThat(ledger.observe("uid", open("6"))).isEqualTo(new ClaimLedger.Change.Freed(Optional.empty()));
    assertThat(taken()).isEqualTo(Account.EMPTY);
  }

  @Test
  void whatAUserProposesOnHisClaimAgainAndAgainCountsForTwoSeconds() {
    ledger.observe("uid", proposed("5"));
    assertThat(taken()).isEqualTo(new Account(1, 0, 8, 25));
    clock.advance(Duration.ofMillis(1500));
    assertThat(ledger.observe("uid", proposed("6", "node-0 gpu-0-shared=8/25 #2")))
        .isEqualTo(new ClaimLedger.Change.None());
    assertThat(taken()).isEqualTo(new Account(1, 0, 8, 25));
    clock.advance(Duration.ofMillis(500));
    assertThat(ledger.observe("uid", proposed("7", "node-0 gpu-0-shared=8/25 #3")))
        .isEqualTo(new ClaimLedger.Change.Freed(Optional.empty()));
    assertThat(taken()).isEqualTo(Account.EMPTY);
  }

  @Test
  void whatIsProposedBeyondWhatTheClaimAsksForTakesNothing() {
    ResourceClaim whole = proposed("5", "node-0 gpu-0 gpu-1 #1");
    assertThat(ledger.observe("uid", whole)).isEqualTo(new ClaimLedger.Change.None());
    assertThat(taken()).isEqualTo(Account.EMPTY);
    assertThat(ledger.isSpent(whole)).isTrue();
    ledger.assume(CLAIM, "node-0", EIGHT);
    assertThat(ledger.isSpent(whole)).as("what this instance proposes counts whatever it is").isFalse();
  }

  @Test
  void whatIsLeftOfAProposalAfterItsAllocationIsGoneTakesNothing() {
    ledger.observe("uid", proposed("5"));
    ledger.observe("uid", withProposal(allocated("6", "8", true)));
    assertThat(ledger.observe("uid", proposed("7"))).isEqualTo(new ClaimLedger.Change.Freed(Optional.empty()));
    assertThat(ledger.isSpent(proposed("7"))).isTrue();
    assertThat(ledger.isSpent(open("7"))).isFalse();
    ledger.observe("uid", proposed("8"));
    assertThat(taken()).isEqualTo(Account.EMPTY);
  }

  @Test
  void whatIsProposedAnewAtTheSameTimeIsNotPast() {
    ledger.observe("uid", withProposal(allocated("6", "8", true)));
    ResourceClaim anew = proposed("8", "node-0 gpu-0-shared=8/25 #2");
    assertThat(ledger.observe("uid", anew)).as("what came between was not seen")
        .isEqualTo(new ClaimLedger.Change.Freed(Optional.empty()));
    assertThat(ledger.isSpent(anew)).as("another instance may be about to write it").isFalse();
  }

  @Test
  void aDeletedClaimGivesBackWhatItHad() {
    ledger.observe("uid", allocated("7", "8", true));
    assertThat(ledger.observe("uid", null)).isEqualTo(new ClaimLedger.Change.Freed(Optional.empty()));
    assertThat(ledger.observe("uid", null)).isEqualTo(new ClaimLedger.Change.None());
  }

  @Test
  void whatADeletedClaimHasIsTakenForAsLongAsAPodOfItRuns() {
    running.add("pod-uid");
    ledger.observe("uid", allocated("7", "8", true));
    ledger.observe("uid", null);
    assertThat(taken()).isEqualTo(new Account(1, 0, 8, 25));
    assertThat(ledger.held().podChanged("another")).isFalse();
    assertThat(ledger.held().podChanged("pod-uid")).as("it runs on").isFalse();
    running.clear();
    assertThat(ledger.held().podChanged("pod-uid")).isTrue();
    assertThat(taken()).isEqualTo(Account.EMPTY);
  }

  @Test
  void aShareThatDoesNotSayWhatItTakesCountsAsTheWholeCard() {
    ResourceClaim silent = allocated("7", "8", true);
    silent.getStatus().getAllocation().getDevices().getResults().getFirst().setConsumedCapacity(null);
    ledger.observe("uid", silent);
    assertThat(taken().wholes()).isEqualTo(1);
  }

  @Test
  void otherDriversAndStrangePoolsTakeNothing() {
    ResourceClaim other = allocated("7", "8", true);
    other.getStatus().getAllocation().getDevices().getResults().getFirst().setDriver("nic.example.com");
    assertThat(AllocatedClaim.bookings(other)).isEmpty();
    ResourceClaim strange = allocated("7", "8", true);
    strange.getStatus().getAllocation().getDevices().getResults().getFirst().setPool("elsewhere");
    assertThat(AllocatedClaim.bookings(strange)).isEmpty();
  }

  private Account taken() {
    return ledger.accounts().of(CARD);
  }

  private static ResourceClaim open(String version) {
    return new ResourceClaimBuilder()
        .withNewMetadata()
        .withName("c")
        .withNamespace("default")
        .withUid("uid")
        .withResourceVersion(version)
        .endMetadata()
        .build();
  }

  private static ResourceClaim proposed(String version) {
    return withProposal(open(version));
  }

  private static ResourceClaim proposed(String version, String text) {
    ResourceClaim claim = open(version);
    claim.getMetadata().setAnnotations(Map.of("gpu.partita.dev/proposed-allocation", text));
    return claim;
  }

  private static ResourceClaim withProposal(ResourceClaim claim) {
    return new ResourceClaimBuilder(claim)
        .editMetadata()
        .addToAnnotations("gpu.partita.dev/proposed-allocation", "node-0 gpu-0-shared=8/25 #1")
        .endMetadata()
        .build();
  }

  private static ResourceClaim allocated(String version, String memory, boolean reserved) {
    ResourceClaimBuilder claim =
        new ResourceClaimBuilder(open(version))
            .withNewStatus()
            .withNewAllocation()
            .withNewDevices()
            .addNewResult()
            .withRequest("gpu")
            .withDriver("gpu.partita.dev")
            .withPool("node-0/gpu")
            .withDevice("gpu-0-shared")
            .withShareID("id")
            .withConsumedCapacity(Map.of("memory", new Quantity(memory), "cores", new Quantity("25")))
            .endResult()
            .endDevices()
            .endAllocation()
            .endStatus();
    if (reserved) {
      claim.editStatus().addNewReservedFor(null, "pod", "pods", "pod-uid").endStatus();
    }
    return claim.build();
  }
}
