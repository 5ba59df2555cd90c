package dev.partita.controller.slices;

import dev.partita.api.Driver;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaint;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceTaintBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A node's cards as they can be offered now. A card that kube-scheduler allocates, or did, stays as it is until what is
 * allocated of it is released, even if it is to be offered in another way. For kube-scheduler knows what is left of a
 * card by the counters that its devices consume: the counters of an allocated device must not change (KEP-4815), and if
 * its device were no longer offered, kube-scheduler would allocate the card again. Until then the card has a taint, so
 * that it becomes free. The same holds for a card that the controller gave to a single share and that kube-scheduler is
 * to allocate now, or to several in turn, and for one of which a share has more than it was allocated: kube-scheduler
 * knows of none of these, and would allocate the rest. And it holds for a card of which a device is allocated that is
 * not offered any more: kube-scheduler may have allocated it while the card was changed, or kubelet has deleted the
 * slices since.
 *
 * @param cards all, in order
 * @param held indices of those that wait
 */
record HeldCards(List<PublishedCard> cards, List<Integer> held) {
  /**
   * @param wanted how the cards are to be offered
   * @param published how they are offered now, by index
   * @param use what claims have of them
   * @param heldOnNode indices of cards of which the node holds something that no claim has: kube-scheduler, which goes
   *        by claims, would allocate it again
   * @param byKubeScheduler whether kube-scheduler is to allocate them
   */
  static HeldCards of(
      List<PublishedCard> wanted,
      Map<Integer, PublishedCard> published,
      PoolUse use,
      Set<Integer> heldOnNode,
      boolean byKubeScheduler) {
    List<PublishedCard> cards = new ArrayList<>();
    List<Integer> held = new ArrayList<>();
    for (PublishedCard card : wanted) {
      @Nullable PublishedCard now = published.get(card.index());
      if (now != null && (byKubeScheduler || now.counters().isPresent()) && staysAsItIs(now, card, use.devices())) {
        cards.add(waiting(now, card));
        held.add(card.index());
      } else if (byKubeScheduler
          && (use.isClosedByShares(card.index()) || use.grown().contains(card.index())
              || heldOnNode.contains(card.index()) || use.hasOtherThan(card))) {
        cards.add(waiting(card, card));
        held.add(card.index());
      } else {
        cards.add(card);
      }
    }
    return new HeldCards(cards, held);
  }

  private static boolean staysAsItIs(PublishedCard published, PublishedCard wanted, Set<String> allocated) {
    List<Device> inUse = published.devices().stream().filter(device -> allocated.contains(device.getName())).toList();
    return !inUse.isEmpty()
        && (!published.counters().equals(wanted.counters())
            || inUse.stream().anyMatch(device -> !consumesTheSame(device, wanted.device(device.getName()))));
  }

  private static boolean consumesTheSame(Device published, Optional<Device> wanted) {
    return wanted.filter(device -> device.getConsumesCounters().equals(published.getConsumesCounters())).isPresent();
  }

  /**
   * The card as it is offered now, each device with the taints that it is to have and one more; one that is not to be
   * offered any more with those of the card's first.
   */
  private static PublishedCard waiting(PublishedCard published, PublishedCard wanted) {
    DeviceTaint changing = new DeviceTaintBuilder().withKey(Driver.CHANGING_TAINT).withEffect("NoSchedule").build();
    List<Device> devices = published.devices().stream().map(device -> {
      List<DeviceTaint> its = wanted.device(device.getName()).orElse(wanted.devices().getFirst()).getTaints();
      return new DeviceBuilder(device).withTaints(Stream.concat(its.stream(), Stream.of(changing)).toList()).build();
    }).toList();
    return new PublishedCard(published.index(), devices, published.counters());
  }
}
