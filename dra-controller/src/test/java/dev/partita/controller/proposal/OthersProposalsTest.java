package dev.partita.controller.proposal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.Driver;
import dev.partita.controller.HeldClock;
import dev.partita.controller.request.CapacityRequest;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.request.ClaimRequest;
import dev.partita.controller.request.DeviceRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class OthersProposalsTest {
  private static final Duration MOMENT = Duration.ofMillis(1);

  private final HeldClock clock = new HeldClock(Instant.EPOCH);
  private final OthersProposals others =
      new OthersProposals(claim -> Optional.of(request(2, OptionalLong.of(8L << 30))), clock);

  @Test
  void theProposalsOfANamespaceCountFromItsFirstOneOnWhicheverClaimTheyAreOn() {
    assertThat(others.counted(claim("a", "1", "node gpu-0-shared=1/0 #1"))).isPresent();
    clock.advance(OthersProposals.AGE.minus(MOMENT));
    assertThat(others.counted(claim("a", "2", "node gpu-0-shared=1/0 #2"))).isPresent();
    clock.advance(MOMENT);
    assertThat(others.counted(claim("a", "3", "node gpu-0-shared=1/0 #3"))).isEmpty();
    assertThat(others.counted(claim("b", "4", "node gpu-0-shared=1/0 #4"))).as("another namespace").isPresent();
    clock.advance(OthersProposals.PAUSE);
    assertThat(others.counted(claim("a", "1", "node gpu-0-shared=1/0 #5"))).isPresent();
  }

  @Test
  void whatAClaimCouldNotBeGivenCountsNeverAndIsKnownFor() {
    for (String text : List.of("node gpu-0 gpu-1 gpu-2 #1", "node gpu-0-shared=8589934593/0 #1",
        "node gpu-0-shared=1/1 #1", "nonsense", "x".repeat(200_000))) {
      ResourceClaim claim = claim("a", "1", text);
      assertThat(others.isRefused(claim)).as("not seen yet").isFalse();
      assertThat(others.counted(claim)).as(text).isEmpty();
      assertThat(others.isRefused(claim)).isTrue();
    }
    assertThat(others.isRefused(claim("a", "1", "node gpu-0 #2"))).as("another one is not judged yet").isFalse();
    others.forget("1");
    assertThat(others.isRefused(claim("a", "1", "x".repeat(200_000)))).isFalse();
  }

  @Test
  void aProposalOnAClaimThatAsksForNothingOfOursCountsNever() {
    assertThat(new OthersProposals(claim -> Optional.empty(), clock).counted(claim("a", "1", "node gpu-0 #1")))
        .isEmpty();
  }

  @Test
  void aProposalGrowsOldFromWhenTheClaimWasFirstSeenWithOne() {
    assertThat(others.stands("1")).isTrue();
    clock.advance(OthersProposals.AGE.minus(MOMENT));
    assertThat(others.stands("1")).isFalse();
    assertThat(others.isOld("1")).isFalse();
    clock.advance(MOMENT);
    assertThat(others.isOld("1")).isTrue();
    others.ended("1");
    assertThat(others.isOld("1")).isFalse();
  }

  @Test
  void whereOneWasAbandonedOthersAreWithdrawnOnSightForAWhile() {
    others.abandoned("a");
    assertThat(others.areAbandoned("a")).isTrue();
    assertThat(others.areAbandoned("b")).isFalse();
    clock.advance(OthersProposals.PAUSE);
    assertThat(others.areAbandoned("a")).isFalse();
  }

  private static ClaimRequest request(int devices, OptionalLong memory) {
    DeviceRequest request =
        DeviceRequest.of("gpu", List.of(), new DeviceRequest.Count.Exactly(devices),
            CapacityRequest.of(memory, OptionalLong.empty()));
    return new ClaimRequest(new ClaimRef("a", "c", "1"),
        List.of(new ClaimRequest.NamedRequest("gpu", List.of(request))),
        List.of());
  }

  private static ResourceClaim claim(String namespace, String uid, String proposal) {
    return new ResourceClaimBuilder()
        .withNewMetadata()
        .withNamespace(namespace)
        .withName("c")
        .withUid(uid)
        .addToAnnotations(Driver.PROPOSAL_ANNOTATION, proposal)
        .endMetadata()
        .build();
  }
}
