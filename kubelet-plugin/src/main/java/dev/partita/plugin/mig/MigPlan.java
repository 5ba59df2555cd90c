package dev.partita.plugin.mig;

import dev.partita.api.MigSlot;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.nvml.MigControl.MigState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * What to change on a card so that it is as a claim needs it. It ends the instance at the claim's own place and no
 * other: one that no claim has is somebody else's.
 *
 * @param changes in order; none if all is as it should be
 */
public record MigPlan(List<Change> changes) {
  public MigPlan {
    changes = List.copyOf(changes);
  }

  /** One change. Each may be the last one before a crash: then the next plan begins with what is there. */
  public sealed interface Change {
    record SwitchOn() implements Change {}

    record SwitchOff() implements Change {}

    record Make(MigInstance instance) implements Change {}

    record End(GpuInstance instance) implements Change {}
  }

  /** So that the instance is there; what is half made at its place is made anew. */
  public static MigPlan toHave(MigInstance wanted, MigState state) {
    List<Change> changes = new ArrayList<>();
    if (!state.on()) {
      changes.add(new Change.SwitchOn());
    }
    if (find(wanted, state.instances()).isEmpty()) {
      at(wanted.slot(), state).forEach(half -> changes.add(new Change.End(half)));
      changes.add(new Change.Make(wanted));
    }
    return new MigPlan(changes);
  }

  /** Of the instances that are there, those beside which the wanted one cannot be; one at its own place is none. */
  public static List<GpuInstance> inTheWay(MigInstance wanted, MigState state) {
    return state.instances().stream()
        .filter(there -> !isAt(wanted.slot(), there) && wanted.placement().overlaps(there.placement())).toList();
  }

  /** So that the instance is gone. */
  public static MigPlan toEnd(MigSlot slot, MigState state) {
    return new MigPlan(at(slot, state).stream().<Change>map(Change.End::new).toList());
  }

  /** So that a card that has no instances can be used as a whole, or shared: no card can while its MIG mode is on. */
  public static MigPlan toSwitchOff(MigState state) {
    return new MigPlan(state.on() ? List.of(new Change.SwitchOff()) : List.of());
  }

  /** The instance, if it is there and complete: with one compute instance, which has all of it. */
  public static Optional<GpuInstance> find(MigInstance wanted, Collection<GpuInstance> instances) {
    return instances.stream()
        .filter(instance -> isAt(wanted.slot(), instance) && instance.isUndivided())
        .findFirst();
  }

  /** The instances at that place, complete or not. */
  static List<GpuInstance> at(MigSlot slot, MigState state) {
    return state.instances().stream().filter(there -> isAt(slot, there)).toList();
  }

  private static boolean isAt(MigSlot slot, GpuInstance instance) {
    return MigSlot.labelOf(instance.profile()).equals(slot.profile()) && instance.start() == slot.start();
  }
}
