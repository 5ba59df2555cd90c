package dev.partita.plugin.mig;

import dev.partita.api.MigSlot;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.grant.MigInstance;
import dev.partita.plugin.nvml.MigControl.GpuInstance;
import dev.partita.plugin.nvml.MigControl.MigState;
import dev.partita.plugin.nvml.MigControl;
import dev.partita.plugin.nvml.NvmlException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes and ends MIG instances, so that each card has those that claims need. It ends no instance but the claim's own.
 * Every call may be repeated.
 *
 * @param nvml where cards are seen and changed
 */
public record MigCards(MigControl nvml) {
  private static final Logger LOG = LoggerFactory.getLogger(MigCards.class);

  /**
   * Refuses to begin with an instance where one stands that Partita did not make: it would be taken for the claim's,
   * and ended with it.
   *
   * @param made the places of the card where Partita has made an instance, or is about to
   */
  public void requireNotTaken(CardIdentity card, MigInstance wanted, Set<MigSlot> made) throws IOException {
    if (made.contains(wanted.slot())) {
      return;
    }
    try {
      refuse(card, MigPlan.at(wanted.slot(), nvml.mig(card.uuid())));
    } catch (NvmlException e) {
      throw cannot(at(card), wanted.slot(), "made", e);
    }
  }

  /**
   * Makes the instance if it is not there.
   *
   * @throws IOException if the card cannot be brought there: what is in the way, and what to do
   */
  public void provide(CardIdentity card, MigInstance wanted) throws IOException {
    try {
      MigState state = nvml.mig(card.uuid());
      refuse(card, MigPlan.inTheWay(wanted, state));
      carryOut(card.uuid(), MigPlan.toHave(wanted, state));
    } catch (NvmlException e) {
      throw cannot(at(card), wanted.slot(), "made", e);
    }
  }

  /**
   * Ends an instance that was made for a claim, if it is there; a card that is gone has none, and none outlasts the
   * driver.
   *
   * @param card its UUID
   */
  public void end(String card, MigSlot slot) throws IOException {
    try {
      carryOut(card, MigPlan.toEnd(slot, nvml.mig(card)));
    } catch (NvmlException e) {
      if (e.code() == NvmlException.NOT_FOUND || e.code() == NvmlException.GPU_IS_LOST
          || e.code() == NvmlException.DRIVER_NOT_LOADED) {
        LOG.warn("MIG instance {} of card {}: cannot end it, for the card or its driver is gone: {}", slot, card,
            e.getMessage());
        return;
      }
      throw cannot("card " + card, slot, "ended", e);
    }
  }

  /** Switches MIG off, so that the card can be used as a whole or shared. */
  public void clear(CardIdentity card) throws IOException {
    try {
      MigState state = nvml.mig(card.uuid());
      refuse(card, state.instances());
      carryOut(card.uuid(), MigPlan.toSwitchOff(state));
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

  private static void refuse(CardIdentity card, List<GpuInstance> inTheWay) throws IOException {
    if (!inTheWay.isEmpty()) {
      GpuInstance first = inTheWay.getFirst();
      throw new IOException("MIG instance " + first.profile() + " at memory slice " + first.start() + " of " + at(card)
          + " is in the way. No claim that is known here has it, so Partita leaves it: end it on the node"
          + " (nvidia-smi mig -i " + card.index() + " -gi " + first.id() + " -dci, then -dgi) to have Partita cut the"
          + " card, or claim it as it is, as a device of its card");
    }
  }

  private static IOException cannot(String card, MigSlot slot, String what, NvmlException why) {
    return new IOException("MIG instance " + slot + " of " + card + " cannot be " + what + ": " + why.getMessage(),
        why);
  }

  private void carryOut(String card, MigPlan plan) throws NvmlException {
    for (MigPlan.Change change : plan.changes()) {
      switch (change) {
        case MigPlan.Change.SwitchOn _ -> nvml.switchMig(card, true);
        case MigPlan.Change.SwitchOff _ -> nvml.switchMig(card, false);
        case MigPlan.Change.Make make ->
            nvml.makeInstance(card, make.instance().profile(), make.instance().start());
        case MigPlan.Change.End end -> nvml.endInstance(card, end.instance().id());
      }
      LOG.info("card {}: {}", card, words(change));
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
