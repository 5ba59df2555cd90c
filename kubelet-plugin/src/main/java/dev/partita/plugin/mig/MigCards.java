package dev.partita.plugin.mig;

import dev.partita.plugin.claim.CardIdentity;
import dev.partita.plugin.claim.MigInstance;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.nvml.NvmlException;
import java.io.IOException;
import java.util.Collection;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes and ends MIG instances, so that each card has those that claims need. Every call may be repeated.
 *
 * @param nvml where cards are seen and changed
 */
public record MigCards(MigControl nvml) {
  private static final Logger LOG = LoggerFactory.getLogger(MigCards.class);

  /**
   * Makes the instance if it is not there.
   *
   * @param others instances that prepared claims have of the card
   * @param unknown claims that may have instances of which nothing is known: then none is ended
   * @throws IOException if the card cannot be brought there: what is in the way, and what to do
   */
  public void provide(CardIdentity card, MigInstance wanted, Collection<MigInstance> others, Collection<String> unknown)
      throws IOException {
    try {
      MigPlan plan = MigPlan.toHave(wanted, others, nvml.mig(card.uuid()));
      refuseIfItEndsWhatIsUnknown(card, plan, unknown);
      carryOut(card, plan);
    } catch (NvmlException e) {
      throw new IOException("MIG instance " + wanted.profile() + " at memory slice " + wanted.start() + " of "
          + at(card) + " cannot be made: " + e.getMessage(), e);
    }
  }

  /** Ends the instance if it is there; a card that is gone has none, and none outlasts the driver. */
  public void end(CardIdentity card, MigInstance instance) throws IOException {
    try {
      carryOut(card, MigPlan.toEnd(instance, nvml.mig(card.uuid())));
    } catch (NvmlException e) {
      if (e.code() == NvmlException.NOT_FOUND || e.code() == NvmlException.GPU_IS_LOST
          || e.code() == NvmlException.DRIVER_NOT_LOADED) {
        LOG.warn("MIG instance {} at memory slice {} of {}: cannot end it, for the card or its driver is gone: {}",
            instance.profile(), instance.start(), at(card), e.getMessage());
        return;
      }
      throw new IOException("MIG instance " + instance.profile() + " at memory slice " + instance.start() + " of "
          + at(card) + " cannot be ended: " + e.getMessage(), e);
    }
  }

  /**
   * Ends all instances and switches MIG off, so that the card can be used as a whole or shared.
   *
   * @param unknown claims that may have instances of which nothing is known: then none is ended
   */
  public void clear(CardIdentity card, Collection<String> unknown) throws IOException {
    try {
      MigPlan plan = MigPlan.toHaveNone(nvml.mig(card.uuid()));
      refuseIfItEndsWhatIsUnknown(card, plan, unknown);
      carryOut(card, plan);
    } catch (NvmlException e) {
      if (e.code() == NvmlException.NOT_SUPPORTED) {
        return; // it cannot do MIG
      }
      throw new IOException("MIG mode of " + at(card)
          + " cannot be switched off, without which the card cannot be used as a whole or shared: " + e.getMessage(),
          e);
    }
  }

  /** The instance as it is now. */
  public Optional<GpuInstance> find(CardIdentity card, MigInstance instance) throws IOException {
    try {
      return MigPlan.find(instance, nvml.mig(card.uuid()).instances());
    } catch (NvmlException e) {
      throw new IOException("the MIG instances of " + at(card) + " cannot be read: " + e.getMessage(), e);
    }
  }

  /**
   * Refuses a plan that may end an instance of a claim whose record is lost: an instance has no name, so such a claim
   * cannot say which one is its own, and it is idle as long as no process uses it.
   */
  private static void refuseIfItEndsWhatIsUnknown(CardIdentity card, MigPlan plan, Collection<String> unknown)
      throws IOException {
    if (!unknown.isEmpty() && plan.changes().stream().anyMatch(change -> change instanceof MigPlan.Change.End)) {
      throw new IOException(
          "a MIG instance of " + at(card) + " is in the way, which may be that of a claim whose record is missing ("
              + String.join(", ", unknown)
              + "); the plugin makes the record anew, or removes what is left, with one of its next searches for leftovers");
    }
  }

  private void carryOut(CardIdentity card, MigPlan plan) throws NvmlException {
    for (MigPlan.Change change : plan.changes()) {
      switch (change) {
        case MigPlan.Change.SwitchOn _ -> nvml.switchMig(card.uuid(), true);
        case MigPlan.Change.SwitchOff _ -> nvml.switchMig(card.uuid(), false);
        case MigPlan.Change.Make make ->
            nvml.makeInstance(card.uuid(), make.instance().profile(), make.instance().start());
        case MigPlan.Change.End end -> nvml.endInstance(card.uuid(), end.instance().id());
      }
      LOG.info("{}: {}", at(card), words(change));
    }
  }

  private static String words(MigPlan.Change change) {
    return switch (change) {
      case MigPlan.Change.SwitchOn _ -> "MIG mode switched on";
      case MigPlan.Change.SwitchOff _ -> "MIG mode switched off";
      case MigPlan.Change.Make make ->
          "MIG instance " + make.instance().profile() + " made at memory slice " + make.instance().start();
      case MigPlan.Change.End end ->
          "MIG instance " + end.instance().profile() + " at memory slice " + end.instance().start() + " ended";
    };
  }

  private static String at(CardIdentity card) {
    return "card " + card.uuid() + " (gpu-" + card.index() + ")";
  }
}
