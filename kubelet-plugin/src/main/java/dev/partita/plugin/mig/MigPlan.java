package dev.partita.plugin.mig;

import dev.partita.plugin.claim.MigInstance;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.nvml.MigControl.MigState;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * What to change on a card so that it is as a claim needs it. An instance that no prepared claim has is a leftover, of
 * a plugin that was killed or of somebody else: instances have no name, only a place.
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

  /**
   * So that the instance is there.
   *
   * @param others instances that prepared claims have of the card, this claim's others among them
   */
  public static MigPlan toHave(MigInstance wanted, Collection<MigInstance> others, MigState state) {
    List<Change> changes = new ArrayList<>();
    if (!state.on()) {
      changes.add(new Change.SwitchOn());
    }
    boolean there = false;
    for (GpuInstance instance : state.instances()) {
      if (find(wanted, List.of(instance)).isPresent()) {
        there = true;
      } else if (others.stream().noneMatch(other -> isAt(other, instance))
          && (wanted.placement().overlaps(instance.placement()) || instance.profile().equals(wanted.profile()))) {
        changes.add(new Change.End(instance)); // of some profiles there can only be so many, wherever they lie
      }
    }
    if (!there) {
      changes.add(new Change.Make(wanted));
    }
    return new MigPlan(changes);
  }

  /** So that the instance is gone. */
  public static MigPlan toEnd(MigInstance instance, MigState state) {
    return new MigPlan(
        state.instances().stream().filter(there -> isAt(instance, there)).<Change>map(Change.End::new).toList());
  }

  /** So that the card can be used as a whole, or shared: no card can while its MIG mode is on. */
  public static MigPlan toHaveNone(MigState state) {
    List<Change> changes = new ArrayList<>();
    state.instances().forEach(instance -> changes.add(new Change.End(instance)));
    if (state.on()) {
      changes.add(new Change.SwitchOff());
    }
    return new MigPlan(changes);
  }

  /** The instance, if it is there and complete: with one compute instance, which has all of it. */
  public static Optional<GpuInstance> find(MigInstance wanted, Collection<GpuInstance> instances) {
    return instances.stream()
        .filter(instance -> isAt(wanted, instance))
        .filter(instance -> instance.computeInstances().size() == 1 && instance.computeInstances().getFirst().whole())
        .findFirst();
  }

  private static boolean isAt(MigInstance wanted, GpuInstance instance) {
    return instance.profile().equals(wanted.profile()) && instance.start() == wanted.start();
  }
}
