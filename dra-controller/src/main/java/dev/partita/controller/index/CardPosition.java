package dev.partita.controller.index;

import dev.partita.api.device.AttributeValue;
import dev.partita.api.device.DeviceAttribute.Scope;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.match.CardRefusal;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
  private final int index;
  private final Optional<CardRefusal.NotOffered> notOffered;
  private final List<Device> example;
  private final boolean hasInstances;

  /** @param example the devices of one card at the position, whichever */
  CardPosition(Key key, List<Device> example) {
    this.cardClass = key.cardClass();
    this.index = key.index();
    this.notOffered = key.notOffered();
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

  /** The index on their nodes of its cards. */
  public int index() {
    return index;
  }

  /** Why its cards are not offered; empty if they are. */
  public Optional<CardRefusal.NotOffered> notOffered() {
    return notOffered;
  }

  /** Whether its cards are offered as MIG instances, too. */
  public boolean hasInstances() {
    return hasInstances;
  }

  /**
   * What the cards at a position have in common.
   *
   * @param index of one card on its node
   * @param values of the attributes of that card that belong to its position, for each way in which it is offered
   * @param notOffered why it is offered in no way; empty if it is
   */
  record Key(
      CardClass cardClass,
      int index,
      List<Map<DeviceAttribute, AttributeValue>> values,
      Optional<CardRefusal.NotOffered> notOffered) {
    Key {
      values = List.copyOf(values);
    }

    static Key of(CardClass cardClass, Card card, List<Device> devices) {
      return new Key(cardClass, card.key().index(), devices.stream().map(Key::values).toList(),
          devices.isEmpty() ? Optional.of(CardRefusal.NotOffered.of(card)) : Optional.empty());
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
