package dev.partita.controller.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.controller.booking.Booking;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.utils.Serialization;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AllocatedClaimTest {
  @ParameterizedTest
  @CsvSource({
    "placement: {exclusive: false}, a, SHARED",
    "placement: {exclusive: true}, a, WHOLE",
    "sharing: {strategy: TimeSlicing}, a, SHARED",
    "sharing: {strategy: MPS}, a, SHARED",
    "placement: {exclusive: true}, b, SHARED",
    "placement: {exclusiv: true}, a, WHOLE", // it may have been meant to be alone
    "placement: {exclusiv: true}, b, SHARED"})
  void aShareHasTheCardToItselfIfItsConfigSaysSoOrCannotBeRead(String says, String covers, DeviceMode mode) {
    ResourceClaim claim = claim("8Gi", """
        - source: FromClaim
          requests: [%s]
          opaque:
            driver: gpu.partita.dev
            parameters: {apiVersion: gpu.partita.dev/v1alpha1, kind: GpuShareConfig, %s}
        """.formatted(covers, says));
    assertThat(AllocatedClaim.bookings(claim)).singleElement()
        .satisfies(booking -> assertThat(booking.card().toString()).contains("node-0"))
        .extracting(booking -> booking.device().mode()).isEqualTo(mode);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e300000000", "much"})
  void anAmountThatCannotBeReckonedWithCountsAsTheMost(String memory) {
    ResourceClaim claim = claim(memory, "[]");
    assertThat(AllocatedClaim.bookings(claim)).singleElement().extracting(Booking::memory)
        .isEqualTo(Booking.MOST_MEMORY);
  }

  /** One that has a share of a card. */
  private static ResourceClaim claim(String memory, String config) {
    return Serialization.unmarshal("""
        apiVersion: resource.k8s.io/v1
        kind: ResourceClaim
        metadata: {name: c, namespace: default, uid: u}
        status:
          allocation:
            devices:
              results:
              - {request: a/x, driver: gpu.partita.dev, pool: node-0/gpu, device: gpu-0-shared, shareID: s,
                 consumedCapacity: {memory: "%s"}}
              config:
        %s""".formatted(memory, config.indent(8)), ResourceClaim.class);
  }
}
