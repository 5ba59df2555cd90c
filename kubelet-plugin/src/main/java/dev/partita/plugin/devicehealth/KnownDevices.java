package dev.partita.plugin.devicehealth;

import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.MigSlot;
import dev.partita.api.gpu.Gpu;
import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.gpu.MigProfile;
import dev.partita.plugin.diagnosis.CardState;
import dev.partita.plugin.inventory.Inventory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Turns inventories into the health of devices. All devices of a card have the card's: as a whole, to take shares of,
 * every MIG instance that there could be, and every static one to take shares of. Cards that were seen stay while there
 * is no driver, since pods still have them.
 */
final class KnownDevices {
  private List<Gpu> cards = List.of();

  /** The health of every device, by card. */
  List<DeviceState> update(Inventory inventory) {
    return switch (inventory) {
      case Inventory.Cards there -> {
        cards = there.gpus();
        yield cards.stream().flatMap(card -> devices(card, card.health()).stream()).toList();
      }
      case Inventory.NoCards none -> cards.stream().flatMap(card -> devices(card, none.health()).stream()).toList();
    };
  }

  private static List<DeviceState> devices(Gpu card, GpuHealth health) {
    List<DeviceName> names = new ArrayList<>();
    if (card.isOpaque()) {
      names.add(new DeviceName.Opaque(card.index()));
    } else {
      names.add(DeviceName.of(card.index(), DeviceMode.WHOLE));
      names.add(DeviceName.of(card.index(), DeviceMode.SHARED));
    }
    for (MigProfile profile : card.migProfiles()) {
      for (MigProfile.Placement place : profile.placements()) {
        if (!profile.label().isEmpty() && place.mask() != 0) { // others are not offered
          names.add(new DeviceName.Mig(card.index(), new MigSlot(profile.label(), place.start())));
        }
      }
    }
    card.staticMigInstances().stream().flatMap(instance -> instance.slot().stream())
        .forEach(slot -> names.add(new DeviceName.MigShared(card.index(), slot)));
    return names.stream().map(name -> state(name, ofInstance(card, name, health).orElse(health))).toList();
  }

  /** What is wrong with an instance of a card that is well. */
  private static Optional<GpuHealth> ofInstance(Gpu card, DeviceName name, GpuHealth ofCard) {
    return ofCard.state() == GpuHealth.State.Healthy
        ? name.instance().flatMap(card::staticMigInstance).flatMap(instance -> Optional.ofNullable(instance.health()))
        : Optional.empty();
  }

  private static DeviceState state(DeviceName name, GpuHealth health) {
    return new DeviceState(name.toString(), CardState.of(health),
        Optional.ofNullable(health.message()).orElse(""));
  }
}
