package dev.partita.controller.index;

import dev.partita.api.DeviceAttribute;
import dev.partita.api.DeviceMode;
import dev.partita.controller.inventory.AttributeValue;
import dev.partita.controller.inventory.Device;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Cards of one class that stand at the same place of their hosts: they agree in NUMA node, index and minor number as
 * well, so that a selector that reads these is judged once for all of them. The third card of every host of one make
 * has one position, for example. Compared by identity: there is one for each key.
 */
public final class CardPosition implements Alike {
  private static final Set<String> READ =
      Set.of(DeviceAttribute.INDEX, DeviceAttribute.MINOR, CardKind.withoutDomain(DeviceAttribute.NUMA_NODE));

  /** Attributes that still tell cards of one position apart, by name without domain. */
  static final Set<String> OF_ONE_SPOT = others();

  private final CardClass cardClass;
  private final List<Device> example;
  private final boolean hasInstances;

  /** @param example the devices of one card at the position, whichever */
  CardPosition(CardClass cardClass, List<Device> example) {
    this.cardClass = cardClass;
    this.example = List.copyOf(example);
    this.hasInstances = example.stream().anyMatch(device -> device.mode() == DeviceMode.MIG);
  }

  CardClass cardClass() {
    return cardClass;
  }

  @Override
  public List<Device> example() {
    return example;
  }

  /** Whether its cards are offered as MIG instances, too. */
  public boolean hasInstances() {
    return hasInstances;
  }

  /**
   * What the cards at a position have in common.
   *
   * @param values of the attributes of one card that belong to its position, for each way in which it is offered
   */
  record Key(CardClass cardClass, List<Map<String, AttributeValue>> values) {
    Key {
      values = List.copyOf(values);
    }

    static Key of(CardClass cardClass, List<Device> devices) {
      return new Key(cardClass, devices.stream().map(Key::values).toList());
    }

    private static Map<String, AttributeValue> values(Device device) {
      Map<String, AttributeValue> values = new HashMap<>();
      device.attributes().forEach(
          (name, value) -> {
            if (READ.contains(CardKind.withoutDomain(name))) {
              values.put(name, value);
            }
          });
      return values;
    }
  }

  private static Set<String> others() {
    Set<String> others = new HashSet<>(CardKind.OF_ONE_CARD);
    others.removeAll(READ);
    return Collections.unmodifiableSet(others);
  }
}
