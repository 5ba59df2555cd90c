package dev.partita.controller.place;

import dev.partita.api.gpu.NvlinkPeer;
import dev.partita.controller.inventory.Device;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Says which cards of an NVLink domain are linked best, where links lead from card to card and not all to switches: on
 * some boards some pairs have two links, some one and some none.
 */
final class DirectLinks {
  private final List<Device> group;
  private final int[][] links;
  private final int[] toHad;

  private DirectLinks(List<Device> group, List<Device> had) {
    this.group = group;
    this.links = new int[group.size()][group.size()];
    this.toHad = new int[group.size()];
    for (int i = 0; i < group.size(); i++) {
      for (int j = 0; j < i; j++) {
        links[i][j] = links(group.get(i), group.get(j));
        links[j][i] = links[i][j];
      }
      for (Device other : had) {
        toHad[i] += links(group.get(i), other);
      }
    }
  }

  /** Whether any of the devices' cards has such links. */
  static boolean matter(List<Device> devices) {
    return devices.stream().anyMatch(device -> !device.card().gpu().nvlinkPeers().isEmpty());
  }

  /**
   * So many of the group that have most links among them and to what is had already, and of equals the fewest to the
   * rest, so that what is left for others is joined as well as can be. From each card on, the best next one is added;
   * all combinations would be too many.
   *
   * @param group one device a card, in order
   */
  static Set<Device> best(List<Device> group, int wanted, List<Device> had) {
    DirectLinks all = new DirectLinks(group, had);
    int size = Math.min(wanted, group.size());
    BitSet best = new BitSet();
    int mostWithin = -1;
    int fewestOut = 0;
    for (int first = 0; first < group.size(); first++) {
      BitSet set = all.from(first, size);
      int within = all.within(set);
      int out = all.out(set);
      if (within > mostWithin || (within == mostWithin && out < fewestOut)) {
        best = set;
        mostWithin = within;
        fewestOut = out;
      }
    }
    Set<Device> chosen = new HashSet<>();
    best.stream().forEach(position -> chosen.add(group.get(position)));
    return chosen;
  }

  private BitSet from(int first, int size) {
    BitSet set = new BitSet();
    set.set(first);
    while (set.cardinality() < size) {
      int next = -1;
      for (int i = 0; i < group.size(); i++) {
        if (!set.get(i) && (next < 0 || gain(i, set) > gain(next, set))) {
          next = i;
        }
      }
      set.set(next);
    }
    return set;
  }

  private int gain(int position, BitSet set) {
    int inside = toHad[position];
    int outside = 0;
    for (int i = 0; i < links.length; i++) {
      if (set.get(i)) {
        inside += links[position][i];
      } else {
        outside += links[position][i];
      }
    }
    return 1000 * inside - outside;
  }

  private int within(BitSet set) {
    int sum = 0;
    for (int i : positions(set)) {
      sum += 2 * toHad[i];
      for (int j : positions(set)) {
        sum += links[i][j];
      }
    }
    return sum;
  }

  private int out(BitSet set) {
    int sum = 0;
    for (int i : positions(set)) {
      for (int j = 0; j < links.length; j++) {
        sum += set.get(j) ? 0 : links[i][j];
      }
    }
    return sum;
  }

  private static int[] positions(BitSet set) {
    return set.stream().toArray();
  }

  private static int links(Device one, Device other) {
    return Math.max(linksTo(one, other), linksTo(other, one));
  }

  private static int linksTo(Device from, Device to) {
    int index = to.card().key().index();
    return from.card().gpu().nvlinkPeers().stream().filter(peer -> peer.index() == index).mapToInt(NvlinkPeer::links)
        .sum();
  }
}
