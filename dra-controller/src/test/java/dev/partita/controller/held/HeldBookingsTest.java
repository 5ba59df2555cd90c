package dev.partita.controller.held;

import static org.assertj.core.api.Assertions.assertThat;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.gpu.MigProfile.Placement;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.api.node.HeldClaim.Reason;
import dev.partita.api.node.HeldClaim;
import dev.partita.api.node.HeldDevice.Kind;
import dev.partita.api.node.HeldDevice;
import dev.partita.controller.GpuNodes;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Inventory;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class HeldBookingsTest {
  private static final String UUID = "GPU-node-0-0";
  private static final CardKey CARD = new CardKey("node-0", 0);
  private static final Booking WHOLE = new Booking(CARD, DeviceMode.WHOLE, 0, 0);

  @Test
  void devicesAreWhatTheyTakeOfTheirCard() {
    assertThat(bookings(100, HeldDevice.whole(UUID))).containsExactly(WHOLE);
    assertThat(bookings(100, HeldDevice.share(UUID, 8, 25))).containsExactly(share(8, 25));
    assertThat(bookings(100, HeldDevice.mps(UUID, 8, 25))).containsExactly(Booking.byMps(CARD, 8, 25));
    assertThat(bookings(100, HeldDevice.mps(UUID, -5, 0))).containsExactly(Booking.byMps(CARD, 1, 0));
    assertThat(bookings(100, HeldDevice.instance(UUID, "1g.18gb", new Placement(3, 1))))
        .containsExactly(new Booking(CARD, new DeviceName.Mig(0, new MigSlot("1g-18gb", 3)), 0, 0));
    assertThat(bookings(100, HeldDevice.instanceShare(UUID, "1g.18gb", new Placement(3, 1), 8)))
        .containsExactly(new Booking(CARD, new DeviceName.MigShared(0, new MigSlot("1g-18gb", 3)), 8, 0));
    assertThat(bookings(100, HeldDevice.instanceShare(UUID, "???", new Placement(3, 1), 8))).containsExactly(WHOLE);
    assertThat(bookings(100, HeldDevice.whole("GPU-elsewhere"))).isEmpty();
  }

  @Test
  void aShareOfANodeThatOffersMoreThanItHasTakesAsMuchMore() {
    assertThat(bookings(150, HeldDevice.share(UUID, 8L << 30, 0))).containsExactly(share(12L << 30, 0));
    assertThat(bookings(150, HeldDevice.mps(UUID, 8L << 30, 0))).containsExactly(Booking.byMps(CARD, 12L << 30, 0));
  }

  @Test
  void aShareOfAnInstanceIsNeverAllocatedBeyondIt() {
    assertThat(bookings(150, HeldDevice.instanceShare(UUID, "1g.18gb", new Placement(3, 1), 8)))
        .extracting(Booking::memory).containsExactly(8L);
  }

  @Test
  void whatMakesNoSenseTakesAllOrNothingThatAnAccountCouldNotBear() {
    Placement first = new Placement(0, 1);
    assertThat(bookings(100, new HeldDevice(UUID, Kind.Mig, null, null, "???", first))).containsExactly(WHOLE);
    Placement nowhere = new Placement(-1, 1);
    assertThat(bookings(100, new HeldDevice(UUID, Kind.Mig, null, null, "1g.18gb", nowhere))).containsExactly(WHOLE);
    assertThat(bookings(100, HeldDevice.share(UUID, -5, -5))).containsExactly(share(0, 0));
    assertThat(bookings(100, HeldDevice.share(UUID, Long.MAX_VALUE, 1000)))
        .containsExactly(share(Booking.MOST_MEMORY, 100));
  }

  private static Booking share(long bytes, int cores) {
    return new Booking(CARD, DeviceMode.SHARED, bytes, cores);
  }

  private static List<Booking> bookings(int memoryPercent, HeldDevice device) {
    GpuNodeSpec spec = new GpuNodeSpec(GpuNodeSpec.Allocator.Controller, List.of(), null, memoryPercent);
    GpuNode node = GpuNodes.ready("node-0", spec, GpuNodes.cards("node-0", 1, "NVIDIA H200", 140 * GpuNodes.GIB));
    GpuNodes.holding(node, new HeldClaim("uid", null, null, Reason.ClaimGone, List.of(device), ""));
    return HeldBookings.of(Objects.requireNonNull(Inventory.EMPTY.refreshed(List.of(node)).host("node-0"))).stream()
        .flatMap(held -> held.bookings().stream())
        .toList();
  }
}
