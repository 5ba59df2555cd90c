package dev.partita.controller.index;

import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.DeviceAttribute.Scope;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.inventory.Device;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Cards of one class that stand at the same place of their hosts: they agree in NUMA node, index and minor number as
 * well, so that a selector that reads these is judged once for all of them. The third card of every host of one make
 * has one position, for example. Compared by identity: there is one for each key.
 */
public final class CardPosition implements CardGroup {
  /** Attributes that cards of one position have in common, besides those of their class. */
  private static final List<DeviceAttribute> OF_POSITION = DeviceAttribute.of(Scope.POSITION);

  /** Attributes that still tell cards of one position apart, by name without domain. */
  static final Set<String> DIFFERING = DeviceAttribute.identifiersOf(Scope.CARD);

  private final CardClass cardClass;
  private final List<Device> example;
  private final boolean hasInstances;

  /** @param example the devices of one card at the position, whichever */
  CardPosition(CardClass cardClass, List<Device> example) {
    this.cardClass = cardClass;
    this.example = List.copyOf(example);
    this.hasInstances = example.stream().anyMatch(device -> device.mode().isOfInstances());
  }

  CardClass cardClass() {
    return cardClass;
  }

  @Override
  public List<Device> example() {
    return example;
  }

  /** The index on their nodes of its cards, which are offered in some way. */
  public int index() {
    return example.getFirst().card().key().index();
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
  record Key(CardClass cardClass, List<Map<DeviceAttribute, AttributeValue>> values) {
    Key {
      values = List.copyOf(values);
    }

    static Key of(CardClass cardClass, List<Device> devices) {
      return new Key(cardClass, devices.stream().map(Key::values).toList());
    }

    private static Map<DeviceAttribute, AttributeValue> values(Device device) {
      Map<DeviceAttribute, AttributeValue> values = new EnumMap<>(DeviceAttribute.class);
      for (DeviceAttribute attribute : OF_POSITION) {
        device.attribute(attribute).ifPresent(value -> values.put(attribute, value));
      }
      return values;
    }
  }
}
