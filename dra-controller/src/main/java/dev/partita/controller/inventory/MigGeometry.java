package dev.partita.controller.inventory;

import dev.partita.api.MigSlot;
import dev.partita.api.gpu.MigProfile.Placement;
import dev.partita.api.gpu.MigProfile;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Says which MIG instances a card can be cut into, and which exclude each other: those whose placements have a memory
 * slice in common. Of some profiles there may only be so many.
 *
 * @param kinds the profiles, the smallest first
 * @param slices every memory slice that any placement has, as bits
 */
public record MigGeometry(List<Kind> kinds, int slices) {
  /** The geometry of a card that cannot be cut. */
  public static final MigGeometry NONE = new MigGeometry(List.of(), 0);

  public MigGeometry {
    kinds = List.copyOf(kinds);
  }

  /**
   * A profile.
   *
   * @param label as names of devices say it
   * @param profile as the node's plugin reports it
   * @param placements by start
   */
  public record Kind(String label, MigProfile profile, List<Placement> placements) {
    public Kind {
      placements = List.copyOf(placements);
    }

    /** Memory slices of an instance. */
    int size() {
      return placements.getFirst().size();
    }

    /** Whether there can be fewer instances at once than there are places. */
    public boolean isLimited() {
      return profile.count() < fitting(0);
    }

    /**
     * How many instances find a place beside the slices that are taken. All are of one size, so that the first free
     * place is never a wrong one.
     */
    int fitting(int taken) {
      int now = taken;
      int fitting = 0;
      for (Placement placement : placements) {
        if ((now & placement.mask()) == 0) {
          now |= placement.mask();
          fitting++;
        }
      }
      return fitting;
    }
  }

  /** What can be made of a card's profiles; what no device could be made of is left out. */
  public static MigGeometry of(List<MigProfile> profiles) {
    List<Kind> kinds = new ArrayList<>();
    Set<String> labels = new HashSet<>();
    int all = 0;
    for (MigProfile profile : profiles) {
      List<Placement> placements =
          profile.placements().stream()
              .filter(placement -> placement.mask() != 0)
              .filter(placement -> placement.size() == profile.placements().getFirst().size())
              .sorted(Comparator.comparingInt(Placement::start))
              .distinct()
              .toList();
      String label = profile.label();
      if (placements.isEmpty() || label.isEmpty() || profile.memoryBytes() <= 0 || profile.count() < 1
          || !labels.add(label)) {
        continue;
      }
      kinds.add(new Kind(label, profile, placements));
      for (Placement placement : placements) {
        all |= placement.mask();
      }
    }
    kinds.sort(Comparator.comparingInt(Kind::size).thenComparingLong(kind -> kind.profile().memoryBytes())
        .thenComparing(Kind::label));
    return kinds.isEmpty() ? NONE : new MigGeometry(kinds, all);
  }

  /** Bytes of memory that the instance has; 0 if the card has none at that place. */
  public long memoryBytes(MigSlot slot) {
    return kind(slot).map(kind -> kind.profile().memoryBytes()).orElse(0L);
  }

  /** The instance's profile, if the card has it at that place. */
  public Optional<Kind> kind(MigSlot slot) {
    for (Kind kind : kinds) {
      if (kind.label().equals(slot.profile())) {
        return kind.profile().mayStartAt(slot.start()) ? Optional.of(kind) : Optional.empty();
      }
    }
    return Optional.empty();
  }

  /** The memory slices of an instance, as bits; all there are of one that the card knows nothing of. */
  public int slices(MigSlot slot) {
    for (Kind kind : kinds) {
      if (kind.label().equals(slot.profile())) {
        for (Placement placement : kind.placements()) {
          if (placement.start() == slot.start()) {
            return placement.mask();
          }
        }
      }
    }
    return -1;
  }

  /** The memory slices of several instances, as bits. */
  public int slices(Collection<MigSlot> instances) {
    int taken = 0;
    for (MigSlot instance : instances) {
      taken |= slices(instance);
    }
    return taken;
  }

  /** Whether all these instances can be there at once. */
  public boolean holds(Collection<MigSlot> instances) {
    int taken = 0;
    for (MigSlot instance : instances) {
      int own = slices(instance);
      if ((taken & own) != 0) {
        return false;
      }
      taken |= own;
    }
    return kinds.stream().allMatch(kind -> same(kind, instances) <= kind.profile().count());
  }

  /**
   * How much can still be made of the card beside these instances: of every profile, as many instances as find a place
   * by themselves, in memory slices, added up. What leaves more of it leaves more for others, of whatever profile they
   * will be.
   */
  public int room(Collection<MigSlot> instances) {
    int taken = slices(instances);
    int room = 0;
    for (Kind kind : kinds) {
      room += Math.max(0, Math.min(kind.fitting(taken), kind.profile().count() - same(kind, instances))) * kind.size();
    }
    return room;
  }

  /**
   * How many of these instances can be there at once.
   *
   * @param possible each of which could be there by itself
   * @param others that are there
   * @param enough as many as it matters to know of
   */
  public int atOnce(Collection<MigSlot> possible, Collection<MigSlot> others, int enough) {
    List<MigSlot> byEnd = new ArrayList<>(possible);
    byEnd.sort(Comparator.comparingInt((MigSlot slot) -> Integer.SIZE - Integer.numberOfLeadingZeros(slices(slot))));
    return atOnce(byEnd, new ArrayList<>(others), slices(others), enough, 0);
  }

  /** @param beyond how many there must be more than, or 0 will do for an answer */
  private int atOnce(List<MigSlot> byEnd, List<MigSlot> there, int taken, int enough, int beyond) {
    int smallest = kinds.isEmpty() ? 1 : kinds.getFirst().size();
    int most = 0;
    for (int i = 0; i < byEnd.size() && most < enough; i++) {
      List<MigSlot> rest = byEnd.subList(i, byEnd.size());
      if (Math.min(rest.size(), Integer.bitCount(slices(rest) & ~taken) / smallest) <= Math.max(beyond, most)) {
        break;
      }
      MigSlot next = byEnd.get(i);
      int own = slices(next);
      if ((own & taken) == 0 && kind(next).filter(kind -> same(kind, there) < kind.profile().count()).isPresent()) {
        there.add(next);
        most = Math.max(most,
            1 + atOnce(byEnd.subList(i + 1, byEnd.size()), there, taken | own, enough - 1, Math.max(beyond, most) - 1));
        there.removeLast();
      }
    }
    return most;
  }

  /** How many of the instances are of that profile. */
  public static int same(Kind kind, Collection<MigSlot> instances) {
    int same = 0;
    for (MigSlot instance : instances) {
      same += instance.profile().equals(kind.label()) ? 1 : 0;
    }
    return same;
  }

  /** An instance's part of the card's compute, in percent, rounded up so that no quota is had for nothing. */
  public int percent(Kind kind) {
    int most = kinds.stream().mapToInt(k -> k.profile().slices()).max().orElse(1);
    return Math.clamp(Math.ceilDiv(100 * kind.profile().slices(), Math.max(1, most)), 0, 100);
  }
}
